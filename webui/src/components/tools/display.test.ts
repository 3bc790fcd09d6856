import { expect, test } from "vitest";
import {
  changePath,
  diffCounts,
  diffLines,
  diffPath,
  picturesOf,
  plainOutput,
  sourcesOf,
  textOfResult,
} from "./display";
import { en } from "../../i18n/en";
import { fill } from "../../i18n/translate";
import { zh } from "../../i18n/zh";
import type { CallRow } from "../../lib/state/rows";
import { partial, wordsOf } from "./kinds";

function said(dictionary: typeof en | typeof zh, status: CallRow["status"], durationMs: number | null): string {
  const { verb, frame } = wordsOf({ name: "bash", status, durationMs } as CallRow);
  return frame === null ? dictionary[verb] : fill(dictionary[frame], { verb: dictionary[verb] });
}

test.each([
  ["writing", null, "About to run", "准备运行"],
  ["approval", null, "Wants to run", "想要运行"],
  ["held", null, "Will run", "将要运行"],
  ["running", null, "Running", "正在运行"],
  ["ok", 12, "Ran", "已运行"],
  ["error", 12, "Tried to run", "尝试运行"],
  ["denied", 0, "Did not run", "没有运行"],
  ["stopped", 12, "Started to run", "开始运行"],
  ["stopped", 0, "Did not run", "没有运行"],
  ["interrupted", null, "Started to run", "开始运行"],
  ["interrupted", 0, "Did not run", "没有运行"],
] as const)("a card says what is true of a call that is %s and ran for %s ms", (status, ms, english, chinese) => {
  expect(said(en, status, ms)).toBe(english);
  expect(said(zh, status, ms)).toBe(chinese);
});

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

test("a diff of several files names each, and lines that look like a head are lines", () => {
  const several =
    "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n x\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n";
  expect(diffLines(several).map((line) => [line.kind, line.text])).toEqual([
    ["hunk", "q.sql"],
    ["hunk", ""],
    ["del", "-- a"],
    ["add", "++ b"],
    ["same", "x"],
    ["hunk", "gone.txt"],
    ["hunk", ""],
    ["del", "y"],
  ]);
  expect(diffCounts(several)).toEqual({ added: 1, removed: 2 });
  expect(diffPath(several)).toBe("q.sql (+1)");
  expect(diffPath("--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n")).toBe("gone.txt");
  expect([diffPath(""), diffLines("no diff")]).toEqual(["", []]);
});

test("a picture is shown from its own bytes and from nothing else", () => {
  const image = { type: "image", media_type: "image/png", data: "aGk=", width: 2, height: 1 } as const;
  const result = {
    type: "tool_result",
    call_id: "c_1",
    status: "ok",
    content: [
      { type: "text", text: "a.png" },
      image,
      { ...image, data: '"onerror=x' },
      { ...image, media_type: "image/svg+xml" },
    ],
    display: null,
  } as Parameters<typeof picturesOf>[0];
  expect(picturesOf(result)).toEqual([{ src: "data:image/png;base64,aGk=", width: 2, height: 1 }]);
  expect(textOfResult(result)).toBe("a.png");
  expect(picturesOf(null)).toEqual([]);
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

test("a change is named by the files of its diff, or by those it names where lines tell of fewer", () => {
  const diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n";
  expect(changePath(diff, { path: "./x.py" })).toBe("x.py");
  expect(changePath("", { path: "empty.txt" })).toBe("empty.txt");
  const patch = "*** Begin Patch\n*** Update File: old.py\n*** Move to: new.py\n*** Add File: b.txt\n*** End Patch";
  expect(changePath("", { patch })).toBe("old.py → new.py (+1)");
  expect(changePath(diff, { patch: `${patch}\n*** Delete File: c.txt` })).toBe("old.py → new.py (+2)");
  expect(changePath("", { patch: 7 })).toBe("");
  expect(changePath("--- a/old.py\n+++ b/new.py\n", {})).toBe("old.py → new.py");
  expect(changePath("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+a\n", {})).toBe("new.py");
});
