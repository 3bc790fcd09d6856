import { describe, expect, test } from "vitest";
import type { Event as ChatEvent, StepStarted } from "../../protocol.gen";
import { fromSnapshot, isRunning, reduce, waitingCalls, withBranch, withOlder, type ChatState } from "./chat";
import { effective, intent, message, session, sessionState, turnStarted } from "./fixtures";

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();

function run(state: ChatState, ...events: ChatEvent[]): ChatState {
  return events.reduce((now, event, index) => reduce(now, event, at(index)), state);
}

const empty = fromSnapshot(sessionState());
const step = {
  type: "step_started",
  turn_id: "t_1",
  message_id: "m_2",
  parent_id: "m_1",
  model: "demo/demo",
  step: 1,
} as StepStarted;
const text = (piece: string, block = 0, id = "m_2"): ChatEvent => ({
  type: "text_delta",
  message_id: id,
  block,
  text: piece,
});
const answered = run(
  empty,
  { type: "message_added", message: message("m_1", null, "user", "hi") },
  turnStarted("t_1"),
  step,
);

describe("an answer being written", () => {
  test("deltas of a block add up, and the whole message takes their place", () => {
    const streaming = run(answered, text("Hel"), text("lo"));
    expect(streaming.live?.blocks).toEqual([{ type: "text", text: "Hello" }]);
    const done = run(streaming, { type: "message_added", message: message("m_2", "m_1", "assistant", "Hello") });
    expect(done.live).toBeNull();
    expect(done.messages.map((entry) => entry.id)).toEqual(["m_1", "m_2"]);
  });

  test("a delta of another answer is dropped", () => {
    expect(run(answered, text("late", 0, "m_0")).live?.blocks).toEqual([]);
  });

  test("reasoning ends when the next block begins", () => {
    const thinking: ChatEvent = { type: "reasoning_delta", message_id: "m_2", block: 0, text: "hm" };
    const after = run(answered, thinking, thinking, text("So", 1));
    expect(after.live?.blocks[0]).toMatchObject({ text: "hmhm", startedAt: at(0), endedAt: at(2) });
  });

  test("a reloaded tab shows what was there and goes on from it", () => {
    const partial = {
      turn_id: "t_1",
      step: 1,
      message_id: "m_2",
      parent_id: "m_1",
      model: "demo/demo",
      events: [text("so far")],
      at: [at(1)],
      started_at: at(0),
    };
    const state = fromSnapshot(sessionState({ turn_id: "t_1", status: "running", partial }));
    expect(isRunning(state)).toBe(true);
    expect(run(state, text(" and on")).live?.blocks).toEqual([{ type: "text", text: "so far and on" }]);
  });
});

describe("a turn that cannot start", () => {
  const error = {
    code: "unknown_preset",
    message: "there is no preset 'x'",
    action: "none" as const,
    hint: null,
    retry_after_s: null,
  };

  test("is over, and its error is shown once", () => {
    const begun = fromSnapshot(sessionState({ turn_id: "t_1", status: "running" }));
    expect(isRunning(begun)).toBe(true);
    const ended = run(
      begun,
      { type: "error", error },
      { type: "turn_finished", turn_id: "t_1", reason: "error", error },
    );
    expect(isRunning(ended)).toBe(false);
    expect(ended.outcome?.error).toEqual(error);
    expect(ended.notes).toEqual([]);
  });

  test("an error that is not the outcome's stays", () => {
    const other = { ...error, message: "there is no tool 'y'" };
    const ended = run(
      answered,
      { type: "error", error: other },
      { type: "turn_finished", turn_id: "t_1", reason: "error", error },
    );
    expect(ended.notes.map((note) => note.message)).toEqual([other.message]);
  });
});

describe("tool calls", () => {
  const result = {
    type: "tool_result" as const,
    call_id: "c_1",
    status: "ok" as const,
    content: [{ type: "text" as const, text: "out" }],
    display: null,
    duration_ms: 12,
  };
  const started: ChatEvent = {
    type: "tool_call_started",
    turn_id: "t_1",
    message_id: "m_2",
    call_id: "c_1",
    name: "bash",
    arguments: { command: "ls" },
  };

  test("arguments, output and result follow one another", () => {
    const writing = run(answered, {
      type: "tool_call_delta",
      message_id: "m_2",
      block: 0,
      call_id: "c_1",
      name: "bash",
      text: '{"comm',
    });
    expect(writing.live?.blocks).toMatchObject([{ callId: "c_1", argumentsText: '{"comm', arguments: null }]);
    const running = run(
      writing,
      started,
      { type: "tool_output_delta", call_id: "c_1", text: "o" },
      { type: "tool_output_delta", call_id: "c_1", text: "ut" },
    );
    expect(running.live?.blocks).toMatchObject([{ arguments: { command: "ls" } }]);
    expect(running.calls["c_1"]).toMatchObject({ status: "running", output: "out" });
    const done = run(running, {
      type: "tool_call_finished",
      call_id: "c_1",
      status: "ok",
      result,
      duration_ms: 12,
      discovered: [],
    });
    expect(done.calls["c_1"]).toMatchObject({ status: "ok", result, output: "" });
  });

  test("an approval is there until it is answered, or moot with the end of the turn", () => {
    const asked: ChatEvent = {
      type: "approval_requested",
      approval_id: "a_1",
      turn_id: "t_1",
      call_id: "c_1",
      tool: "bash",
      arguments: {},
      kind: "command",
      preview: "ls",
      reason: "",
      pattern: "ls",
      left_out: 0,
      digest: "",
      directory: "/ws",
    };
    const state = run(answered, asked, asked);
    expect(state.approvals).toHaveLength(1);
    expect(
      run(state, { type: "approval_resolved", approval_id: "a_1", decision: "once", note: null, held: null }).approvals,
    ).toEqual([]);
    expect(run(state, { type: "turn_finished", turn_id: "t_1", reason: "stopped", error: null }).approvals).toEqual([]);
  });
});

test("a question is there until it is answered, or moot with the end of the turn (P9)", () => {
  const asked: ChatEvent = {
    type: "question_asked",
    question_id: "u_1",
    turn_id: "t_1",
    call_id: "c_1",
    question: { text: "Which?", choices: [], multiple: false, free_text: true },
  };
  const state = run(answered, asked, asked);
  expect(state.questions).toHaveLength(1);
  expect(waitingCalls(state)).toEqual(["c_1"]);
  const reply: ChatEvent = {
    type: "question_answered",
    question_id: "u_1",
    answer: { chosen: [], text: "this" },
    held: null,
  };
  expect(run(state, reply).questions).toEqual([]);
  expect(run(state, { type: "turn_finished", turn_id: "t_1", reason: "stopped", error: null }).questions).toEqual([]);
});

describe("branches (P8)", () => {
  const chat = run(
    empty,
    { type: "message_added", message: message("m_1", null, "user", "a") },
    { type: "message_added", message: message("m_2", "m_1", "assistant", "b") },
    { type: "message_added", message: message("m_3", "m_2", "user", "c") },
  );

  test("an edited message takes the place of everything from its sibling on", () => {
    const edited = run(chat, { type: "message_added", message: message("m_4", "m_2", "user", "d") });
    expect(edited.messages.map((entry) => entry.id)).toEqual(["m_1", "m_2", "m_4"]);
    expect(edited.children["m_2"]).toEqual(["m_3", "m_4"]);
  });

  test("selecting an ancestor cuts, an unknown leaf asks for the branch", () => {
    expect(run(chat, { type: "branch_selected", leaf_id: "m_1" }).messages).toHaveLength(1);
    expect(run(chat, { type: "branch_selected", leaf_id: null }).messages).toEqual([]);
    expect(run(chat, { type: "branch_selected", leaf_id: "m_9" }).stale).toBe(true);
    expect(run(chat, { type: "message_added", message: message("m_9", "m_8", "assistant", "x") }).stale).toBe(true);
    const page = {
      messages: [message("m_9", null, "user", "x")],
      siblings: { m_9: ["m_1", "m_9"] },
      more: false,
      steps: [],
    };
    const loaded = withBranch(chat, page);
    expect(loaded.children[""]).toEqual(["m_1", "m_9"]);
    expect(loaded.stale).toBe(false);
  });

  test("older messages go in front, each once", () => {
    const page = {
      messages: [message("m_0", null, "user", "z"), message("m_1", null, "user", "a")],
      siblings: {},
      more: true,
      steps: [],
    };
    const state = withOlder(chat, page);
    expect(state.messages.map((entry) => entry.id)).toEqual(["m_0", "m_1", "m_2", "m_3"]);
    expect(state.more).toBe(true);
  });
});

describe("the rest of a chat's state", () => {
  test("the intent is what the newest event says", () => {
    const event: ChatEvent = {
      type: "intent_changed",
      intent: { ...intent, web_search: true },
      revision: 3,
      effective: { web_search: { state: "on", reason: null } },
    };
    expect(run(empty, event)).toMatchObject({ revision: 3, effective: { web_search: { state: "on" } } });
    expect(empty.effective).toEqual(effective);
  });

  test("queue, session, cost and notes", () => {
    const queue = [
      { id: "q_1", text: "next", mode: "queue" as const, created_at: at(0), override: null, sender: null },
    ];
    const usage = sessionState().usage;
    const finished: ChatEvent = {
      type: "step_finished",
      turn_id: "t_1",
      step: 1,
      message_id: "m_2",
      model: "demo/demo",
      usage,
      cost: 0.5,
      cache: { read: null, missed: null, cause: null, provider: null },
      first_token_ms: 1,
      duration_ms: 2,
      answer_id: null,
    };
    const state = run(
      answered,
      { type: "queue_changed", queue },
      { type: "session_changed", session: session("s_1", { title: "New" }) },
      finished,
      finished,
      { type: "notice", code: "retry", message: "Trying again" },
      { type: "error", error: { code: "x", message: "Broken", action: "none", hint: null, retry_after_s: null } },
    );
    expect(state).toMatchObject({ queue, session: { title: "New" }, cost: 1 });
    expect(state.notes).toMatchObject([{ afterId: "m_1", error: null }, { error: { code: "x" } }]);
  });

  test("an event of a newer server changes nothing (P16)", () => {
    expect(run(answered, { type: "from_the_future" } as unknown as ChatEvent)).toBe(answered);
  });

  test("parts that an event does not concern keep their identity", () => {
    const after = run(answered, text("x"));
    expect(after.messages).toBe(answered.messages);
    expect(after.calls).toBe(answered.calls);
    expect(after.children).toBe(answered.children);
  });
});
