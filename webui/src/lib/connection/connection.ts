/**
 * The one WebSocket of this tab: greeting, acknowledged actions, numbered events, heartbeat, reconnect.
 *
 * Promises kept here: P2 (each event once, in order), P5 (an action sent twice has one effect), P10
 * (25 s of silence is a loss), P16 (another protocol version is said, not stumbled over).
 */
import type { Ack, ErrorFrame, EventFrame, ServerFrame, Snapshot } from "../../protocol.gen";
import { Cursor } from "./cursor";
import { randomId } from "./id";
import { transition, type LinkState } from "./machine";
import type { ConnectionOptions, Subscriber } from "./options";
import { PendingActions } from "./pending";
import { RequestError, type AckOf, type ActionBody, type ActionName } from "./types";

export const PROTOCOL = "openprogram.v1";
export const SILENCE_MS = 25_000;
export const HANDSHAKE_MS = 10_000;
/** How long an answer to our own ping may take when the tab wakes up. */
export const WAKE_MS = 3_000;
const BACKOFF_MS = { first: 500, factor: 2, max: 15_000 } as const;
const CLOSE = { unauthorised: 4401, tooLarge: 1009 } as const;

interface Subscription {
  readonly cursor: Cursor;
  readonly to: Subscriber;
  /** Events of an older request may still be under way: one request to fill a gap is enough. */
  asking: boolean;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #pending = new PendingActions();
  readonly #subscriptions = new Map<string, Subscription>();
  /** Unanswered `subscribe`s by id. They are not sent again as they were: a reconnect asks from where we are by then. */
  readonly #asked = new Map<string, { sessionId: string; subscription: Subscription }>();
  #state: LinkState = "idle";
  #attempt = 0;
  #socket: WebSocket | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #watchdog: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Begin, or begin again after `refused` and `incompatible`. */
  start(): void {
    this.#connect();
  }

  /** End for good. Unanswered actions fail with `stopped`. */
  stop(): void {
    if (this.#state === "stopped") return;
    this.#clearTimers();
    this.#go("stopped");
    this.#dropSocket();
    this.#pending.failAll(new RequestError({ code: "stopped", message: "The connection was closed." }));
  }

  /** The tab came to the front or the network came back: find out at once whether the link is alive. */
  wake(): void {
    if (this.#state === "waiting") {
      this.#connect();
    } else if (this.#state === "ready") {
      this.#send(JSON.stringify({ action: "ping", id: this.#newId() }));
      this.#watch(WAKE_MS);
    }
  }

  /** Send an action; resolves with its ack, however many reconnects that takes. Rejects with `RequestError`. */
  request<B extends ActionBody>(body: B): Promise<AckOf<B["action"] & ActionName>> {
    const { text, answered } = this.#pending.add(this.#newId(), body);
    if (this.#state === "ready") this.#send(text);
    return answered as unknown as Promise<AckOf<B["action"] & ActionName>>;
  }

  /** Follow a chat: a snapshot first, then every event once, in order. Returns how to end it. */
  subscribe(sessionId: string, to: Subscriber): () => void {
    const subscription: Subscription = { cursor: new Cursor(), to, asking: false };
    this.#subscriptions.set(sessionId, subscription);
    if (this.#state === "ready") this.#ask(sessionId, subscription);
    return () => {
      if (this.#subscriptions.get(sessionId) !== subscription) return;
      this.#subscriptions.delete(sessionId);
      if (this.#state === "ready") {
        this.#send(JSON.stringify({ action: "unsubscribe", id: this.#newId(), session_id: sessionId }));
      }
    };
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#go("connecting");
    const open = this.#options.openSocket ?? ((url, protocol) => new WebSocket(url, protocol));
    const socket = open(this.#options.url, PROTOCOL);
    this.#socket = socket;
    this.#watch(HANDSHAKE_MS);
    socket.onopen = () => {
      if (socket === this.#socket) this.#go("greeting");
    };
    socket.onmessage = (message: MessageEvent) => {
      if (socket === this.#socket) this.#receive(JSON.parse(String(message.data)) as ServerFrame);
    };
    socket.onclose = (close: CloseEvent) => {
      if (socket === this.#socket) this.#lost(close.code);
    };
  }

  #lost(code: number): void {
    const greeted = this.#state === "ready";
    this.#clearTimers();
    this.#dropSocket();
    this.#asked.clear();
    if (code === CLOSE.tooLarge) {
      this.#pending.failLargest(
        new RequestError({ code: "too_large", message: "That is larger than the server takes." }),
      );
    }
    if (code === CLOSE.unauthorised) {
      this.#go("refused");
      return;
    }
    this.#go("waiting");
    this.#retry = setTimeout(() => this.#connect(), this.#delay());
    this.#attempt += 1;
    if (!greeted) void this.#explain();
  }

  /** A browser does not say why an upgrade failed; a plain request does. */
  async #explain(): Promise<void> {
    const reason = await this.#options.probe();
    if (reason !== "unauthorised" || this.#state !== "waiting") return;
    this.#clearTimers();
    this.#go("refused");
  }

  #delay(): number {
    const full = Math.min(BACKOFF_MS.max, BACKOFF_MS.first * BACKOFF_MS.factor ** this.#attempt);
    return full / 2 + ((this.#options.random ?? Math.random)() * full) / 2;
  }

  #receive(frame: ServerFrame): void {
    if (this.#state === "greeting") {
      this.#greet(frame);
      return;
    }
    this.#watch(SILENCE_MS);
    switch (frame.type) {
      case "event":
        this.#event(frame);
        return;
      case "snapshot":
        this.#snapshot(frame);
        return;
      case "ack":
        if (!this.#answerAsk(frame)) this.#pending.settle(frame);
        return;
      case "error":
        if (!this.#answerAsk(frame) && !this.#pending.settle(frame)) this.#options.onError(frame);
        return;
      case "hint":
        this.#options.onHint(frame);
        return;
      case "ping":
      case "pong":
      case "hello":
        return;
    }
  }

  #greet(frame: ServerFrame): void {
    if (frame.type !== "hello" || frame.version !== PROTOCOL) {
      this.#clearTimers();
      this.#go("incompatible");
      this.#dropSocket();
      return;
    }
    this.#attempt = 0;
    this.#go("ready");
    this.#watch(SILENCE_MS);
    this.#send(JSON.stringify({ action: "subscribe", id: this.#newId(), session_id: null }));
    for (const [sessionId, subscription] of this.#subscriptions) this.#ask(sessionId, subscription);
    for (const text of this.#pending.frames) this.#send(text);
    this.#options.onHello(frame);
  }

  #event(frame: EventFrame): void {
    const subscription = this.#subscriptions.get(frame.session_id);
    if (subscription === undefined) return;
    const verdict = subscription.cursor.accept(frame);
    if (verdict === "take") {
      subscription.asking = false;
      subscription.to.event(frame.event, frame.at, frame.seq);
    } else if (verdict !== "known" && !subscription.asking) {
      if (verdict === "overlap") subscription.cursor.reset(null);
      this.#ask(frame.session_id, subscription);
    }
  }

  #snapshot(frame: Snapshot): void {
    const subscription = this.#subscriptions.get(frame.session_id);
    if (subscription === undefined) return;
    subscription.asking = false;
    subscription.cursor.reset(frame.seq);
    subscription.to.snapshot(frame);
  }

  #ask(sessionId: string, subscription: Subscription): void {
    subscription.asking = true;
    const id = this.#newId();
    const after = subscription.cursor.seq;
    const body = after === null ? { after_seq: 0, snapshot: true } : { after_seq: after };
    this.#asked.set(id, { sessionId, subscription });
    this.#send(JSON.stringify({ action: "subscribe", id, session_id: sessionId, ...body }));
  }

  /** The answer to a `subscribe`; false if it answers something else. */
  #answerAsk(frame: Ack | ErrorFrame): boolean {
    const asked = frame.id == null ? undefined : this.#asked.get(frame.id);
    if (asked === undefined || frame.id == null) return false;
    this.#asked.delete(frame.id);
    const { sessionId, subscription } = asked;
    subscription.asking = false;
    if (frame.type === "error" && this.#subscriptions.get(sessionId) === subscription) {
      this.#subscriptions.delete(sessionId);
      subscription.to.refused(new RequestError(frame));
    }
    return true;
  }

  /** Give up on the socket when nothing is heard for `ms`. */
  #watch(ms: number): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#lost(0), ms);
  }

  #send(text: string): void {
    this.#socket?.send(text);
  }

  #dropSocket(): void {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #clearTimers(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#watchdog);
  }

  #go(to: LinkState): void {
    this.#state = transition(this.#state, to);
    this.#options.onStatus({ state: to, attempt: this.#attempt });
  }

  #newId(): string {
    return (this.#options.newId ?? randomId)();
  }
}
