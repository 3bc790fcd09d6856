import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HANDSHAKE_MS, PROTOCOL, SILENCE_MS, WAKE_MS } from "./connection";
import { FakeSocket, last, make } from "./fake";
import { transition } from "./machine";

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.opened = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the link", () => {
  test("asks for the protocol by name and is ready only after hello", () => {
    const { link, states } = make();
    link.start();
    expect(last().protocol).toBe("openprogram.v1");
    last().onopen?.();
    expect(states).toEqual(["connecting", "greeting"]);
    last().receive({ type: "hello", version: PROTOCOL });
    expect(link.state).toBe("ready");
    expect(last().actions("subscribe")).toMatchObject([{ session_id: null }]);
  });

  test("a handshake that hangs is given up after ten seconds", () => {
    const { link } = make();
    link.start();
    const first = last();
    vi.advanceTimersByTime(HANDSHAKE_MS);
    expect(first.closed).toBe(true);
    expect(link.state).toBe("waiting");
  });

  test("silence of 25 seconds is a loss, and a ping in time is not (P10)", () => {
    const { link } = make();
    link.start();
    last().hello();
    for (let beat = 0; beat < 5; beat++) {
      vi.advanceTimersByTime(10_000);
      last().receive({ type: "ping", at: "" });
    }
    expect(link.state).toBe("ready");
    vi.advanceTimersByTime(SILENCE_MS - 1);
    expect(link.state).toBe("ready");
    vi.advanceTimersByTime(1);
    expect(link.state).toBe("waiting");
  });

  test("attempts move apart, up to fifteen seconds, and begin anew after a success", () => {
    const { link } = make();
    link.start();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      last().drop();
      const before = FakeSocket.opened.length;
      const start = Date.now();
      while (FakeSocket.opened.length === before) vi.advanceTimersByTime(100);
      waits.push(Date.now() - start);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 15000, 15000, 15000]);
    last().hello();
    last().drop();
    vi.advanceTimersByTime(500);
    expect(link.state).toBe("connecting");
  });

  test("waking up checks at once: it reconnects, or asks for a sign of life", () => {
    const { link } = make();
    link.start();
    last().drop();
    link.wake();
    expect(link.state).toBe("connecting");
    last().hello();
    link.wake();
    expect(last().actions("ping")).toHaveLength(1);
    vi.advanceTimersByTime(WAKE_MS);
    expect(link.state).toBe("waiting");
    link.wake();
    last().hello();
    link.wake();
    last().receive({ type: "pong", id: "x" });
    vi.advanceTimersByTime(WAKE_MS);
    expect(link.state).toBe("ready");
  });

  test("4401 and a refused upgrade both end in the sign-in, not in endless attempts", async () => {
    const closed = make();
    closed.link.start();
    last().hello();
    last().drop(4401);
    expect(closed.link.state).toBe("refused");
    const refused = make(() => Promise.resolve("unauthorised"));
    refused.link.start();
    last().drop(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(refused.link.state).toBe("refused");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(refused.link.state).toBe("refused");
  });

  test("another protocol version is said (P16)", () => {
    const { link } = make();
    link.start();
    last().hello("openprogram.v2");
    expect(link.state).toBe("incompatible");
  });

  test("a late word from a socket that was given up is ignored", () => {
    const { link } = make();
    link.start();
    const first = last();
    first.drop();
    link.wake();
    last().hello();
    first.drop();
    first.receive({ type: "hello", version: "other" });
    expect(link.state).toBe("ready");
  });

  test("impossible transitions are errors", () => {
    expect(() => transition("stopped", "connecting")).toThrow("cannot go");
    expect(() => transition("idle", "ready")).toThrow("cannot go");
  });
});
