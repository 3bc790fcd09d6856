import { describe, expect, test } from "vitest";
import type { Compaction, Event as ChatEvent, TurnFinished } from "../../protocol.gen";
import { fromSnapshot, reduce, type ChatState } from "./chat";
import { message, sessionState } from "./fixtures";
import { RowBuilder, type Row } from "./rows";

const compaction: Compaction = {
  kept_from: null,
  user_message: "m_1",
  trigger: "asked",
  tokens_before: 5000,
  tokens_after: 900,
  cost: 0.01,
  saving: 0.002,
};
const summary = message("m_3", "m_2", "notice", {
  compaction,
  blocks: [{ type: "text", text: "<summary>\nMuch was said.\n</summary>" }],
});
const said = [message("m_1", null, "user", "go"), message("m_2", "m_1", "assistant", "Done.")];
const usage = sessionState().usage;
const started: ChatEvent = {
  type: "compaction_started",
  turn_id: "t_9",
  request_id: "t_10",
  trigger: "asked",
  tokens_before: 5000,
};
const ended = (outcome: "done" | "failed" | "stopped"): ChatEvent => ({
  type: "compacted",
  turn_id: "t_9",
  request_id: "t_10",
  outcome,
  message_id: outcome === "done" ? "m_3" : null,
  model: "e/m",
  usage,
  cost: 0.01,
});

function run(state: ChatState, ...events: ChatEvent[]): ChatState {
  return events.reduce((now, event, index) => reduce(now, event, `2026-01-01T00:00:0${index}.000Z`), state);
}
const rowsOf = (state: ChatState): readonly Row[] => new RowBuilder().build(state, []);
const kinds = (state: ChatState): string[] => rowsOf(state).map((row) => row.kind);
const chat = run(fromSnapshot(sessionState({ messages: said })), { type: "turn_accepted", turn_id: "t_9" });

describe("a conversation being summarised", () => {
  test("says so until the summary stands in its place, and what it cost is counted", () => {
    const under = run(chat, started);
    expect(rowsOf(under).at(-1)).toMatchObject({ kind: "working", compacting: true });
    const done = run(under, { type: "message_added", message: summary }, ended("done"));
    expect(done.compactingSince).toBeNull();
    expect(done.cost).toBe(0.01);
    expect(rowsOf(done).find((row) => row.kind === "summary")).toMatchObject({ text: "Much was said.", compaction });
  });

  test("leaves nothing behind where it came to nothing", () => {
    for (const outcome of ["failed", "stopped"] as const) {
      const over = run(chat, started, ended(outcome));
      expect(over.messages).toEqual(chat.messages);
      expect(over.compactingSince).toBeNull();
    }
  });

  test("is over with its turn, also where no word of its end came", () => {
    const end: TurnFinished = { type: "turn_finished", turn_id: "t_9", reason: "interrupted", error: null };
    const over = run(chat, started, end);
    expect(kinds(over)).not.toContain("working");
    expect(rowsOf(over).find((row) => row.kind === "ending")).toMatchObject({ canContinue: false });
  });

  test("is seen by a tab that comes in the middle of it", () => {
    const partial = {
      turn_id: "t_9",
      step: 0,
      message_id: "",
      parent_id: "m_2",
      model: "",
      events: [started],
      at: ["2026-01-01T00:00:05.000Z"],
      started_at: "2026-01-01T00:00:00.000Z",
    };
    const late = fromSnapshot(sessionState({ messages: said, status: "running", turn_id: "t_9", partial }));
    expect(rowsOf(late).at(-1)).toMatchObject({ compacting: true, startedAt: "2026-01-01T00:00:05.000Z" });
  });
});
