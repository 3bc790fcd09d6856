/** What a state is made of: sums, and messages and their requests by id. */
import type { Message, StepFinished } from "../../protocol.gen";

/** A sum over what is known. */
export function plus(sum: number | null, cost: number | null): number | null {
  return cost === null ? sum : (sum ?? 0) + cost;
}

/** Requests by the message that is their answer. */
export function byMessage(steps: readonly StepFinished[]): Record<string, StepFinished> {
  return Object.fromEntries(steps.map((step) => [step.message_id, step]));
}

/** Known children by parent. */
export function childrenOf(
  messages: readonly Message[],
  siblings: Readonly<Record<string, readonly string[] | undefined>>,
): Record<string, readonly string[]> {
  const children: Record<string, readonly string[]> = {};
  for (const message of messages) children[message.parent_id ?? ""] = siblings[message.id] ?? [message.id];
  return children;
}
