/** What a tab shows after a reload is what the tab shows that watched, whenever the reload was (P3). */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ErrorInfo, Event as ChatEvent, Message, SessionState, StepFinished } from "../../protocol.gen";
import { fromSnapshot, reduce, type ChatState } from "./chat";
import { message, sessionState, turnStarted } from "./fixtures";
import { RowBuilder } from "./rows";

interface Timed {
  readonly event: ChatEvent;
  readonly at: string;
}
/** Events that are stored together. */
type Commit = readonly ChatEvent[];

const call = fc.record({
  asked: fc.constantFrom(null, "once" as const, "deny" as const),
  output: fc.boolean(),
});
const step = fc.record({ thinks: fc.boolean(), says: fc.boolean(), calls: fc.array(call, { maxLength: 2 }) });
const turn = fc.record({
  steps: fc.array(step, { maxLength: 3 }),
  note: fc.constantFrom(null, "notice" as const, "error" as const),
  reason: fc.constantFrom("done" as const, "error" as const, "stopped" as const, "limit" as const),
});
type Turn = (typeof turn extends fc.Arbitrary<infer T> ? T : never) & object;

const failure: ErrorInfo = {
  code: "overloaded",
  message: "Too busy.",
  action: "wait",
  hint: null,
  retry_after_s: 9,
};
const usage = {
  uncached: 5,
  cache_read: 2,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 3,
  reasoning: null,
  searches: null,
};

/** The log of a chat with these turns, as the server writes it. */
class Log {
  readonly commits: Commit[] = [];
  #leaf: string | null = null;
  #ids = 0;

  constructor(turns: readonly Turn[]) {
    for (const plan of turns) this.#turn(plan);
  }

  #id(kind: string): string {
    return `${kind}_${++this.#ids}`;
  }

  #message(role: Message["role"], changes: Partial<Message>, id = this.#id("m")): ChatEvent {
    const added = message(id, this.#leaf, role, changes);
    this.#leaf = id;
    return { type: "message_added", message: added };
  }

  #turn(plan: Turn): void {
    const turn_id = this.#id("t");
    const asked = this.#message("user", { blocks: [{ type: "text", text: `question ${turn_id}` }] });
    this.commits.push([{ type: "turn_accepted", turn_id }, asked]);
    if (plan.steps.length === 0) {
      const ended = { type: "turn_finished", turn_id, reason: "error", error: failure } as const;
      this.commits.push([{ type: "error", error: failure }, ended]);
      return;
    }
    this.commits.push([turnStarted(turn_id, ["bash"])]);
    if (plan.note === "notice") this.commits.push([{ type: "notice", code: "retry", message: "Trying again." }]);
    if (plan.note === "error") this.commits.push([{ type: "error", error: { ...failure, code: "unknown_tool" } }]);
    plan.steps.forEach((each, index) => this.#step(turn_id, index + 1, each));
    const error = plan.reason === "error" ? failure : null;
    this.commits.push([{ type: "turn_finished", turn_id, reason: plan.reason, error }]);
  }

  #step(turn_id: string, number: number, plan: Turn["steps"][number]): void {
    const message_id = this.#id("m");
    const begun = { type: "step_started", turn_id, step: number, message_id, parent_id: this.#leaf, model: "e/m" };
    this.commits.push([begun as ChatEvent]);
    const blocks: Message["blocks"] = [];
    for (const text of plan.thinks ? ["hm, ", "well"] : [])
      this.commits.push([{ type: "reasoning_delta", message_id, block: 0, text }]);
    if (plan.thinks)
      blocks.push({ type: "reasoning", text: "hm, well", signature: null, redacted: null, duration_ms: 7 });
    for (const text of plan.says ? ["So ", "then."] : [])
      this.commits.push([{ type: "text_delta", message_id, block: blocks.length, text }]);
    if (plan.says) blocks.push({ type: "text", text: "So then." });
    const calls = plan.calls.map((each) => ({ ...each, id: this.#id("c") }));
    for (const { id } of calls) {
      const delta = { message_id, block: blocks.length, call_id: id, name: "bash", text: '{"command":"ls"}' };
      this.commits.push([{ type: "tool_call_delta", ...delta }]);
      blocks.push({ type: "tool_use", call_id: id, name: "bash", arguments: { command: "ls" }, bridged: false });
    }
    const counted: StepFinished = {
      ...{ type: "step_finished", turn_id, step: number, message_id, model: "e/m", usage, cost: 0.5 },
      ...{ cache: { read: 2, missed: 0, cause: null, provider: null } },
      ...{ first_token_ms: 1, duration_ms: 2, answer_id: null },
    };
    this.commits.push([counted, this.#message("assistant", { turn_id, blocks, model: "e/m" }, message_id)]);
    const results = calls.map((each) => this.#call(turn_id, message_id, each.id, each));
    if (results.length > 0) this.commits.push([this.#message("tool", { turn_id, blocks: results })]);
  }

  #call(
    turn_id: string,
    message_id: string,
    call_id: string,
    plan: { asked: "once" | "deny" | null; output: boolean },
  ) {
    const args = { command: "ls" };
    this.commits.push([{ type: "tool_call_started", turn_id, message_id, call_id, name: "bash", arguments: args }]);
    if (plan.asked !== null) {
      const about = { approval_id: `a_${call_id}`, turn_id, call_id, tool: "bash", arguments: args };
      const shown = { kind: "command" as const, preview: "ls", reason: "", pattern: "ls", digest: "d", left_out: 0 };
      const directory = "/ws";
      this.commits.push([{ type: "approval_requested", ...about, ...shown, directory }]);
      const { approval_id } = about;
      this.commits.push([{ type: "approval_resolved", approval_id, decision: plan.asked, note: null, held: null }]);
    }
    const denied = plan.asked === "deny";
    for (const text of plan.output && !denied ? ["a", "b"] : [])
      this.commits.push([{ type: "tool_output_delta", call_id, text }]);
    const status = denied ? ("denied" as const) : ("ok" as const);
    const content = [{ type: "text" as const, text: "ab" }];
    const duration_ms = denied ? 0 : 12;
    const result = { type: "tool_result" as const, call_id, status, content, display: null, duration_ms };
    this.commits.push([{ type: "tool_call_finished", call_id, status, result, duration_ms, discovered: [] }]);
    return result;
  }
}

const work = new Set([
  ...["turn_started", "step_started", "text_delta", "reasoning_delta", "tool_call_delta", "tool_output_delta"],
  ...["tool_call_started", "tool_call_finished", "approval_requested", "approval_resolved"],
]);

/** The snapshot that the server makes of a log (`openprogram.sessions.read`). */
function snapshotOf(log: readonly Timed[]): SessionState {
  const messages = log.flatMap(({ event }) => (event.type === "message_added" ? [event.message] : []));
  const steps = log.flatMap(({ event }) => (event.type === "step_finished" ? [event] : []));
  const accepted = log.findLastIndex(({ event }) => event.type === "turn_accepted");
  const ended = log.findLast(({ event }) => event.type === "turn_finished");
  const running = accepted > (ended === undefined ? -1 : log.indexOf(ended));
  const told = log.flatMap(({ event }) => (event.type === "turn_finished" && event.error ? [event.error] : []));
  const notes: SessionState["notes"] = [];
  let leaf: string | null = null;
  for (const { event } of log) {
    if (event.type === "message_added") leaf = event.message.id;
    if (event.type === "notice" || (event.type === "error" && !told.includes(event.error)))
      notes.push({ after_id: leaf, event });
  }
  const changes: Partial<SessionState> = { messages, steps, notes: notes.slice(-20), cost: steps.length * 0.5 || null };
  if (!running && ended?.event.type === "turn_finished")
    return sessionState({ ...changes, outcome: ended.event, outcome_at: ended.at });
  if (accepted === -1) return sessionState(changes);
  return sessionState({ ...changes, status: "running", ...partialOf(log.slice(accepted)) });
}

function partialOf(turnLog: readonly Timed[]): Pick<SessionState, "turn_id" | "partial" | "approvals"> {
  const last = turnLog.findLastIndex(({ event }) => event.type === "message_added" && event.message.role !== "user");
  const contract = turnLog.slice(0, last + 1).filter(({ event }) => event.type === "turn_started");
  const rest = [...contract, ...turnLog.slice(last + 1)].filter(({ event }) => work.has(event.type));
  const joined: Timed[] = [];
  for (const timed of rest) {
    const before = joined.at(-1);
    const both = before === undefined ? null : joinedDeltas(before, timed);
    if (both === null) joined.push(timed);
    else joined[joined.length - 1] = both;
  }
  const resolved = new Set(turnLog.map(({ event }) => event.type === "approval_resolved" && event.approval_id));
  const approvals = turnLog.flatMap(({ event }) =>
    event.type === "approval_requested" && !resolved.has(event.approval_id) ? [event] : [],
  );
  const { event: accepted, at: started_at } = turnLog[0]!;
  const turn_id = accepted.type === "turn_accepted" ? accepted.turn_id : "";
  const begun = turnLog.findLast(({ event }) => event.type === "step_started");
  const open = begun !== undefined && turnLog.indexOf(begun) > last && begun.event.type === "step_started";
  const at = { step: 0, parent_id: null, model: open ? "e/m" : "", message_id: open ? begun.event.message_id : "" };
  const events = { events: joined.map(({ event }) => event), at: joined.map((timed) => timed.at) };
  return { turn_id, approvals, partial: { turn_id, started_at, ...at, ...events } };
}

/** Two deltas of one block as one; null where they are of different ones. */
function joinedDeltas(a: Timed, b: Timed): Timed | null {
  const key = ({ event }: Timed): string =>
    "block" in event ? `${event.message_id}:${event.block}` : "call_id" in event ? event.call_id : "";
  if (a.event.type !== b.event.type || key(a) !== key(b) || !("text" in a.event) || !("text" in b.event)) return null;
  return { event: { ...b.event, text: `${a.event.text}${b.event.text}` } as ChatEvent, at: a.at };
}

const played = (state: ChatState, log: readonly Timed[]): ChatState =>
  log.reduce((now, { event, at }) => reduce(now, event, at), state);

function shown(state: ChatState): unknown {
  const { turnId, turn, turnStartedAt, outcome, outcomeAt, approvals, notes, steps, cost } = state;
  const rows = new RowBuilder().build(state, []);
  return { rows, turnId, turn, turnStartedAt, outcome, outcomeAt, approvals, notes, steps, cost };
}

test("a tab that was reloaded at any moment shows what the tab shows that watched from the start", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 3 }), (turns) => {
      const { commits } = new Log(turns);
      const timed = commits.map((commit, index) =>
        commit.map((event) => ({ event, at: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString() })),
      );
      let watched = fromSnapshot(sessionState());
      for (let cut = 0; cut < timed.length; cut++) {
        watched = played(watched, timed[cut]!);
        const reloaded = fromSnapshot(snapshotOf(timed.slice(0, cut + 1).flat()));
        expect(shown(reloaded)).toEqual(shown(watched));
      }
    }),
    { numRuns: 60 },
  );
});
