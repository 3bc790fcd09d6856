/** The states of the link to the server, and the only ways from one to the next. */

export type LinkState =
  /** Not started. */
  | "idle"
  /** The socket is being opened. */
  | "connecting"
  /** The socket is open, `hello` has not come yet. */
  | "greeting"
  /** Frames flow. */
  | "ready"
  /** Lost; another attempt is scheduled. */
  | "waiting"
  /** The server does not accept this browser's credential. */
  | "refused"
  /** The server speaks another version of the protocol. */
  | "incompatible"
  /** Ended for good by the program itself. */
  | "stopped";

const ways: Readonly<Record<LinkState, readonly LinkState[]>> = {
  idle: ["connecting", "stopped"],
  connecting: ["greeting", "waiting", "refused", "stopped"],
  greeting: ["ready", "waiting", "refused", "incompatible", "stopped"],
  ready: ["waiting", "refused", "stopped"],
  waiting: ["connecting", "refused", "stopped"],
  refused: ["connecting", "stopped"],
  incompatible: ["connecting", "stopped"],
  stopped: [],
};

/** The next state; throws on a way that does not exist, which is a bug and never a condition of the network. */
export function transition(from: LinkState, to: LinkState): LinkState {
  if (!ways[from].includes(to)) throw new Error(`the link cannot go from ${from} to ${to}`);
  return to;
}
