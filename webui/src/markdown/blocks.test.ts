import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BlockStream, parseBlocks } from "./blocks";

const fragments = [
  "a paragraph",
  "two  \nlines",
  "**bold** and *soft*",
  "`code`",
  "[link](https://example.org/a_b)",
  "[ref][label]",
  "![alt](https://example.org/i.png)",
  "# Title",
  "## Other\n",
  "text\n===",
  "text\n---",
  "***",
  "- item",
  "- item\n\n  more",
  "* star",
  "+ plus",
  "1. one",
  "2) two",
  "- [x] done",
  "  - nested",
  "> quote",
  "> - list in quote",
  ">> deep",
  "```py\nprint(1)\n```",
  "```\nopen",
  "~~~\ntilde\n~~~",
  "    indented",
  "\tindented",
  "| a | b |\n|---|:-:|\n| 1 | 2 |",
  "| a | b |",
  "|--",
  "<div>html</div>",
  "<br>",
  "<!-- comment",
  "[label]: https://example.org 'title'",
  "[other]:\n<https://example.org/x>",
  "\\*escaped\\*",
  "https://example.org/path",
  "mail@example.org",
  "~~gone~~",
  "&amp; &lt;",
  "中文。",
  "**",
  "*",
  "_",
  "`",
  "```",
  "[",
  "](",
  "|",
  "-",
  "=",
  "1.",
  "#",
  ">",
  " ",
  "  ",
  "\n",
  "\n\n",
  "\r\n",
  "\r",
  "\\",
];

const documents = fc
  .array(fc.tuple(fc.constantFrom(...fragments), fc.constantFrom("", "\n", "\n\n", " ", "\r\n")), { maxLength: 14 })
  .map((parts) => parts.map(([text, gap]) => text + gap).join(""));

const chunked = documents.chain((text) =>
  fc.tuple(
    fc.constant(text),
    fc
      .array(fc.integer({ min: 0, max: text.length }), { maxLength: 12 })
      .map((cuts) => [...new Set(cuts)].sort((a, b) => a - b)),
  ),
);

function pieces(text: string, cuts: readonly number[]): string[] {
  return [...cuts, text.length].map((cut, index) => text.slice(index === 0 ? 0 : cuts[index - 1], cut));
}

/** What the reader sees: the tokens, without the bookkeeping of how they were reached. */
function seen(blocks: ReturnType<typeof parseBlocks>): unknown {
  return JSON.parse(JSON.stringify(blocks.map((block) => block.token)));
}

describe("BlockStream", () => {
  test("streaming at any chunking ends in the blocks of one pass", () => {
    fc.assert(
      fc.property(chunked, ([text, cuts]) => {
        const stream = new BlockStream();
        for (const piece of pieces(text, cuts)) stream.push(piece);
        stream.finish();
        expect(seen(stream.blocks)).toEqual(seen(parseBlocks(text)));
      }),
      { numRuns: 2000 },
    );
  });

  test("at every moment of a stream the blocks equal those of one pass over what has arrived", () => {
    fc.assert(
      fc.property(documents, (text) => {
        const stream = new BlockStream();
        for (let at = 0; at < text.length; at++) {
          stream.push(text[at]!);
          if (text[at] === "\r") continue; // held back: it may be half of a line break
          expect(seen(stream.blocks)).toEqual(seen(parseBlocks(text.slice(0, at + 1), true)));
        }
      }),
      { numRuns: 250 },
    );
  });

  test("a settled block keeps its identity, so that a view need not look at it again", () => {
    const stream = new BlockStream();
    stream.push("one\n\ntwo\n\nthree\n\nmore\n\n");
    const first = stream.blocks[0];
    stream.push("four\n\nfive");
    expect(first?.settled).toBe(true);
    expect(stream.blocks[0]).toBe(first);
  });

  test("a definition that arrives last links a reference far above it", () => {
    const stream = new BlockStream();
    stream.push("See [the page][p].\n\none\n\ntwo\n\nthree\n\n[p]: https://example.org\n");
    stream.finish();
    expect(seen(stream.blocks)).toEqual(seen(parseBlocks(stream.text)));
    expect(JSON.stringify(stream.blocks[0])).toContain("https://example.org");
  });

  test("text that nests without end neither hangs nor overflows", () => {
    for (const nasty of [
      ">".repeat(20_000),
      "- ".repeat(5_000),
      "*".repeat(20_000),
      "[".repeat(20_000),
      "> - ".repeat(2_000),
      "`".repeat(9_999) + "a",
    ]) {
      const stream = new BlockStream();
      stream.push(nasty);
      stream.finish();
      expect(stream.blocks.map((block) => block.token.raw).join("")).toBe(nasty);
    }
  });

  test("pushing after the end is a mistake of the caller", () => {
    const stream = new BlockStream();
    stream.finish();
    expect(() => stream.push("more")).toThrow("finished");
  });
});
