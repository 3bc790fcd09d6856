/**
 * The place in one chat's event log up to which this tab has seen everything (P2).
 *
 * `accept` says what to do with an event: take it, drop it as known, or ask the server again because
 * something between is missing.
 */
import type { EventFrame } from "../../protocol.gen";

export type Verdict = "take" | "known" | "gap" | "overlap";

export class Cursor {
  #seq: number | null;

  /** `null`: nothing is known yet, only a snapshot can begin. */
  constructor(seq: number | null = null) {
    this.#seq = seq;
  }

  get seq(): number | null {
    return this.#seq;
  }

  accept(frame: Pick<EventFrame, "seq"> & { from_seq?: number | null }): Verdict {
    const first = frame.from_seq ?? frame.seq;
    if (this.#seq === null) return "gap";
    if (frame.seq <= this.#seq) return "known";
    if (first > this.#seq + 1) return "gap";
    // A run of rows that was joined after this tab had read half of it: only a snapshot tells the rest.
    if (first <= this.#seq) return "overlap";
    this.#seq = frame.seq;
    return "take";
  }

  reset(seq: number | null): void {
    this.#seq = seq;
  }
}
