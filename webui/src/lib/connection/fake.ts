/** For tests: a socket, a connection over it, and a subscriber that writes down what it is told. */
import type { Event as ChatEvent, Snapshot } from "../../protocol.gen";
import { Connection, PROTOCOL } from "./connection";
import type { LinkState } from "./machine";
import type { LinkStatus, Subscriber } from "./options";

/** A socket whose other end is the test. */
export class FakeSocket {
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

export const last = (): FakeSocket => FakeSocket.opened.at(-1)!;

export function make(probe: () => Promise<"unauthorised" | "unknown"> = () => Promise.resolve("unknown")): {
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

export function recorder(): Subscriber & { seen: number[]; snapshots: number[]; refusals: string[] } {
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

export const event = (seq: number, from_seq?: number): object => ({
  type: "event",
  session_id: "s_1",
  seq,
  ...(from_seq === undefined ? {} : { from_seq }),
  at: "",
  event: { type: "notice" } as ChatEvent,
});
export const snapshot = (seq: number): object =>
  ({ type: "snapshot", session_id: "s_1", seq, state: {} }) as Partial<Snapshot>;
