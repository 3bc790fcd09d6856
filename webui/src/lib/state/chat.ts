/**
 * What one chat looks like, as a pure function of what the server said: `reduce(state, event)`.
 *
 * A state is never changed; parts that an event does not concern keep their identity, so a view can tell
 * by `===` what it has to look at again.
 */
import type {
  ApprovalRequested,
  ApprovalResolved,
  Effective,
  Event as ChatEvent,
  Message,
  MessagesAck,
  PartialAnswer,
  QuestionAnswered,
  QuestionAsked,
  QueuedMessage,
  SessionInfo,
  SessionState,
  StepFinished,
  ToolIntent,
  ToolResultBlock,
  TurnFinished,
  TurnStarted,
} from "../../protocol.gen";
import { byMessage, childrenOf, plus } from "./known";
import { addDelta, callWritten, openAnswer, type LiveAnswer } from "./live";
import { noteOf, withNote, withoutTold, type Note } from "./notes";

type Json = ToolResultBlock["display"];
export type Arguments = NonNullable<Json>;

/** A tool call from its dispatch on. */
export interface CallState {
  /** `held`: it has its answer, and begins when the turn has all of them. */
  readonly status: "running" | "held" | ToolResultBlock["status"];
  /** What it has printed so far; the result takes its place. */
  readonly output: string;
  readonly result: ToolResultBlock | null;
  /** When it began to run: after the person's word, where one was asked. */
  readonly startedAt: string | null;
}

export interface ChatState {
  readonly session: SessionInfo;
  /** The active branch, oldest first. */
  readonly messages: readonly Message[];
  /** Known children by parent (`""` for roots), in order: the siblings that a reader can switch between. */
  readonly children: Readonly<Record<string, readonly string[]>>;
  /** Older messages exist on the server. */
  readonly more: boolean;
  /** The branch shown is not the active one any more and could not be worked out: load it again. */
  readonly stale: boolean;
  readonly turnId: string | null;
  /** The contract of the running turn, once it is prepared. */
  readonly turn: TurnStarted | null;
  readonly turnStartedAt: string | null;
  /** How the last turn ended, and when, while the branch ends there. */
  readonly outcome: TurnFinished | null;
  readonly outcomeAt: string | null;
  readonly live: LiveAnswer | null;
  /** Since when the conversation is being summarised; null where it is not. */
  readonly compactingSince: string | null;
  readonly calls: Readonly<Record<string, CallState>>;
  readonly notes: readonly Note[];
  /** The requests that answers came from, by message. */
  readonly steps: Readonly<Record<string, StepFinished>>;
  readonly intent: ToolIntent;
  readonly revision: number;
  readonly effective: Effective;
  /** The tools that the chat has loaded, once that has changed; null before. */
  readonly loaded: readonly string[] | null;
  readonly queue: readonly QueuedMessage[];
  readonly approvals: readonly ApprovalRequested[];
  readonly questions: readonly QuestionAsked[];
  readonly cost: number | null;
}

export function isRunning(state: ChatState): boolean {
  return state.turnId !== null;
}

/** The calls that wait for the person's word. */
export function waitingCalls(state: ChatState): readonly string[] {
  return [...state.approvals, ...state.questions].map((asked) => asked.call_id);
}

/** The state that a snapshot describes (P3). */
export function fromSnapshot(snapshot: SessionState): ChatState {
  const start: ChatState = {
    session: snapshot.session,
    messages: snapshot.messages,
    children: childrenOf(snapshot.messages, snapshot.siblings),
    more: snapshot.more,
    stale: false,
    turnId: snapshot.turn_id,
    turn: null,
    turnStartedAt: snapshot.partial?.started_at ?? null,
    outcome: snapshot.outcome,
    outcomeAt: snapshot.outcome_at,
    live: null,
    compactingSince: null,
    calls: {},
    notes: snapshot.notes.map((note) => noteOf(note.after_id, note.event)),
    steps: byMessage(snapshot.steps),
    intent: snapshot.intent,
    revision: snapshot.revision,
    effective: snapshot.effective,
    loaded: null,
    queue: snapshot.queue,
    approvals: snapshot.approvals,
    questions: snapshot.questions,
    cost: snapshot.cost,
  };
  return snapshot.partial === null ? start : applyPartial(start, snapshot.partial);
}

function applyPartial(state: ChatState, partial: PartialAnswer): ChatState {
  const live = partial.message_id === "" ? null : openAnswer(partial);
  return partial.events.reduce((now, event, index) => reduce(now, event, partial.at[index] ?? ""), {
    ...state,
    live,
  } as ChatState);
}

type Page = Pick<MessagesAck, "messages" | "siblings" | "more" | "steps">;

/** What holds of the turn where none runs. */
const AT_REST = {
  turnId: null,
  turn: null,
  turnStartedAt: null,
  live: null,
  compactingSince: null,
  outcome: null,
  outcomeAt: null,
} as const;

/** Put an older page, as `load_messages` gives it, in front. */
export function withOlder(state: ChatState, page: Page): ChatState {
  const known = new Set(state.messages.map((message) => message.id));
  const older = page.messages.filter((message) => !known.has(message.id));
  return {
    ...state,
    messages: [...older, ...state.messages],
    children: { ...childrenOf(older, page.siblings), ...state.children },
    more: page.more,
    steps: { ...byMessage(page.steps), ...state.steps },
  };
}

/** Replace the branch, after `stale`. */
export function withBranch(state: ChatState, page: Page): ChatState {
  return {
    ...state,
    messages: page.messages,
    children: childrenOf(page.messages, page.siblings),
    more: page.more,
    stale: false,
    steps: { ...state.steps, ...byMessage(page.steps) },
  };
}

/** The state after `event`, which happened at `at` (ISO 8601). */
export function reduce(state: ChatState, event: ChatEvent, at: string): ChatState {
  switch (event.type) {
    case "message_added":
      return added(state, event.message);
    case "turn_accepted":
      return { ...state, ...AT_REST, turnId: event.turn_id, turnStartedAt: at };
    case "turn_started":
      return { ...state, turnId: event.turn_id, turn: event, turnStartedAt: state.turnStartedAt ?? at };
    case "step_started":
      return { ...state, turnId: event.turn_id, live: openAnswer(event) };
    case "text_delta":
    case "reasoning_delta":
    case "hosted_added":
    case "tool_call_delta":
      return { ...state, live: addDelta(state.live, event, at) };
    case "tool_call_started": {
      const call: CallState = { status: "running", output: "", result: null, startedAt: at };
      const live = callWritten(state.live, event);
      return { ...state, live, calls: { ...state.calls, [event.call_id]: call } };
    }
    case "tool_output_delta":
      return withCall(state, event.call_id, (call) => ({ ...call, output: call.output + event.text }));
    case "tool_call_finished":
      return withCall(state, event.call_id, (call) => ({
        ...call,
        status: event.status,
        output: "",
        result: event.result,
      }));
    case "step_finished":
      return {
        ...state,
        steps: { ...state.steps, [event.message_id]: event },
        cost: plus(state.cost, event.cost),
      };
    case "compaction_started":
      return { ...state, turnId: event.turn_id, live: null, compactingSince: at };
    case "compacted":
      return { ...state, compactingSince: null, cost: plus(state.cost, event.cost) };
    case "turn_finished": {
      const notes = withoutTold(state.notes, event.error);
      return { ...state, ...AT_REST, outcome: event, outcomeAt: at, approvals: [], questions: [], notes };
    }
    case "intent_changed":
      return { ...state, intent: event.intent, revision: event.revision, effective: event.effective };
    case "approval_requested":
      return { ...state, approvals: [...without(state.approvals, event.approval_id), event] };
    case "approval_resolved":
      return resolved(state, event, at);
    case "question_asked":
      return { ...state, questions: [...without(state.questions, event.question_id), event] };
    case "question_answered":
      return questionAnswered(state, event);
    case "loaded_changed":
      return { ...state, loaded: event.loaded };
    case "queue_changed":
      return { ...state, queue: event.queue };
    case "branch_selected":
      return selected(state, event.leaf_id);
    case "session_changed":
      return { ...state, session: event.session };
    case "notice":
    case "error":
      return { ...state, notes: withNote(state.notes, noteOf(state.messages.at(-1)?.id ?? null, event)) };
    default:
      return unknown(state, event);
  }
}

/** A newer server may say more than this interface knows; that is no reason to stop (P16). */
function unknown(state: ChatState, _event: never): ChatState {
  return state;
}

function added(state: ChatState, message: Message): ChatState {
  const parent = message.parent_id ?? "";
  const keep = parent === "" ? 0 : state.messages.findIndex((other) => other.id === parent) + 1;
  const siblings = state.children[parent] ?? [];
  return {
    ...state,
    outcome: null,
    outcomeAt: null,
    messages: [...state.messages.slice(0, keep), message],
    children: siblings.includes(message.id)
      ? state.children
      : { ...state.children, [parent]: [...siblings, message.id] },
    live: state.live?.messageId === message.id ? null : state.live,
    stale: state.stale || (parent !== "" && keep === 0),
  };
}

function selected(before: ChatState, leafId: string | null): ChatState {
  const state = { ...before, outcome: null, outcomeAt: null };
  if (leafId === null) return { ...state, messages: [], more: false, stale: false };
  const index = state.messages.findIndex((message) => message.id === leafId);
  if (index === -1) return { ...state, stale: true };
  return { ...state, messages: state.messages.slice(0, index + 1) };
}

/** An allowed call runs from now on; the time before was the person's. One that is held does not run yet. */
function resolved(state: ChatState, event: ApprovalResolved, at: string): ChatState {
  const asked = state.approvals.find((approval) => approval.approval_id === event.approval_id);
  const answered = { ...state, approvals: without(state.approvals, event.approval_id) };
  if (event.decision === null || event.decision === "deny") return answered;
  if (event.held !== null) return withCall(answered, event.held, held);
  if (asked === undefined) return answered;
  return withCall(answered, asked.call_id, (call) => ({ ...call, startedAt: at }));
}

function questionAnswered(before: ChatState, event: QuestionAnswered): ChatState {
  const state = { ...before, questions: without(before.questions, event.question_id) };
  return event.held === null ? state : withCall(state, event.held, held);
}

function held(call: CallState): CallState {
  return { ...call, status: "held", startedAt: null };
}

function withCall(state: ChatState, callId: string, change: (call: CallState) => CallState): ChatState {
  const before: CallState = state.calls[callId] ?? {
    status: "running",
    output: "",
    result: null,
    startedAt: null,
  };
  return { ...state, calls: { ...state.calls, [callId]: change(before) } };
}

function without<T extends ApprovalRequested | QuestionAsked>(asked: readonly T[], id: string): readonly T[] {
  return asked.filter((one) => id !== (one.type === "question_asked" ? one.question_id : one.approval_id));
}
