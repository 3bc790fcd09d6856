import { describe, expect, test } from "vitest";
import type { Event as ChatEvent, HostedBlock, Message } from "../../protocol.gen";
import { fromSnapshot, reduce, type ChatState } from "./chat";
import { message, sessionState, turnStarted } from "./fixtures";
import { RowBuilder, type Outgoing, type Row } from "./rows";

const use = (id: string, name = "read"): Message["blocks"][number] => ({
  type: "tool_use",
  call_id: id,
  name,
  bridged: false,
  arguments: { path: id },
});
const result = (id: string, status: "ok" | "error" = "ok"): Message["blocks"][number] => ({
  type: "tool_result",
  call_id: id,
  status,
  content: [{ type: "text", text: id }],
  display: null,
  duration_ms: null,
});
const text = (value: string): Message["blocks"][number] => ({ type: "text", text: value });

function rowsOf(messages: Message[], changes: Partial<ChatState> = {}, outgoing: Outgoing[] = []): readonly Row[] {
  return new RowBuilder().build({ ...fromSnapshot(sessionState({ messages })), ...changes }, outgoing);
}
const kinds = (rows: readonly Row[]): string[] => rows.map((row) => row.kind);

const turn = [
  message("m_1", null, "user", "go"),
  message("m_2", "m_1", "assistant", {
    turn_id: "t_1",
    blocks: [
      { type: "reasoning", text: "hm", signature: null, redacted: null, duration_ms: null },
      text("Looking."),
      use("c_1", "bash"),
    ],
  }),
  message("m_3", "m_2", "tool", { turn_id: "t_1", blocks: [result("c_1", "error")] }),
  message("m_4", "m_3", "assistant", { turn_id: "t_1", blocks: [text("Done.")] }),
];

describe("rows", () => {
  test("a search by the provider is a row with its pages, while it is written and afterwards, and never a script", () => {
    const page = { url: "https://example.org/", title: "A page" };
    const blank = { hosted_id: "s_1", query: "", sources: [], error: null, items: [], type: "hosted" as const };
    const search: HostedBlock = { ...blank, kind: "search", query: "weather" };
    const script = { url: "javascript:alert(1)", title: "x" };
    const broken = { url: "https://[", title: "x" };
    const found: HostedBlock = { ...blank, kind: "found", sources: [page, script, broken] };
    const pause: HostedBlock = { ...blank, kind: "pause" };
    const blocks = [search, found, text("Sunny."), pause];
    const settled = rowsOf([
      message("m_1", null, "user", "go"),
      message("m_2", "m_1", "assistant", { turn_id: "t_1", blocks }),
    ]);
    expect(kinds(settled)).toEqual(["user", "hosted", "hosted", "text", "footer"]);
    expect(settled[1]).toMatchObject({ what: "search", query: "weather" });
    expect(settled[2]).toMatchObject({ what: "found", sources: [page] });
    const started = { ...turnStarted("t_1"), type: "turn_started" } as ChatEvent;
    const live = [search, found].map(
      (hosted, block) => ({ type: "hosted_added", message_id: "m_2", block, hosted }) as ChatEvent,
    );
    const step = { type: "step_started", turn_id: "t_1", message_id: "m_2", model: "e/m" } as ChatEvent;
    const state = [started, step, ...live].reduce(
      (before, event) => reduce(before, event, "2026-01-01T00:00:00.000Z"),
      fromSnapshot(sessionState({ messages: [message("m_1", null, "user", "go")] })),
    );
    expect(kinds(new RowBuilder().build(state, []))).toEqual(["user", "hosted", "hosted"]);
  });

  test("one row per part, and one footer per answer however many steps it took", () => {
    const rows = rowsOf(turn);
    expect(kinds(rows)).toEqual(["user", "reasoning", "text", "call", "text", "footer"]);
    expect(rows[3]).toMatchObject({ kind: "call", status: "error", result: { call_id: "c_1" } });
    expect(rows[5]).toMatchObject({ text: "Looking.\n\nDone.", id: "m_2" });
  });

  test("three quiet look-ups in a row become one line", () => {
    const blocks = ["c_1", "c_2", "c_3"];
    const rows = rowsOf([
      message("m_1", null, "assistant", { blocks: blocks.map((id) => use(id)) }),
      message("m_2", "m_1", "tool", { blocks: blocks.map((id) => result(id)) }),
    ]);
    expect(kinds(rows)).toEqual(["group", "footer"]);
  });

  test("a call without a result in a chat at rest was interrupted", () => {
    expect(rowsOf(turn.slice(0, 2)).find((row) => row.kind === "call")).toMatchObject({ status: "interrupted" });
  });

  test("what was cut off is marked and can be continued; what was answered after it cannot", () => {
    const stopped = message("m_2", "m_1", "assistant", { status: "stopped", blocks: [text("Half")] });
    const last = rowsOf([turn[0]!, stopped]);
    expect(last.find((row) => row.kind === "ending")).toMatchObject({ reason: "stopped", canContinue: true });
    const past = rowsOf([
      turn[0]!,
      stopped,
      message("m_3", "m_2", "user", "on"),
      message("m_4", "m_3", "assistant", "ok"),
    ]);
    expect(past.find((row) => row.kind === "ending")).toMatchObject({ canContinue: false });
  });

  test("an outcome is said once", () => {
    const stopped = message("m_2", "m_1", "assistant", { status: "stopped", blocks: [text("Half")] });
    const rows = rowsOf([turn[0]!, stopped], {
      outcome: { type: "turn_finished", turn_id: "t_1", reason: "stopped", error: null },
    });
    expect(kinds(rows).filter((kind) => kind === "ending")).toHaveLength(1);
  });

  test("a row of the live answer and of the message that replaces it have the same key", () => {
    let state = fromSnapshot(sessionState({ messages: [turn[0]!] }));
    const builder = new RowBuilder();
    state = reduce(state, turnStarted("t_1"), "");
    expect(kinds(builder.build(state, []))).toEqual(["user", "working"]);
    state = {
      ...state,
      live: { messageId: "m_2", turnId: "t_1", model: "", blocks: [undefined, { type: "text", text: "Hel" }] },
    };
    const live = builder.build(state, []);
    state = reduce(
      state,
      {
        type: "message_added",
        message: message("m_2", "m_1", "assistant", { turn_id: "t_1", blocks: [text("Hello")] }),
      },
      "",
    );
    const done = builder.build(state, []);
    expect(live[1]).toMatchObject({ kind: "text", open: true });
    expect(done[1]?.key).toBe(live[1]?.key);
    expect(kinds(done)).toEqual(["user", "text"]);
  });

  test("rows that did not change are the same objects", () => {
    const builder = new RowBuilder();
    const state = fromSnapshot(sessionState({ messages: turn }));
    const before = builder.build(state, []);
    const after = builder.build(
      {
        ...state,
        calls: { other: { status: "running", output: "", result: null, startedAt: null } },
      },
      [],
    );
    expect(after).not.toBe(before);
    after.forEach((row, index) => expect(row).toBe(before[index]));
  });

  test("the time of a call is its own run's, and only a running call counts on", () => {
    let state = fromSnapshot(sessionState({ messages: turn.slice(0, 2), turn_id: "t_1" }));
    const at = (seconds: number): string => `2026-01-01T00:00:0${seconds}.000Z`;
    const asked = {
      approval_id: "a_1",
      turn_id: "t_1",
      call_id: "c_1",
      tool: "bash",
      arguments: {},
      reason: "",
      digest: "d",
      left_out: 0,
      directory: "/ws",
    };
    const begun = { turn_id: "t_1", message_id: "m_2", call_id: "c_1", name: "bash", arguments: {} };
    const card = (): Row | undefined => new RowBuilder().build(state, []).find((row) => row.kind === "call");
    state = reduce(state, { type: "tool_call_started", ...begun }, at(0));
    expect(card()).toMatchObject({ status: "running", startedAt: at(0) });
    state = reduce(state, { type: "approval_requested", kind: "command", preview: "ls", pattern: "", ...asked }, at(1));
    expect(card()).toMatchObject({ status: "approval", startedAt: null, durationMs: null });
    state = reduce(
      state,
      { type: "approval_resolved", approval_id: "a_1", decision: "once", note: null, held: null },
      at(9),
    );
    expect(card()).toMatchObject({ status: "running", startedAt: at(9) });
  });

  test("a call that has its answer while others of its turn wait does not read as running (P9)", () => {
    const calls = ["c_1", "c_2", "c_3"].map((call_id) => ({ type: "tool_use" as const, call_id, name: "bash" }));
    const blocks = calls.map((call) => ({ ...call, arguments: {}, bridged: false }));
    const answer = message("m_2", "m_1", "assistant", { turn_id: "t_1", blocks });
    let state = fromSnapshot(sessionState({ messages: [turn[0]!, answer], turn_id: "t_1" }));
    const then = (event: ChatEvent): void => void (state = reduce(state, event, "2026-01-01T00:00:01.000Z"));
    const begun = (call_id: string): void =>
      then({ type: "tool_call_started", turn_id: "t_1", message_id: "m_2", call_id, name: "bash", arguments: {} });
    const asked = (call_id: string): void =>
      then({
        ...{ type: "approval_requested", approval_id: `a_${call_id}`, turn_id: "t_1", call_id, tool: "bash" },
        ...{ arguments: {}, kind: "command", preview: "ls", reason: "", pattern: "ls", left_out: 0, digest: "d" },
        directory: "/ws",
      });
    const cards = (): unknown[] =>
      new RowBuilder().build(state, []).flatMap((row) => (row.kind === "call" ? [[row.status, row.startedAt]] : []));
    const question = { text: "Which?", choices: [], multiple: false, free_text: true };
    blocks.forEach((call) => begun(call.call_id));
    asked("c_1");
    asked("c_2");
    then({ type: "question_asked", question_id: "u_1", turn_id: "t_1", call_id: "c_3", question });
    then({ type: "approval_resolved", approval_id: "a_c_1", decision: "once", note: null, held: "c_1" });
    then({ type: "question_answered", question_id: "u_1", answer: { chosen: [], text: "this" }, held: "c_3" });
    expect(cards()).toEqual([
      ["held", null],
      ["approval", null],
      ["held", null],
    ]);
    begun("c_1");
    expect(cards()[0]).toEqual(["running", "2026-01-01T00:00:01.000Z"]);
  });

  test("a failure is one card, also where an event told of it before the turn ended", () => {
    const error = { code: "no_endpoint", message: "gone", action: "none" as const, hint: null, retry_after_s: null };
    let state = fromSnapshot(sessionState({ messages: [turn[0]!], turn_id: "t_1" }));
    state = reduce(state, { type: "error", error }, "");
    state = reduce(state, { type: "turn_finished", turn_id: "t_1", reason: "error", error }, "");
    expect(kinds(new RowBuilder().build(state, []))).toEqual(["user", "error"]);
  });

  test("a sent message shows at once and only until the server shows it", () => {
    const sent: Outgoing = {
      key: "o_1",
      text: "go",
      messageId: null,
      failed: null,
      whileRunning: false,
      queued: false,
    };
    expect(kinds(rowsOf([], {}, [sent]))).toEqual(["outgoing"]);
    expect(kinds(rowsOf([turn[0]!], { turnId: "t_1" }, [{ ...sent, messageId: "m_1" }]))).toEqual(["user", "working"]);
  });

  test("siblings are shown where there are some", () => {
    const state = { ...fromSnapshot(sessionState({ messages: [turn[0]!] })), children: { "": ["m_0", "m_1"] } };
    expect(new RowBuilder().build(state, [])[0]).toMatchObject({ siblings: { ids: ["m_0", "m_1"], index: 1 } });
  });
});
