import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Cursor } from "./cursor";
import { event, FakeSocket, last, make, recorder, snapshot } from "./fake";

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.opened = [];
});
afterEach(() => {
  vi.useRealTimers();
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
    const asks = last()
      .actions("subscribe")
      .filter((frame) => frame["session_id"] === "s_1");
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
    last().receive({
      type: "error",
      id: last().actions("subscribe").at(-1)!["id"],
      code: "unknown_session",
      message: "no",
    });
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
