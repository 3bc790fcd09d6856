/** Messages of this tab that the server does not show yet. */
import type { ChatState } from "./chat";
import type { Outgoing, Row } from "./row-types";

/** What a chat looks like as far as it matters to what is on its way. */
type Shown = Pick<ChatState, "messages" | "queue">;

/** Whether a message on its way is shown where it will wait: in the queue of the turn that runs. */
export function joinsQueue(entry: Outgoing, state: ChatState): boolean {
  const meant = entry.queued || (entry.whileRunning && entry.messageId === null);
  return meant && entry.failed === null && state.turnId !== null;
}

/** A message that is on its way; what was written later stands below everything. */
export function outgoingRow(entry: Outgoing): Row {
  const pending = entry.messageId === null && entry.failed === null;
  return { kind: "outgoing", key: entry.key, outgoing: entry, text: entry.text, failed: entry.failed, pending };
}

/** Without what the server shows by now, or, once it has `told` more, has in its queue: the pill is there then. */
export function stillOutgoing(outgoing: readonly Outgoing[], shown: Shown | null, told: boolean): readonly Outgoing[] {
  const known = new Set([...(shown?.messages ?? []), ...(shown?.queue ?? [])].map(({ id }) => id));
  const left = outgoing.filter(
    ({ messageId, queued }) => messageId === null || !(known.has(messageId) || (told && queued)),
  );
  return left.length === outgoing.length ? outgoing : left;
}
