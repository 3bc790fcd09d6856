/**
 * Actions that the server has not answered yet.
 *
 * They are sent again after a reconnect with the same id, which makes them safe: the server applies an id
 * once (P5). Their order is kept.
 */
import type { ErrorFrame, Ack } from "../../protocol.gen";
import { RequestError, type ActionBody } from "./types";

interface Entry {
  readonly text: string;
  readonly resolve: (ack: Ack) => void;
  readonly reject: (error: RequestError) => void;
}

export class PendingActions {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  /** The frames to send again, oldest first. */
  get frames(): string[] {
    return [...this.#entries.values()].map((entry) => entry.text);
  }

  add(id: string, body: ActionBody): { text: string; answered: Promise<Ack> } {
    const text = JSON.stringify({ ...body, id });
    const answered = new Promise<Ack>((resolve, reject) => {
      this.#entries.set(id, { text, resolve, reject });
    });
    return { text, answered };
  }

  /** Whether the frame answered something that was waiting; a second answer to the same id is nothing new. */
  settle(frame: Ack | ErrorFrame): boolean {
    const entry = frame.id == null ? undefined : this.#entries.get(frame.id);
    if (entry === undefined || frame.id == null) return false;
    this.#entries.delete(frame.id);
    if (frame.type === "ack") entry.resolve(frame);
    else entry.reject(new RequestError(frame));
    return true;
  }

  /** The socket was closed because a frame was too large: it must be the largest, and must not be sent again. */
  failLargest(error: RequestError): void {
    const largest = [...this.#entries].sort((a, b) => b[1].text.length - a[1].text.length)[0];
    if (largest === undefined) return;
    this.#entries.delete(largest[0]);
    largest[1].reject(error);
  }

  failAll(error: RequestError): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    for (const entry of entries) entry.reject(error);
  }
}
