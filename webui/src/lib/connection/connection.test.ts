import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Event as ChatEvent, Snapshot } from "../../protocol.gen";
import { Connection, HANDSHAKE_MS, PROTOCOL, SILENCE_MS, WAKE_MS, type LinkStatus, type Subscriber } from "./connection";
import { Cursor } from "./cursor";
import { transition, type LinkState } from "./machine";
import type { RequestError } from "./types";

/** A socket whose other end is the test. */
class FakeSocket {
  static opened: FakeSocket[] = [];
  sent: Record<string, unknown>[] = [];
  closed = false;
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((close: { code: number }) => void) | null = null;

  constructor(
    readonly url: string,
    readonly protocol: string,
  ) {
    FakeSocket.opened.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.closed = true;
  }

  receive(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  hello(version = PROTOCOL): void {
    this.onopen?.();
    this.receive({ type: "hello", version });
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }

  actions(name: string): Record<string, unknown>[] {
    return this.sent.filter((frame) => frame["action"] === name);
  }
}

const last = (): FakeSocket => FakeSocket.opened.at(-1)!;

function make(probe: () => Promise<"unauthorised" | "unknown"> = () => Promise.resolve("unknown")): {
  link: Connection;
  states: LinkState[];
  errors: string[];
} {
  const states: LinkState[] = [];
  const errors: string[] = [];
  const link = new Connection({
    url: "ws://test/ws",
    openSocket: (url, protocol) => new FakeSocket(url, protocol) as unknown as WebSocket,
    probe,
    onStatus: (status: LinkStatus) => states.push(status.state),
    onHello: () => undefined,
    onHint: () => undefined,
    onError: (error) => errors.push(error.code),
    random: () => 1,
  });
  return { link, states, errors };
}

function recorder(): Subscriber & { seen: number[]; snapshots: number[]; refusals: string[] } {
  const seen: number[] = [];
  const snapshots: number[] = [];
  const refusals: string[] = [];
  return {
    seen,
    snapshots,
    refusals,
    event: (_event, _at, seq) => seen.push(seq),
    snapshot: (frame) => snapshots.push(frame.seq),
    refused: (error) => refusals.push(error.code),
  };
}

const event = (seq: number, from_seq?: number): object => ({ type: "event", session_id: "s_1", seq, ...(from_seq === undefined ? {} : { from_seq }), at: "", event: { type: "notice" } as ChatEvent });
const snapshot = (seq: number): object => ({ type: "snapshot", session_id: "s_1", seq, state: {} }) as Partial<Snapshot>;

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

describe("actions", () => {
  test("an unanswered action is sent again after a reconnect with the same id, in order (P5)", async () => {
    const { link } = make();
    link.start();
    last().hello();
    const first = link.request({ action: "rename_session", session_id: "s_1", title: "a" });
    const second = link.request({ action: "pin_session", session_id: "s_1", value: true });
    const sent = last().sent.slice(-2);
    last().receive({ type: "ack", id: sent[0]!["id"] });
    await first;
    last().drop();
    link.wake();
    last().hello();
    expect(last().sent.slice(-1)).toEqual([sent[1]]);
    last().receive({ type: "ack", id: sent[1]!["id"] });
    last().receive({ type: "ack", id: sent[1]!["id"] }); // the first answer was only late
    await second;
    last().drop();
    link.wake();
    last().hello();
    expect(last().sent).toHaveLength(1); // the sidebar's subscription, nothing else
  });

  test("an action made while the link is down goes out when it is back", async () => {
    const { link } = make();
    link.start();
    const done = link.request({ action: "stop", session_id: "s_1" });
    last().hello();
    const [frame] = last().actions("stop");
    last().receive({ type: "ack", id: frame!["id"] });
    await expect(done).resolves.toMatchObject({ type: "ack" });
  });

  test("a refusal carries code, message, field and hint", async () => {
    const { link, errors } = make();
    link.start();
    last().hello();
    const done = link.request({ action: "set_tools_profile", session_id: "s_1", toolset: "reserch" });
    const [frame] = last().actions("set_tools_profile");
    last().receive({ type: "error", id: frame!["id"], code: "unknown_preset", message: "no", field: "toolset", hint: "research?" });
    await expect(done).rejects.toMatchObject({ code: "unknown_preset", field: "toolset", hint: "research?" });
    expect(errors).toEqual([]);
    last().receive({ type: "error", code: "bad_json", message: "x" });
    expect(errors).toEqual(["bad_json"]);
  });

  test("a frame that is too large fails instead of closing every next socket too", async () => {
    const { link } = make();
    link.start();
    last().hello();
    const large = link.request({ action: "chat", text: "x".repeat(1000) });
    const small = link.request({ action: "stop", session_id: "s_1" });
    const failed = large.catch((error: RequestError) => error.code);
    last().drop(1009);
    expect(await failed).toBe("too_large");
    link.wake();
    last().hello();
    expect(last().actions("chat")).toEqual([]);
    last().receive({ type: "ack", id: last().actions("stop")[0]!["id"] });
    await small;
  });

  test("stopping the link ends what is waiting", async () => {
    const { link } = make();
    link.start();
    const done = link.request({ action: "stop", session_id: "s_1" }).catch((error: RequestError) => error.code);
    link.stop();
    expect(await done).toBe("stopped");
    expect(link.state).toBe("stopped");
  });
});

describe("numbered events (P2)", () => {
  test("begins with a snapshot and resumes after the last event it saw", () => {
    const { link } = make();
    const to = recorder();
    link.start();
    last().hello();
    link.subscribe("s_1", to);
    expect(last().actions("subscribe").at(-1)).toMatchObject({ session_id: "s_1", after_seq: 0, snapshot: true });
    last().receive(snapshot(7));
    last().receive(event(8));
    last().receive(event(11, 9));
    last().drop();
    link.wake();
    last().hello();
    expect(last().actions("subscribe").at(-1)).toMatchObject({ session_id: "s_1", after_seq: 11 });
    last().receive(event(11));
    last().receive(event(12));
    expect(to.snapshots).toEqual([7]);
    expect(to.seen).toEqual([8, 11, 12]);
  });

  test("a gap asks once, and takes nothing until it is filled", () => {
    const { link } = make();
    const to = recorder();
    link.start();
    last().hello();
    link.subscribe("s_1", to);
    last().receive(snapshot(1));
    last().receive(event(3));
    last().receive(event(4));
    const asks = last().actions("subscribe").filter((frame) => frame["session_id"] === "s_1");
    expect(asks).toHaveLength(2);
    expect(asks[1]).toMatchObject({ after_seq: 1 });
    for (const seq of [2, 3, 4, 5]) last().receive(event(seq));
    expect(to.seen).toEqual([2, 3, 4, 5]);
  });

  test("a run that was joined around our place asks for a snapshot", () => {
    const { link } = make();
    const to = recorder();
    link.start();
    last().hello();
    link.subscribe("s_1", to);
    last().receive(snapshot(5));
    last().receive({ type: "ack", id: last().actions("subscribe").at(-1)!["id"], session_id: "s_1", seq: 5 });
    last().receive(event(9, 4));
    expect(to.seen).toEqual([]);
    expect(last().actions("subscribe").at(-1)).toMatchObject({ snapshot: true });
  });

  test("a chat that may not be read says so and is not asked for again", () => {
    const { link } = make();
    const to = recorder();
    link.start();
    last().hello();
    link.subscribe("s_1", to);
    last().receive({ type: "error", id: last().actions("subscribe").at(-1)!["id"], code: "unknown_session", message: "no" });
    expect(to.refusals).toEqual(["unknown_session"]);
    last().drop();
    link.wake();
    last().hello();
    expect(last().actions("subscribe")).toHaveLength(1);
  });

  test("after unsubscribing nothing arrives any more", () => {
    const { link } = make();
    const to = recorder();
    link.start();
    last().hello();
    const end = link.subscribe("s_1", to);
    last().receive(snapshot(1));
    end();
    last().receive(event(2));
    expect(to.seen).toEqual([]);
    expect(last().actions("unsubscribe")).toMatchObject([{ session_id: "s_1" }]);
  });

  test("whatever is lost, repeated or joined, each event is taken once and in order", () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 4 })), { maxLength: 60 });
    fc.assert(
      fc.property(runs, (frames) => {
        const cursor = new Cursor(0);
        let covered = 0;
        for (const [from_seq, length] of frames) {
          const frame = { from_seq, seq: from_seq + length };
          if (cursor.accept(frame) === "take") {
            expect(frame.from_seq).toBe(covered + 1);
            covered = frame.seq;
          }
          expect(cursor.seq).toBe(covered);
        }
      }),
    );
  });
});
