/** What a chat's next message and its switches would cost, as the server says before they are paid for. */
import type { PreviewAck, Reread, SendPreviewAck } from "../protocol.gen";
import { t } from "../i18n/index.svelte";
import { announcer } from "./announce.svelte";
import { RequestError, type ActionBody, type Connection } from "./connection";
import { switchPrice } from "./price-words";

type Switch = Omit<Extract<ActionBody, { action: "preview_toggle" }>, "action" | "session_id">;

interface Priced {
  readonly id: string | null;
  readonly connection: Connection;
  complain(error: unknown): void;
  readonly tools: { readonly chip: { readonly state: string }; toggleSearch(): void };
}

export class Prices {
  readonly #chat: Priced;
  /** The next message's price; null while it is not known. */
  ahead = $state.raw<SendPreviewAck | null>(null);
  /** When the endpoint forgets the chat, by this browser's clock, in milliseconds. */
  until = $state<number | null>(null);
  /** The price of flipping the chip. */
  chip = $state.raw<PreviewAck | null>(null);
  /** The chip was pressed once, and its price is shown: a second press pays it. */
  armed = $state(false);
  models = $state.raw<Readonly<Record<string, Reread>>>({});
  #asked = 0;
  #askedOfChip = 0;

  constructor(chat: Priced) {
    this.#chat = chat;
  }

  /** Ask anew: something that the next message's price depends on is another one. Only the last answer counts. */
  async look(): Promise<void> {
    const session_id = this.#chat.id;
    if (session_id === null) return;
    const asked = ++this.#asked;
    const ahead = await this.#ask(() => this.#chat.connection.request({ action: "preview_send", session_id }));
    if (asked !== this.#asked) return;
    this.ahead = ahead;
    this.until = ahead?.warm_s == null ? null : Date.now() + ahead.warm_s * 1000;
  }

  async lookAtChip(): Promise<void> {
    const asked = ++this.#askedOfChip;
    const price = await this.of({ toggle: "toggle_web_search", value: this.#chat.tools.chip.state !== "on" });
    if (asked !== this.#askedOfChip) return;
    this.chip = price;
    this.armed = false;
  }

  /** What is on its way to be asked is out of date, and nothing is known until it is asked again. */
  forget(): void {
    this.#asked += 1;
    this.ahead = null;
    this.until = null;
  }

  /** What a switch would cost; null where the server does not say. */
  of(wanted: Switch): Promise<PreviewAck | null> {
    const session_id = this.#chat.id;
    if (session_id === null) return Promise.resolve(null);
    return this.#ask(() => this.#chat.connection.request({ action: "preview_toggle", session_id, ...wanted }));
  }

  async lookAtModels(): Promise<void> {
    const session_id = this.#chat.id;
    if (session_id === null) return;
    const told = await this.#ask(() => this.#chat.connection.request({ action: "preview_models", session_id }));
    this.models = Object.fromEntries((told?.prices ?? []).map(({ model, reread }) => [model, reread]));
  }

  /** Flip the chip, as a person does. One that costs much tells its price first, and flips when it is pressed again. */
  flipChip(): void {
    if (!this.armed && this.chip?.costly === true) {
      this.armed = true;
      announcer.say(`${switchPrice(this.chip)} ${t("price.again")}`);
      return;
    }
    this.armed = false;
    this.#chat.tools.toggleSearch();
  }

  /** Have the next request declare the tools anew. Whether that was taken; a refusal is shown. */
  async forceRebase(): Promise<boolean> {
    const session_id = this.#chat.id;
    if (session_id === null) return false;
    try {
      await this.#chat.connection.request({ action: "force_rebase", session_id });
      return true;
    } catch (error) {
      this.#chat.complain(error);
      return false;
    }
  }

  /** A price that cannot be asked for is not known, which nobody has to be told. */
  async #ask<T>(request: () => Promise<T>): Promise<T | null> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof RequestError) return null;
      throw error;
    }
  }
}
