/**
 * Collects events and hands them over together, at most about thirty times a second and inside an animation
 * frame. A hidden tab gets no frames, so a timer stands behind them.
 */

const INTERVAL_MS = 33;
const HIDDEN_MS = 250;

export interface Frames {
  now(): number;
  frame(callback: () => void): number;
  cancelFrame(handle: number): void;
}

const browserFrames: Frames = {
  now: () => performance.now(),
  frame: (callback) => requestAnimationFrame(callback),
  cancelFrame: (handle) => cancelAnimationFrame(handle),
};

export class Batch<T> {
  readonly #apply: (items: readonly T[]) => void;
  readonly #frames: Frames;
  #items: T[] = [];
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = -Infinity;

  constructor(apply: (items: readonly T[]) => void, frames: Frames = browserFrames) {
    this.#apply = apply;
    this.#frames = frames;
  }

  /** Add an item; it is handed over within a frame or two. */
  add(item: T): void {
    this.#items.push(item);
    if (this.#frame === null) this.#schedule();
  }

  /** Hand over what is there, now. */
  flush(): void {
    if (this.#frame !== null) this.#frames.cancelFrame(this.#frame);
    this.#frame = null;
    clearTimeout(this.#timer);
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#last = this.#frames.now();
    this.#apply(items);
  }

  /** Forget what is there. */
  clear(): void {
    this.#items = [];
    this.flush();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => this.flush(), HIDDEN_MS);
    this.#nextFrame();
  }

  #nextFrame(): void {
    this.#frame = this.#frames.frame(() => {
      if (this.#frames.now() - this.#last >= INTERVAL_MS - 8) this.flush();
      else this.#nextFrame();
    });
  }
}
