import { expect, test } from "vitest";
import { diffCounts, diffLines, diffPath, plainOutput, sourcesOf } from "./display";
import { partial } from "./kinds";

const diff = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@ def f\n a\n-b\n+c\n+d\n\\ No newline at end of file\n";

test("a diff's lines carry the numbers of both sides", () => {
  expect(diffLines(diff)).toEqual([
    { kind: "hunk", text: "def f", before: null, after: null },
    { kind: "same", text: "a", before: 1, after: 1 },
    { kind: "del", text: "b", before: 2, after: null },
    { kind: "add", text: "c", before: null, after: 2 },
    { kind: "add", text: "d", before: null, after: 3 },
  ]);
  expect(diffCounts(diff)).toEqual({ added: 2, removed: 1 });
  expect(diffPath(diff)).toBe("x.py");
});

test("a search result whose address is no web address is left out", () => {
  const results = [
    { url: "https://example.org", title: "A" },
    { url: "javascript:alert(1)", title: "B" },
    "text",
    null,
    { title: "C" },
  ];
  expect(sourcesOf({ results: results as never }).map((source) => source.title)).toEqual(["A"]);
  expect(sourcesOf(null)).toEqual([]);
});

test("terminal colours and overwritten lines are taken out", () => {
  expect(plainOutput("\u001b[31mred\u001b[0m 10%\r 20%\ndone\r\n")).toBe(" 20%\ndone\r\n");
});

test("an argument can be read while it is being written", () => {
  expect(partial('{"command": "ls -l \\"a', "command")).toBe('ls -l "a');
  expect(partial('{"comm', "command")).toBe("");
  expect(partial('{"command": "a\\', "command")).toBe("a");
});
