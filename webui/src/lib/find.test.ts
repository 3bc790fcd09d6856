// @vitest-environment jsdom
import { expect, test } from "vitest";
import { findRows, rangesIn } from "./find";
import { fromSnapshot } from "./state/chat";
import { message, sessionState } from "./state/fixtures";
import { RowBuilder } from "./state/rows";

const messages = [
  message("m_1", null, "user", "Where is the Needle?"),
  message("m_2", "m_1", "assistant", {
    blocks: [{ type: "tool_use", call_id: "c_1", name: "grep", arguments: { pattern: "needle" }, bridged: false }],
  }),
  message("m_3", "m_2", "tool", {
    blocks: [
      {
        type: "tool_result",
        call_id: "c_1",
        status: "ok",
        content: [{ type: "text", text: "hay" }],
        display: null,
        duration_ms: 1,
      },
    ],
  }),
  message("m_4", "m_3", "assistant", "In the hay."),
];
const rows = new RowBuilder().build(fromSnapshot(sessionState({ messages })), []);
const kinds = (query: string): string[] => findRows(rows, query).map((index) => rows[index]!.kind);

test("messages, arguments and results of tools are searched, whatever the case", () => {
  expect(kinds("NEEDLE")).toEqual(["user", "call"]);
  expect(kinds("hay")).toEqual(["call", "text"]);
  expect(kinds("  ")).toEqual([]);
  expect(kinds("nothing")).toEqual([]);
});

test("every place in an element is marked", () => {
  const root = document.createElement("div");
  root.innerHTML = "<p>a needle, a <b>Needle</b></p>";
  expect(rangesIn(root, "needle").map(String)).toEqual(["needle", "Needle"]);
});
