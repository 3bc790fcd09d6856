/** Tool calls as rows of the transcript. */
import type { ToolResultBlock } from "../../protocol.gen";
import { waitingCalls, type Arguments, type ChatState } from "./chat";
import type { CallRow, Row } from "./row-types";

interface CallIdentity {
  readonly callId: string;
  readonly name: string;
  readonly arguments: Arguments | null;
  readonly argumentsText: string;
}

export function callRow(call: CallIdentity, state: ChatState, stored: ToolResultBlock | null): CallRow {
  const known = state.calls[call.callId];
  const result = known?.result ?? stored;
  const asks = waitingCalls(state).includes(call.callId);
  const idle = state.turnId === null ? "interrupted" : "writing";
  const status = result?.status ?? (asks ? "approval" : (known?.status ?? idle));
  const running = status === "running";
  return {
    kind: "call",
    key: call.callId,
    ...call,
    status,
    output: running ? (known?.output ?? "") : "",
    result,
    startedAt: running ? (known?.startedAt ?? null) : null,
    durationMs: result?.duration_ms ?? null,
  };
}

const QUIET = new Set(["read", "list", "glob", "grep"]);
const MIN_GROUP = 3;

/** Three or more finished look-ups in a row become one line, "Explored 6 files". */
export function groupCalls(rows: readonly Row[]): Row[] {
  const result: Row[] = [];
  let run: CallRow[] = [];
  const close = (): void => {
    if (run.length >= MIN_GROUP) result.push({ kind: "group", key: `group:${run[0]!.key}`, calls: run });
    else result.push(...run);
    run = [];
  };
  for (const row of rows) {
    if (row.kind === "call" && QUIET.has(row.name) && row.status === "ok") {
      run.push(row);
    } else {
      close();
      result.push(row);
    }
  }
  close();
  return result;
}
