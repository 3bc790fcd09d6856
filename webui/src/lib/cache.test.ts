import { describe, expect, test } from "vitest";
import type { CacheStep } from "../protocol.gen";
import { around, dollars, left, parts, percent, size, slices } from "./cache";

function step(usage: Partial<NonNullable<CacheStep["usage"]>> | null): CacheStep {
  const none = { uncached: null, cache_read: null, cache_write_5m: null, cache_write_1h: null, output: null };
  return { usage: usage === null ? null : { ...none, reasoning: null, ...usage } } as CacheStep;
}

describe("a request's bar", () => {
  test("what a provider does not report is unknown, and no part of the bar", () => {
    expect(parts(step({ uncached: 10, output: 2 }))).toEqual({ read: null, written: null, uncached: 10, output: 2 });
    expect(parts(step(null)).uncached).toBeNull();
    expect(size(step({ uncached: 10, output: 2 }))).toBe(12);
  });

  test("writes of both lifetimes are written", () => {
    expect(parts(step({ cache_write_5m: 3, cache_write_1h: 4 })).written).toBe(7);
  });

  test("the parts follow each other, in hundredths of the longest bar", () => {
    const bar = slices(step({ cache_read: 50, cache_write_5m: 25, uncached: 5, output: 20 }), 200);
    expect(bar.map(({ part, x, width }) => [part, x, width])).toEqual([
      ["read", 0, 25],
      ["written", 25, 12.5],
      ["uncached", 37.5, 2.5],
      ["output", 40, 10],
    ]);
    expect(slices(step({ uncached: 0 }), 0).every(({ width }) => width === 0)).toBe(true);
  });
});

test("a text is cut around whole characters", () => {
  expect(around("a😀bc", 2)).toEqual(["a😀", "b", "c"]);
  expect(around("ab", 2)).toEqual(["ab", "", ""]);
});

test("shares, prices and the time that is left are short", () => {
  expect([percent(1), percent(0), percent(0.987)]).toEqual(["100 %", "0 %", "98.7 %"]);
  expect([dollars(0), dollars(0.00001), dollars(0.0123), dollars(1.5)]).toEqual(["$0", "<$0.0001", "$0.0123", "$1.50"]);
  const now = Date.parse("2026-01-01T00:00:00Z");
  expect(left(now + 249_500, now)).toBe("4:10");
  expect(left(now, now)).toBeNull();
});
