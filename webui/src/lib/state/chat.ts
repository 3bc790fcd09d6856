/**
 * What one chat looks like, as a pure function of what the server said: `reduce(state, event)`.
 *
 * A state is never changed; parts that an event does not concern keep their identity, so a view can tell
 * by `===` what it has to look at again.
 */
import type {
  ApprovalRequested,
  Effective,
  ErrorInfo,
  Event as ChatEvent,
  Message,
  PartialAnswer,
  QueuedMessage,
  SessionInfo,
  SessionState,
  StepFinished,
  ToolIntent,
  ToolResultBlock,
  TurnFinished,
  TurnStarted,
} from "../../protocol.gen";
import { addDelta, callWritten, openAnswer, thoughtTimes, type LiveAnswer } from "./live";

type Json = ToolResultBlock["display"];
export type Arguments = NonNullable<Json>;

/** A tool call from its dispatch on. */
export interface CallState {
  readonly status: "running" | ToolResultBlock["status"];
  /** What it has printed so far; the result takes its place. */
  readonly output: string;
  readonly result: ToolResultBlock | null;
  readonly startedAt: string | null;
  readonly durationMs: number | null;
}

/** A quiet line or an error card that belongs behind a message. */
export interface Note {
  readonly key: string;
  readonly afterId: string | null;
  readonly code: string;
  readonly message: string;
  readonly error: ErrorInfo | null;
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
  readonly turn: TurnStarted | null;
  readonly turnStartedAt: string | null;
  /** How the last turn ended. */
  readonly outcome: TurnFinished | null;
  /** The chat was found at rest with a question that has no answer. */
  readonly unanswered: boolean;
  readonly live: LiveAnswer | null;
  readonly calls: Readonly<Record<string, CallState>>;
  readonly notes: readonly Note[];
  readonly steps: Readonly<Record<string, StepFinished>>;
  /** How long each reasoning took, in ms, by message and position among its reasoning blocks: `m_1:0`. */
  readonly thoughts: Readonly<Record<string, number>>;
  readonly intent: ToolIntent;
  readonly revision: number;
  readonly effective: Effective;
  /** The tools that the chat has loaded, once that has changed; null before. */
  readonly loaded: readonly string[] | null;
  readonly queue: readonly QueuedMessage[];
  readonly approvals: readonly ApprovalRequested[];
  readonly cost: number | null;
}

export function isRunning(state: ChatState): boolean {
  return state.turnId !== null;
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
    turnStartedAt: null,
    outcome: null,
    unanswered: snapshot.turn_id === null && snapshot.messages.at(-1)?.role === "user",
    live: null,
    calls: {},
    notes: [],
    steps: {},
    thoughts: {},
    intent: snapshot.intent,
    revision: snapshot.revision,
    effective: snapshot.effective,
    loaded: null,
    queue: snapshot.queue,
    approvals: snapshot.approvals,
    cost: snapshot.cost,
  };
  return snapshot.partial === null ? start : applyPartial(start, snapshot.partial);
}

function applyPartial(state: ChatState, partial: PartialAnswer): ChatState {
  const live = openAnswer(partial);
  return partial.events.reduce((now, event) => reduce(now, event, ""), { ...state, live } as ChatState);
}

/** Put an older page, as `load_messages` gives it, in front. */
export function withOlder(
  state: ChatState,
  page: { messages: readonly Message[]; siblings: Readonly<Record<string, readonly string[]>>; more: boolean },
): ChatState {
  const known = new Set(state.messages.map((message) => message.id));
  const older = page.messages.filter((message) => !known.has(message.id));
  return {
    ...state,
    messages: [...older, ...state.messages],
    children: { ...childrenOf(older, page.siblings), ...state.children },
    more: page.more,
  };
}

/** Replace the branch, after `stale`. */
export function withBranch(
  state: ChatState,
  page: { messages: readonly Message[]; siblings: Readonly<Record<string, readonly string[]>>; more: boolean },
): ChatState {
  return {
    ...state,
    messages: page.messages,
    children: childrenOf(page.messages, page.siblings),
    more: page.more,
    stale: false,
  };
}

/** The state after `event`, which happened at `at` (ISO 8601). */
export function reduce(state: ChatState, event: ChatEvent, at: string): ChatState {
  switch (event.type) {
    case "message_added":
      return added(state, event.message, at);
    case "turn_started":
      return { ...state, turnId: event.turn_id, turn: event, turnStartedAt: at, outcome: null, unanswered: false };
    case "step_started":
      return { ...state, turnId: event.turn_id, live: openAnswer(event) };
    case "text_delta":
    case "reasoning_delta":
    case "tool_call_delta":
      return { ...state, live: addDelta(state.live, event, at) };
    case "tool_call_started": {
      const call: CallState = { status: "running", output: "", result: null, startedAt: at, durationMs: null };
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
        durationMs: event.duration_ms,
      }));
    case "step_finished":
      return {
        ...state,
        steps: { ...state.steps, [event.message_id]: event },
        cost: event.cost === null ? state.cost : (state.cost ?? 0) + event.cost,
      };
    case "turn_finished": {
      const notes = withoutTold(state.notes, event.error);
      return {
        ...state,
        turnId: null,
        turn: null,
        turnStartedAt: null,
        live: null,
        outcome: event,
        approvals: [],
        notes,
      };
    }
    case "intent_changed":
      return { ...state, intent: event.intent, revision: event.revision, effective: event.effective };
    case "approval_requested":
      return { ...state, approvals: [...without(state.approvals, event.approval_id), event] };
    case "approval_resolved":
      return { ...state, approvals: without(state.approvals, event.approval_id) };
    case "loaded_changed":
      return { ...state, loaded: event.loaded };
    case "queue_changed":
      return { ...state, queue: event.queue };
    case "branch_selected":
      return selected(state, event.leaf_id);
    case "session_changed":
      return { ...state, session: event.session };
    case "notice":
      return withNote(state, event.code, event.message, null);
    case "error":
      return withNote(state, event.error.code, event.error.message, event.error);
    default:
      return unknown(state, event);
  }
}

/** A newer server may say more than this interface knows; that is no reason to stop (P16). */
function unknown(state: ChatState, _event: never): ChatState {
  return state;
}

function added(state: ChatState, message: Message, at: string): ChatState {
  const parent = message.parent_id ?? "";
  const keep = parent === "" ? 0 : state.messages.findIndex((other) => other.id === parent) + 1;
  const siblings = state.children[parent] ?? [];
  const next: ChatState = {
    ...state,
    unanswered: false,
    messages: [...state.messages.slice(0, keep), message],
    children: siblings.includes(message.id)
      ? state.children
      : { ...state.children, [parent]: [...siblings, message.id] },
    live: state.live?.messageId === message.id ? null : state.live,
    thoughts: { ...state.thoughts, ...thoughtTimes(state.live, message.id, at) },
    stale: state.stale || (parent !== "" && keep === 0),
  };
  return message.role === "user" ? { ...next, outcome: null } : next;
}

function selected(state: ChatState, leafId: string | null): ChatState {
  if (leafId === null) return { ...state, messages: [], more: false, stale: false, outcome: null };
  const index = state.messages.findIndex((message) => message.id === leafId);
  if (index === -1) return { ...state, stale: true, outcome: null };
  if (index === state.messages.length - 1) return state;
  return { ...state, messages: state.messages.slice(0, index + 1), outcome: null };
}

function withCall(state: ChatState, callId: string, change: (call: CallState) => CallState): ChatState {
  const before: CallState = state.calls[callId] ?? {
    status: "running",
    output: "",
    result: null,
    startedAt: null,
    durationMs: null,
  };
  return { ...state, calls: { ...state.calls, [callId]: change(before) } };
}

function withNote(state: ChatState, code: string, message: string, error: ErrorInfo | null): ChatState {
  const note: Note = {
    key: `note:${state.notes.length}`,
    afterId: state.messages.at(-1)?.id ?? null,
    code,
    message,
    error,
  };
  return { ...state, notes: [...state.notes, note] };
}

/** The notes without the newest where it tells of the error that the outcome shows: why the turn could not start. */
function withoutTold(notes: readonly Note[], error: ErrorInfo | null): readonly Note[] {
  const last = notes.at(-1)?.error;
  return error !== null && last?.code === error.code && last.message === error.message ? notes.slice(0, -1) : notes;
}

function without(approvals: readonly ApprovalRequested[], id: string): readonly ApprovalRequested[] {
  return approvals.filter((approval) => approval.approval_id !== id);
}

function childrenOf(
  messages: readonly Message[],
  siblings: Readonly<Record<string, readonly string[] | undefined>>,
): Record<string, readonly string[]> {
  const children: Record<string, readonly string[]> = {};
  for (const message of messages) children[message.parent_id ?? ""] = siblings[message.id] ?? [message.id];
  return children;
}
