import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Batch, type Frames } from "./batch";

class FakeFrames implements Frames {
  time = 1_000;
  #callbacks = new Map<number, () => void>();
  #next = 1;
  now(): number {
    return this.time;
  }
  frame(callback: () => void): number {
    this.#callbacks.set(this.#next, callback);
    return this.#next++;
  }
  cancelFrame(handle: number): void {
    this.#callbacks.delete(handle);
  }
  tick(ms: number): void {
    this.time += ms;
    const due = [...this.#callbacks.values()];
    this.#callbacks.clear();
    for (const callback of due) callback();
  }
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("items go over together, in order, at most about thirty times a second", () => {
  const frames = new FakeFrames();
  const batches: number[][] = [];
  const batch = new Batch<number>((items) => batches.push([...items]), frames);
  let item = 0;
  for (let frame = 0; frame < 60; frame++) {
    batch.add(item++);
    batch.add(item++);
    frames.tick(1000 / 60);
  }
  batch.flush();
  expect(batches.flat()).toEqual(Array.from({ length: 120 }, (_, index) => index));
  expect(batches.length).toBeLessThanOrEqual(32);
});

test("a hidden tab, which gets no frames, still keeps up", () => {
  const batches: number[][] = [];
  const batch = new Batch<number>((items) => batches.push([...items]), new FakeFrames());
  batch.add(1);
  vi.advanceTimersByTime(250);
  expect(batches).toEqual([[1]]);
});

test("what is cleared is not handed over", () => {
  const batches: number[][] = [];
  const batch = new Batch<number>((items) => batches.push([...items]), new FakeFrames());
  batch.add(1);
  batch.clear();
  vi.advanceTimersByTime(1_000);
  expect(batches).toEqual([]);
});
