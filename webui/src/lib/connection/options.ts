/** What a connection is given and what it tells. */
import type { ErrorFrame, Event as ChatEvent, Hello, HintFrame, Snapshot } from "../../protocol.gen";
import type { LinkState } from "./machine";
import type { RequestError } from "./types";

export interface LinkStatus {
  readonly state: LinkState;
  /** Attempts since the link was last ready. */
  readonly attempt: number;
}

export interface Subscriber {
  event(event: ChatEvent, at: string, seq: number): void;
  snapshot(snapshot: Snapshot): void;
  /** The server does not let this tab read the chat (deleted, someone else's). */
  refused(error: RequestError): void;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly openSocket?: (url: string, protocol: string) => WebSocket;
  /** Ask over HTTP why the socket does not open; browsers hide the status of a refused upgrade. */
  readonly probe: () => Promise<"unauthorised" | "unknown">;
  readonly onStatus: (status: LinkStatus) => void;
  readonly onHello: (hello: Hello) => void;
  readonly onHint: (hint: HintFrame) => void;
  /** An error that answers no action of ours. */
  readonly onError: (error: ErrorFrame) => void;
  readonly random?: () => number;
  readonly newId?: () => string;
}
