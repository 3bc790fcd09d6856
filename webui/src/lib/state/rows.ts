/**
 * What the transcript shows, as a flat list: one row per part of a message, so that a turn of a hundred tool
 * calls can be virtualised like anything else. A row whose content did not change is the same object.
 */
import { safeHref } from "../../markdown/links";
import type { HostedBlock, Message, ToolResultBlock } from "../../protocol.gen";
import { waitingCalls, type ChatState } from "./chat";
import type { Note } from "./notes";
import type { LiveAnswer } from "./live";
import { callRow, groupCalls } from "./calls";
import { joinsQueue, outgoingRow } from "./outgoing";
import type { Outgoing, Row, Siblings } from "./row-types";
import { same } from "./same";

export type { CallRow, CallStatus, Ending, Outgoing, Row, Siblings } from "./row-types";

/** Makes rows and remembers the last ones, to hand out the same objects for what did not change. */
export class RowBuilder {
  #last = new Map<string, Row>();
  #settledFor: readonly unknown[] = [];
  #settled: readonly Row[] = [];

  build(state: ChatState, outgoing: readonly Outgoing[]): readonly Row[] {
    const inputs = [
      state.messages,
      state.calls,
      state.children,
      state.notes,
      state.outcome,
      state.steps,
      state.turnId,
      state.approvals,
      state.questions,
    ];
    if (inputs.some((input, index) => input !== this.#settledFor[index])) {
      this.#settledFor = inputs;
      this.#settled = settledRows(state);
    }
    const sent = new Set(state.messages.map((message) => message.id));
    const waiting = outgoing
      .filter((entry) => !joinsQueue(entry, state) && (entry.messageId === null || !sent.has(entry.messageId)))
      .map(outgoingRow);
    const rows = [...this.#settled, ...liveRows(state), ...waiting];
    return this.#intern(groupCalls(rows));
  }

  #intern(rows: readonly Row[]): readonly Row[] {
    const seen = new Map<string, Row>();
    const result = rows.map((row) => {
      const before = this.#last.get(row.key);
      const kept = before !== undefined && same(before, row) ? before : row;
      seen.set(row.key, kept);
      return kept;
    });
    this.#last = seen;
    return result;
  }
}

function settledRows(state: ChatState): Row[] {
  const rows: Row[] = [];
  const results = new Map<string, ToolResultBlock>();
  for (const message of state.messages) {
    for (const block of message.blocks) if (block.type === "tool_result") results.set(block.call_id, block);
  }
  const lastAnswer = state.messages.findLastIndex((message) => message.role === "assistant");
  rows.push(...noteRows(state.notes, null));
  state.messages.forEach((message, index) => {
    if (message.role === "user") rows.push(userRow(message, state));
    else if (message.role === "notice") rows.push(noticeRow(message));
    else if (message.role === "assistant") {
      rows.push(...answerRows(message, state, results));
      if (endsAnswer(state, index)) rows.push(...endRows(state, index, index === lastAnswer));
    }
    if (state.notes.length > 0) rows.push(...noteRows(state.notes, message.id));
  });
  if (!closes(state, lastAnswer)) rows.push(...outcomeRows(state));
  return rows;
}

function userRow(message: Message, state: ChatState): Row {
  return { kind: "user", key: message.id, id: message.id, text: textOf(message), siblings: siblingsOf(message, state) };
}

function noticeRow(message: Message): Row {
  const text = textOf(message);
  if (message.compaction === null) return { kind: "note", key: message.id, code: "", text, toModel: true };
  return { kind: "summary", key: message.id, text: text.replace(MARKS, ""), compaction: message.compaction };
}

/** What stands around a summary for the model. */
const MARKS = /^<summary>\n|\n<\/summary>$/g;

function noteRows(notes: readonly Note[], afterId: string | null): Row[] {
  return notes
    .filter((note) => note.afterId === afterId)
    .map((note, index): Row => {
      const key = `${afterId ?? "top"}:note:${index}`;
      return note.error === null
        ? { kind: "note", key, code: note.code, text: note.message, toModel: false }
        : { kind: "error", key, error: note.error, at: null, canContinue: false };
    });
}

function answerRows(message: Message, state: ChatState, results: ReadonlyMap<string, ToolResultBlock>): Row[] {
  const rows: Row[] = [];
  message.blocks.forEach((block, index) => {
    const key = `${message.id}:${index}`;
    if (block.type === "text") {
      if (block.text.trim() !== "") rows.push({ kind: "text", key, text: block.text, open: false });
    } else if (block.type === "reasoning") {
      if (block.text.trim() !== "")
        rows.push({ kind: "reasoning", key, text: block.text, startedAt: null, ms: block.duration_ms ?? 0 });
    } else if (block.type === "hosted") {
      rows.push(...hostedRows(key, block));
    } else if (block.type === "tool_use") {
      const call = { callId: block.call_id, name: block.name, arguments: block.arguments, argumentsText: "" };
      rows.push(callRow(call, state, results.get(block.call_id) ?? null));
    }
  });
  return rows;
}

/** Whether the answer ends here: the next message is no part of the same turn, and the turn is not going on. */
function endsAnswer(state: ChatState, index: number): boolean {
  const message = state.messages[index]!;
  let at = index + 1;
  while (state.messages[at]?.role === "tool") at += 1;
  const next = state.messages[at];
  if (next?.role === "assistant" && next.turn_id === message.turn_id) return false;
  return next !== undefined || state.turnId === null || state.turnId !== message.turn_id;
}

function endRows(state: ChatState, index: number, isLast: boolean): Row[] {
  const message = state.messages[index]!;
  const rows: Row[] = [];
  const told = isLast && state.outcome !== null; // the outcome says it in more words
  if (closes(state, index)) rows.push(...outcomeRows(state));
  if (message.status !== "complete" && !told) {
    const canContinue = isLast && state.turnId === null;
    rows.push({ kind: "ending", key: `${message.id}:end`, reason: message.status, canContinue });
  }
  rows.push(footerRow(state, index));
  return rows;
}

/** Whether the branch ends with this answer, its tool results aside: then what became of the turn belongs to it. */
function closes(state: ChatState, index: number): boolean {
  return (
    index !== -1 &&
    index === state.messages.findLastIndex((message) => message.role !== "tool") &&
    endsAnswer(state, index)
  );
}

function footerRow(state: ChatState, index: number): Row {
  const message = state.messages[index]!;
  const first = firstOfAnswer(state, index);
  const answers = state.messages.slice(first, index + 1).filter((other) => other.role === "assistant");
  const texts = answers.map(textOf);
  return {
    kind: "footer",
    key: `${message.id}:footer`,
    id: state.messages[first]!.id,
    text: texts.filter((text) => text !== "").join("\n\n"),
    model: message.model,
    siblings: siblingsOf(state.messages[first]!, state),
    steps: answers.map((answer) => state.steps[answer.id]).filter((step) => step !== undefined),
  };
}

function firstOfAnswer(state: ChatState, index: number): number {
  let first = index;
  for (let at = index - 1; at >= 0; at--) {
    const message = state.messages[at]!;
    if (message.role === "user" || message.role === "notice" || message.turn_id !== state.messages[index]!.turn_id)
      break;
    if (message.role === "assistant") first = at;
  }
  return first;
}

/** How the last turn ended, when that is worth a word. */
function outcomeRows(state: ChatState): Row[] {
  const outcome = state.outcome;
  if (unanswered(state)) return [{ kind: "ending", key: "unanswered", reason: "unanswered", canContinue: true }];
  if (outcome === null || outcome.reason === "done") return [];
  const key = `${outcome.turn_id}:outcome`;
  const last = state.messages.at(-1);
  const canContinue = last?.role !== "assistant" || last.status !== "complete"; // else the turn only summarised
  if (outcome.error !== null) return [{ kind: "error", key, error: outcome.error, at: state.outcomeAt, canContinue }];
  return [{ kind: "ending", key, reason: outcome.reason, canContinue }];
}

/** The chat is at rest with a question that has no answer, and nothing tells why. */
function unanswered(state: ChatState): boolean {
  return state.turnId === null && state.outcome === null && state.messages.at(-1)?.role === "user";
}

function liveRows(state: ChatState): Row[] {
  if (state.turnId === null) return [];
  const since = state.compactingSince;
  if (since !== null) return [{ kind: "working", key: "working", startedAt: since, compacting: true }];
  const rows = state.live === null ? [] : liveAnswerRows(state.live, state);
  const newest = state.messages.at(-1);
  const answered =
    newest?.role === "assistant" &&
    newest.turn_id === state.turnId &&
    !newest.blocks.some((block) => block.type === "tool_use");
  const busy =
    answered ||
    rows.length > 0 ||
    waitingCalls(state).length > 0 ||
    Object.values(state.calls).some((call) => call.status === "running");
  if (!busy) rows.push({ kind: "working", key: "working", startedAt: state.turnStartedAt, compacting: false });
  return rows;
}

function liveAnswerRows(live: LiveAnswer, state: ChatState): Row[] {
  const blocks = live.blocks.filter((block) => block !== undefined);
  return blocks.flatMap((block, index): Row[] => {
    const key = `${live.messageId}:${index}`;
    if (block.type === "text") return [{ kind: "text", key, text: block.text, open: index === blocks.length - 1 }];
    if (block.type === "reasoning") {
      const ms = block.endedAt === null ? null : Date.parse(block.endedAt) - Date.parse(block.startedAt);
      return [{ kind: "reasoning", key, text: block.text, startedAt: block.startedAt, ms: Number.isNaN(ms) ? 0 : ms }];
    }
    return block.type === "hosted" ? hostedRows(key, block) : [callRow(block, state, null)];
  });
}

/** What a provider says it found is a stranger's word: only pages of the web become links. */
function hostedRows(key: string, block: HostedBlock): Row[] {
  if (block.kind === "pause") return [];
  const sources = block.sources.flatMap((source) => {
    const url = safeHref(source.url);
    return url === null ? [] : [{ ...source, url }];
  });
  return [{ kind: "hosted", key, what: block.kind, query: block.query, sources, error: block.error }];
}

function siblingsOf(message: Message, state: ChatState): Siblings | null {
  const ids = state.children[message.parent_id ?? ""] ?? [];
  const index = ids.indexOf(message.id);
  return ids.length > 1 && index !== -1 ? { ids, index } : null;
}

export function textOf(message: Message): string {
  const texts = message.blocks.map((block) => (block.type === "text" ? block.text : ""));
  return texts.filter((text) => text !== "").join("\n\n");
}
