/** Chats by age, as calendar days of the reader. */
import type { SessionInfo } from "../protocol.gen";

export type Age = "pinned" | "today" | "yesterday" | "week" | "month" | "older";

export interface Group {
  readonly age: Age;
  readonly sessions: readonly SessionInfo[];
}

const order: readonly Age[] = ["pinned", "today", "yesterday", "week", "month", "older"];

export function ageOf(at: string, now: Date): Age {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const then = new Date(at);
  const daysBefore = (days: number): Date =>
    new Date(midnight.getFullYear(), midnight.getMonth(), midnight.getDate() - days);
  if (then >= midnight) return "today";
  if (then >= daysBefore(1)) return "yesterday";
  if (then >= daysBefore(7)) return "week";
  return then >= daysBefore(30) ? "month" : "older";
}

export function groupByDate(sessions: readonly SessionInfo[], now: Date): readonly Group[] {
  const byAge = new Map<Age, SessionInfo[]>();
  for (const session of sessions) {
    const age = session.pinned ? "pinned" : ageOf(session.updated_at, now);
    byAge.set(age, [...(byAge.get(age) ?? []), session]);
  }
  return order.flatMap((age) => {
    const found = byAge.get(age);
    return found === undefined ? [] : [{ age, sessions: found }];
  });
}
