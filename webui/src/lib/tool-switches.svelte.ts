/** A chat's switches for tools: shown as they were just clicked, then as the server says they are. */
import type { FollowOffer, ToolsAck } from "../protocol.gen";
import { t } from "../i18n/index.svelte";
import { announcer } from "./announce.svelte";
import type { AckOf, ActionBody, Connection } from "./connection";
import type { ChatState } from "./state/chat";
import { toasts } from "./toasts.svelte";
import { Wish } from "./wish.svelte";

export interface Chip {
  readonly state: "off" | "on" | "unavailable";
  readonly reason: string | null;
  /** The running turn was frozen before the switch: it works from the next message. */
  readonly next: boolean;
  /** Clicked, and not confirmed by the server yet. */
  readonly pending: boolean;
}

/** What the switches need of the chat they belong to. */
export interface Switchable {
  readonly state: ChatState | null;
  readonly running: boolean;
  readonly connection: Connection;
  ensure(): Promise<string>;
  complain(error: unknown): void;
  /** What the server says is in force at this revision of the intent. */
  inForce(effective: ToolsAck["effective"], revision: number): void;
}

type IntentAction = Extract<
  ActionBody,
  { action: "toggle_web_search" | "set_tools_profile" | "set_tools_enabled" | "set_tool_disabled" | "pick_tools" }
>;

const SEARCH = "web_search";

export class ToolSwitches {
  readonly #chat: Switchable;
  readonly #chip = new Wish<boolean>();
  readonly #toolset = new Wish<string | null>();
  /** The server said that a change waits for the next turn. */
  #waits = $state(false);
  #turnId: string | null = null;

  readonly toolset: string | null = $derived.by(() => this.#toolset.or(this.#chat.state?.intent.toolset ?? null));
  readonly chip: Chip = $derived.by(() => this.#chipNow());
  /** A change of tools waits for the next message. */
  readonly wait: boolean = $derived.by(() => {
    const state = this.#chat.state;
    if (state === null || !this.#chat.running) return false;
    return this.#waits || (state.turn !== null && state.revision > state.turn.intent_revision);
  });

  constructor(chat: Switchable) {
    this.#chat = chat;
  }

  toggleSearch(value = this.chip.state !== "on"): void {
    this.#chip.make(value);
    announcer.say(t(value ? "announce.searchOn" : "announce.searchOff"));
    void this.#change((session_id) => ({ action: "toggle_web_search", session_id, value }), this.#chip);
  }

  /** Choose a preset. A hand-picked list would go on hiding it, so that is put aside, which can be undone. */
  async setToolset(toolset: string | null): Promise<void> {
    await this.#preferPreset(toolset, false);
  }

  /** Take up the offer to follow a preset in place of a list that is a copy of it. */
  async follow(offer: FollowOffer): Promise<void> {
    await this.#preferPreset(offer.preset, offer.web_search);
  }

  async #preferPreset(toolset: string | null, search: boolean): Promise<void> {
    const before = this.toolset;
    const picked = this.#chat.state?.intent.picked ?? null;
    this.#toolset.make(toolset);
    const body = (session_id: string): IntentAction => ({ action: "set_tools_profile", session_id, toolset });
    if (!(await this.#change(body, this.#toolset)) || picked === null) return;
    if (search && !(await this.#search(true))) return;
    if (!(await this.unpick())) return;
    toasts.show(t("tools.unpicked"), {
      action: { label: t("app.undo"), run: () => void this.#pickAgain(before, picked, search) },
    });
  }

  setEnabled(value: boolean | null): Promise<boolean> {
    return this.#change((session_id) => ({ action: "set_tools_enabled", session_id, value }));
  }

  setDisabled(name: string, value: boolean): Promise<boolean> {
    return this.#change((session_id) => ({ action: "set_tool_disabled", session_id, name, value }));
  }

  /** Give up a hand-picked list in favour of the preset. */
  unpick(): Promise<boolean> {
    return this.#change((session_id) => ({ action: "pick_tools", session_id, tools: null }));
  }

  async explain(): Promise<ToolsAck> {
    const session_id = await this.#chat.ensure();
    return this.#chat.connection.request({ action: "explain_tools", session_id });
  }

  /** Ask what is in force: the server's tools or settings changed, not this chat's intent. */
  async refresh(): Promise<ToolsAck | undefined> {
    try {
      const answer = await this.explain();
      this.#chat.inForce(answer.effective, answer.revision);
      return answer;
    } catch (error) {
      this.#chat.complain(error);
      return undefined;
    }
  }

  /** The chat's state is `state` now. */
  seen(state: ChatState): void {
    if (state.turnId !== this.#turnId) this.#waits = false;
    this.#turnId = state.turnId;
    this.#chip.seen(state.revision);
    this.#toolset.seen(state.revision);
  }

  #chipNow(): Chip {
    const state = this.#chat.state;
    const known = state?.effective.web_search ?? { state: "off" as const, reason: null };
    const wish = this.#chip.value;
    const hopeless = wish === true && known.state === "unavailable";
    const shown =
      wish === undefined || hopeless ? known : { state: wish ? ("on" as const) : ("off" as const), reason: null };
    const turn = state?.turn ?? null;
    const offered = turn === null ? !this.#waits : turn.tools.includes(SEARCH);
    return { ...shown, next: this.#chat.running && shown.state === "on" && !offered, pending: wish !== undefined };
  }

  /** The list first: as long as it is there, the preset behind it means nothing. */
  async #pickAgain(toolset: string | null, tools: string[], search: boolean): Promise<void> {
    if (!(await this.#change((session_id) => ({ action: "pick_tools", session_id, tools })))) return;
    if (search) await this.#search(null);
    await this.#change((session_id) => ({ action: "set_tools_profile", session_id, toolset }));
  }

  #search(value: boolean | null): Promise<boolean> {
    return this.#change((session_id) => ({ action: "toggle_web_search", session_id, value }));
  }

  /** Whether it was done; a refusal is shown. */
  async #change(
    body: (sessionId: string) => IntentAction,
    wish?: Wish<boolean> | Wish<string | null>,
  ): Promise<boolean> {
    try {
      const session_id = await this.#chat.ensure();
      const ack: AckOf<IntentAction["action"]> = await this.#chat.connection.request(body(session_id));
      if (ack.applies === "next_turn" && this.#chat.running) this.#waits = true;
      wish?.granted(ack.revision, this.#chat.state?.revision ?? -1);
      return true;
    } catch (error) {
      wish?.drop();
      this.#chat.complain(error);
      return false;
    }
  }
}
