/** The kinds of rows that a transcript is made of. */
import type { Compaction, ErrorInfo, Source, StepFinished, ToolResultBlock, TurnFinished } from "../../protocol.gen";
import type { Arguments, CallState } from "./chat";

export interface Siblings {
  readonly ids: readonly string[];
  readonly index: number;
}

/** A message that this tab has sent and the server has not shown yet. */
export interface Outgoing {
  readonly key: string;
  readonly text: string;
  readonly messageId: string | null;
  readonly failed: string | null;
  /** Sent while a turn ran, so that it is meant for the queue. */
  readonly whileRunning: boolean;
  /** The server has put it into the queue. */
  readonly queued: boolean;
}

export type CallStatus = "writing" | "approval" | CallState["status"];

export interface CallRow {
  readonly kind: "call";
  readonly key: string;
  readonly callId: string;
  readonly name: string;
  readonly arguments: Arguments | null;
  readonly argumentsText: string;
  readonly status: CallStatus;
  readonly output: string;
  readonly result: ToolResultBlock | null;
  /** Since when it runs; null where it does not. */
  readonly startedAt: string | null;
  /** How long the tool itself ran; 0: it never began, null: not known. */
  readonly durationMs: number | null;
}

export type Ending = Exclude<TurnFinished["reason"], "done"> | "unanswered";

export type Row =
  | {
      readonly kind: "user";
      readonly key: string;
      readonly id: string;
      readonly text: string;
      readonly siblings: Siblings | null;
    }
  | {
      readonly kind: "outgoing";
      readonly key: string;
      readonly outgoing: Outgoing;
      readonly text: string;
      readonly failed: string | null;
      /** The server has not taken it yet. */
      readonly pending: boolean;
    }
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly open: boolean }
  | {
      readonly kind: "reasoning";
      readonly key: string;
      readonly text: string;
      readonly startedAt: string | null;
      readonly ms: number | null;
    }
  | {
      /** What the provider did by itself: a search, what it found, or where the text before comes from. */
      readonly kind: "hosted";
      readonly key: string;
      readonly what: "search" | "found" | "sources";
      readonly query: string;
      readonly sources: readonly Source[];
      readonly error: string | null;
    }
  | CallRow
  | { readonly kind: "group"; readonly key: string; readonly calls: readonly CallRow[] }
  | {
      readonly kind: "note";
      readonly key: string;
      readonly code: string;
      readonly text: string;
      readonly toModel: boolean;
    }
  | {
      readonly kind: "summary";
      readonly key: string;
      readonly text: string;
      readonly compaction: Compaction;
    }
  | {
      readonly kind: "error";
      readonly key: string;
      readonly error: ErrorInfo;
      /** When it happened, where something can be tried again after a while. */
      readonly at: string | null;
      readonly canContinue: boolean;
    }
  | { readonly kind: "ending"; readonly key: string; readonly reason: Ending; readonly canContinue: boolean }
  | {
      readonly kind: "footer";
      readonly key: string;
      readonly id: string;
      readonly text: string;
      readonly model: string | null;
      readonly siblings: Siblings | null;
      /** The requests that the answer came from, as far as they are known. */
      readonly steps: readonly StepFinished[];
    }
  | {
      readonly kind: "working";
      readonly key: string;
      readonly startedAt: string | null;
      /** What it works on is a summary of the conversation. */
      readonly compacting: boolean;
    };
