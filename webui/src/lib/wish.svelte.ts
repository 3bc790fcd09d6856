/**
 * What the user just chose, shown at once, until the server's own word about it arrives or it refuses.
 *
 * Wishes are counted: a late answer to an earlier click does not undo a later one.
 */
export class Wish<T> {
  #value = $state.raw<{ readonly wanted: T } | null>(null);
  #until: number | null = null;
  #open = 0;

  /** Undefined when nothing is wished. */
  get value(): T | undefined {
    return this.#value === null ? undefined : this.#value.wanted;
  }

  or(known: T): T {
    return this.#value === null ? known : this.#value.wanted;
  }

  make(wanted: T): void {
    this.#open += 1;
    this.#until = null;
    this.#value = { wanted };
  }

  /** The server took it as `revision`; `known` is the newest revision that this tab has seen. */
  granted(revision: number, known: number): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#until = revision;
    this.seen(known);
  }

  seen(revision: number): void {
    if (this.#until !== null && revision >= this.#until) this.#clear();
  }

  /** For values without a revision: fulfilled when the server says the same. */
  matches(known: T): void {
    if (this.#value !== null && this.#value.wanted === known) this.#clear();
  }

  /** The server refused. */
  drop(): void {
    this.#open = Math.max(0, this.#open - 1);
    if (this.#open === 0) this.#clear();
  }

  #clear(): void {
    this.#open = 0;
    this.#until = null;
    this.#value = null;
  }
}
