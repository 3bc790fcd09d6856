/** One open chat: its state from the server, what was sent and not confirmed yet, and what can be done with it. */
import type { Event as ChatEvent, SessionInfo } from "../protocol.gen";
import { tick } from "svelte";
import { announce } from "./announce-event";
import { RequestError, randomId, type ActionBody, type Connection } from "./connection";
import { Batch } from "./state/batch";
import { fromSnapshot, reduce, waitingCalls, withBranch, withOlder, type ChatState } from "./state/chat";
import { joinsQueue, outgoingRow, stillOutgoing } from "./state/outgoing";
import { Prices } from "./prices.svelte";
import { errorLine } from "./server-words";
import { RowBuilder, type Outgoing, type Row } from "./state/rows";
import { toasts } from "./toasts.svelte";
import { ToolSwitches, type Switchable } from "./tool-switches.svelte";
import { Wish } from "./wish.svelte";

export type PermissionMode = SessionInfo["permission_mode"];
export type ApprovalDecision = "once" | "session" | "deny";

export interface ChatHost {
  readonly connection: Connection;
  /** A chat that did not exist has its id now; `sent` says whether by a message. */
  created(chat: ChatStore, sent: boolean): void;
  /** The server refused to show the chat. */
  refused(chat: ChatStore): void;
  /** Whether the link is up: else what is sent waits. */
  readonly linked: boolean;
}

type Stamped = { readonly event: ChatEvent; readonly at: string };
type Refusable = { readonly session_id: string };

export class ChatStore implements Switchable {
  readonly key = randomId();
  id = $state<string | null>(null);
  state = $state.raw<ChatState | null>(null);
  outgoing = $state.raw<readonly Outgoing[]>([]);
  gone = $state(false); // the server does not know this chat, or does not show it to this user
  fresh = $state(true);
  stopping = $state(false);
  loadingOlder = $state(false);
  prepending = $state(false); // rows are put in front: the view keeps its place counted from the end
  readonly expanded = $state<Record<string, boolean>>({}); // folded rows that were opened, while the chat is open
  editing = $state<string | null>(null); // the message being edited
  readonly #mode = new Wish<PermissionMode>();
  readonly #model = new Wish<string | null>();
  readonly connection: Connection;
  readonly tools: ToolSwitches = new ToolSwitches(this);
  readonly prices: Prices = new Prices(this);
  readonly #host: ChatHost;
  readonly #rows = new RowBuilder();
  readonly #batch = new Batch<Stamped>((items) => this.#apply(items));
  #leave: (() => void) | null = null;
  #creating: Promise<string> | null = null;
  #first: Promise<void> | null = null; // the messages of a chat that does not exist yet, one after the other

  readonly rows: readonly Row[] = $derived.by(() =>
    this.state === null ? this.outgoing.map(outgoingRow) : this.#rows.build(this.state, this.outgoing),
  );
  readonly joining: readonly Outgoing[] = $derived(
    // what this tab has sent to the queue and the server does not show there yet
    this.outgoing.filter((entry) => this.state !== null && joinsQueue(entry, this.state)),
  );
  readonly running: boolean = $derived(
    this.state === null ? this.outgoing.some((entry) => entry.messageId !== null) : this.state.turnId !== null,
  );
  readonly empty: boolean = $derived(this.rows.length === 0 && (this.id === null || this.state !== null));
  readonly mode: PermissionMode = $derived(this.#mode.or(this.state?.session.permission_mode ?? "ask"));
  readonly model: string | null = $derived(this.#model.or(this.state?.session.model ?? null));

  /** `fresh`: nothing was sent in it yet, whether it has an id or not; what is typed is for the next new chat. */
  constructor(host: ChatHost, id: string | null, fresh = id === null) {
    this.#host = host;
    this.fresh = fresh;
    this.connection = host.connection;
    if (id !== null) this.#follow(id);
  }

  close(): void {
    this.#leave?.();
    this.#leave = null;
    this.#batch.clear();
  }

  /** Make sure that the chat exists on the server, out of the sidebar until a message is sent. */
  ensure(): Promise<string> {
    if (this.id !== null) return Promise.resolve(this.id);
    this.#creating ??= this.#create().finally(() => (this.#creating = null));
    return this.#creating;
  }

  async #create(): Promise<string> {
    if (this.#first !== null) await this.#first; // a message that is on its way makes the chat
    if (this.id !== null) return this.id;
    const { session_id } = await this.connection.request({ action: "create_session" });
    if (this.id === null) this.#adopt(session_id, false);
    return this.id ?? session_id;
  }

  /** Send a message. While a turn runs, `steer` puts it in after the current step; otherwise it waits in the queue. */
  async send(text: string, mode: "send" | "steer" = "send"): Promise<void> {
    const entry = { key: randomId(), text, messageId: null, failed: null, queued: false, whileRunning: this.running };
    this.outgoing = [...this.outgoing, entry];
    this.fresh = false;
    if (this.id !== null) await this.#deliver(entry, mode);
    else {
      const made = this.#creating; // begun before: one begun later waits for this message
      const before = this.#first ?? Promise.resolve(); // one chat, not one for each
      await (this.#first = before.then(() => this.#deliver(entry, mode, made)));
    }
  }

  retry(entry: Outgoing): void {
    const again = { ...entry, failed: null, whileRunning: false };
    this.#replace(entry.key, again);
    void this.#deliver(again, "send");
  }

  discard(entry: Outgoing): void {
    this.outgoing = this.outgoing.filter((other) => other.key !== entry.key);
  }

  get linked(): boolean {
    return this.#host.linked;
  }

  /** Whether a tool is at work: ending it may leave things half done. One that waits for an answer is not. */
  get toolRuns(): boolean {
    const waiting = new Set(this.state === null ? [] : waitingCalls(this.state));
    return Object.entries(this.state?.calls ?? {}).some(([id, call]) => call.status === "running" && !waiting.has(id));
  }

  stop(): void {
    if (this.stopping) return;
    this.stopping = true;
    void this.#do(
      (session_id) => ({ action: "stop", session_id }),
      () => (this.stopping = false),
    );
  }

  setMode(mode: PermissionMode): void {
    this.#mode.make(mode);
    void this.#do(
      (session_id) => ({ action: "set_permission_mode", session_id, mode }),
      () => this.#mode.drop(),
    );
  }

  setModel(model: string | null): void {
    this.#model.make(model);
    void this.#do(
      (session_id) => ({ action: "set_model", session_id, model }),
      () => this.#model.drop(),
    );
  }

  answer(approvalId: string, decision: ApprovalDecision, note: string | null): void {
    void this.#do((session_id) => ({ action: "answer_approval", session_id, approval_id: approvalId, decision, note }));
  }

  answerQuestion(question_id: string, chosen: string[], text: string | null, undo: () => void): void {
    void this.#do((session_id) => ({ action: "answer_question", session_id, question_id, chosen, text }), undo);
  }

  continueTurn(): void {
    void this.#do((session_id) => ({ action: "continue_turn", session_id }));
  }

  /** Have the conversation so far summarised. */
  compact(): void {
    void this.#do((session_id) => ({ action: "compact", session_id }));
  }

  edit(messageId: string, text: string): void {
    this.editing = null;
    void this.#do((session_id) => ({ action: "edit_message", session_id, message_id: messageId, text }));
  }

  regenerate(messageId: string): void {
    void this.#do((session_id) => ({ action: "regenerate", session_id, message_id: messageId }));
  }

  selectBranch(messageId: string): void {
    void this.#do((session_id) => ({ action: "select_branch", session_id, message_id: messageId }));
  }

  editQueued(queuedId: string, text: string | null): void {
    void this.#do((session_id) => ({ action: "edit_queue", session_id, queued_id: queuedId, text }));
  }

  /** A message that waits although nothing runs any more goes out now. */
  sendQueued(queuedId: string): void {
    void this.#do((session_id) => ({ action: "edit_queue", session_id, queued_id: queuedId, text: null, send: true }));
  }

  async loadOlder(): Promise<void> {
    const state = this.state;
    const first = state?.messages[0];
    if (state === null || first === undefined || !state.more || this.loadingOlder || this.id === null) return;
    this.loadingOlder = true;
    try {
      const page = await this.connection.request({ action: "load_messages", session_id: this.id, before: first.id });
      if (this.state === null) return;
      this.prepending = true;
      this.state = withOlder(this.state, page);
      await tick();
    } catch (error) {
      this.complain(error);
    } finally {
      this.loadingOlder = false;
      this.prepending = false;
    }
  }

  inForce(effective: ChatState["effective"], revision: number): void {
    if (this.state !== null && revision >= this.state.revision) this.state = { ...this.state, effective };
  }

  #adopt(id: string, sent: boolean): void {
    if (this.id === null) this.#follow(id);
    this.#host.created(this, sent);
  }

  #follow(id: string): void {
    this.id = id;
    this.#leave = this.connection.subscribe(id, {
      event: (event, at) => this.#batch.add({ event, at }),
      snapshot: (frame) => {
        this.#batch.clear();
        this.#show(fromSnapshot(frame.state));
      },
      refused: () => {
        this.gone = true;
        this.#host.refused(this);
      },
    });
  }

  #apply(items: readonly Stamped[]): void {
    if (this.state === null) return;
    const before = this.state;
    this.#show(items.reduce((state, { event, at }) => reduce(state, event, at), before));
    for (const { event } of items) announce(event);
    if (this.state.stale && !before.stale) void this.#reloadBranch();
  }

  #show(state: ChatState): void {
    if (state.turnId === null) this.stopping = false;
    this.state = state;
    this.tools.seen(state);
    this.#mode.matches(state.session.permission_mode);
    this.#model.matches(state.session.model);
    this.outgoing = stillOutgoing(this.outgoing, state, true);
  }

  async #reloadBranch(): Promise<void> {
    if (this.id === null) return;
    try {
      const page = await this.connection.request({ action: "load_messages", session_id: this.id });
      if (this.state !== null) this.state = withBranch(this.state, page);
    } catch (error) {
      this.complain(error);
    }
  }

  async #deliver(entry: Outgoing, mode: "send" | "steer", made: Promise<string> | null = null): Promise<void> {
    try {
      if (made !== null) await made;
      const ack = await this.connection.request({ action: "chat", session_id: this.id, text: entry.text, mode });
      this.#replace(entry.key, { ...entry, messageId: ack.message_id, queued: ack.queued });
      this.#adopt(ack.session_id, true);
      this.outgoing = stillOutgoing(this.outgoing, this.state, false);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.#replace(entry.key, { ...entry, failed: errorLine({ code: error.code, message: error.message }) });
    }
  }

  #replace(key: string, entry: Outgoing): void {
    this.outgoing = this.outgoing.map((other) => (other.key === key ? entry : other));
  }

  /** An action on this chat; whether it was done. A refusal is shown at the edge of the page. */
  async #do(body: (sessionId: string) => ActionBody & Refusable, undo?: () => void): Promise<boolean> {
    try {
      await this.connection.request(body(await this.ensure()));
      return true;
    } catch (error) {
      undo?.();
      this.complain(error);
      return false;
    }
  }

  /** Show why something was refused. */
  complain(error: unknown): void {
    if (!(error instanceof RequestError)) throw error;
    if (error.code !== "stopped") toasts.show(errorLine(error), { tone: "error" }); // else the page is closing
  }
}
