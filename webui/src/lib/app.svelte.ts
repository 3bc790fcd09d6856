/** The whole interface's state: the link, who answers, the list of chats and the one that is open. */
import type { Hello, JsonValueInput, PresetInfo, SessionInfo } from "../protocol.gen";
import { t } from "../i18n/index.svelte";
import { announcer } from "./announce.svelte";
import { ChatStore, type ChatHost } from "./chat.svelte";
import { Connection, RequestError, type ActionBody, type LinkStatus } from "./connection";
import { inWords } from "./presets";
import { errorLine } from "./server-words";
import { Sessions } from "./sessions.svelte";
import { toasts } from "./toasts.svelte";

export type Dialog = "settings" | "keys" | "connect" | "search" | null;

/** A loss shorter than this is not worth a word. */
const QUIET_MS = 2_000;
const DRAFT_KEY = "openprogram.draft-chat";

export class App implements ChatHost {
  readonly connection: Connection;
  link = $state.raw<LinkStatus>({ state: "idle", attempt: 0 });
  /** The link has been down long enough to say so. */
  lost = $state(false);
  hello = $state.raw<Hello | null>(null);
  chat = $state.raw<ChatStore | null>(null);
  dialog = $state<Dialog>(null);
  drawer = $state(false);
  #presets = $state.raw<readonly PresetInfo[]>([]);
  readonly #shownPresets = $derived(this.#presets.map(inWords));
  /** Settings that the server keeps for this user. */
  server = $state.raw<Readonly<Record<string, unknown>>>({});
  readonly sessions: Sessions;
  readonly linked: boolean = $derived(this.link.state === "ready");
  #settingChange = 0;
  #lostTimer: ReturnType<typeof setTimeout> | undefined;

  readonly modelId: string | null = $derived(this.chat?.model ?? this.hello?.default_model ?? null);
  readonly demo: boolean = $derived(this.hello?.models.find((model) => model.id === this.modelId)?.demo ?? false);

  /** The presets that there are now, the built-in ones in the user's language. */
  get presets(): readonly PresetInfo[] {
    return this.#shownPresets;
  }

  set presets(told: readonly PresetInfo[]) {
    this.#presets = told;
  }

  constructor() {
    const url = new URL("ws", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.connection = new Connection({
      url: url.href,
      probe,
      onStatus: (status) => this.#onStatus(status),
      onHello: (hello) => void this.#onHello(hello),
      onHint: (hint) => {
        if (hint.session !== null) this.#onSession(hint.session);
        else if (hint.hint === "session_changed")
          void this.sessions.load(); // some were lost: any may have changed
        else if (hint.hint === "settings_changed") void this.#loadSettings();
        else if (hint.hint === "models_changed") void this.#loadModels();
        else void this.#refreshTools();
      },
      onError: (error) => toasts.show(errorLine(error), { tone: "error" }),
    });
    this.sessions = new Sessions(() => this.connection);
  }

  start(): void {
    addEventListener("hashchange", () => this.#route());
    addEventListener("online", () => this.connection.wake());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.connection.wake();
    });
    this.connection.start();
    this.#route();
  }

  openChat(id: string): void {
    this.drawer = false;
    location.hash = `#/c/${encodeURIComponent(id)}`;
  }

  newChat(): void {
    this.drawer = false;
    sessionStorage.removeItem(DRAFT_KEY);
    if (location.hash === "" || location.hash === "#/") this.#show(null);
    else location.hash = "#/";
  }

  created(chat: ChatStore, sent: boolean): void {
    if (chat.id === null) return;
    if (sent) {
      if (sessionStorage.getItem(DRAFT_KEY) === chat.id) sessionStorage.removeItem(DRAFT_KEY);
      if (this.chat === chat) this.#nameInAddress(chat.id);
      return;
    }
    sessionStorage.setItem(DRAFT_KEY, chat.id);
  }

  /** A remembered draft may have been swept: begin another. */
  refused(chat: ChatStore): void {
    if (chat !== this.chat || sessionStorage.getItem(DRAFT_KEY) !== chat.id) return;
    sessionStorage.removeItem(DRAFT_KEY);
    this.#show(null);
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#do({ action: "rename_session", session_id: id, title });
  }

  async pin(id: string, value: boolean): Promise<void> {
    await this.#do({ action: "pin_session", session_id: id, value });
  }

  async remove(info: SessionInfo): Promise<void> {
    if (!(await this.#do({ action: "delete_session", session_id: info.id }))) return;
    if (this.chat?.id === info.id) this.newChat();
    this.sessions.update({ ...info, deleted: true });
    toasts.show(t("sidebar.deleted", { title: info.title || t("sidebar.untitled") }), {
      action: { label: t("app.undo"), run: () => void this.#restore(info) },
    });
  }

  /** Allow search without a key, and switch it on here. */
  async consent(): Promise<void> {
    this.dialog = null;
    if (await this.setSetting("keyless_search_consent", true)) this.chat?.tools.toggleSearch(true);
  }

  /** Change a setting that the server keeps; null goes back to its default. Whether it was done. */
  async setSetting(key: string, value: unknown): Promise<boolean> {
    const change = ++this.#settingChange;
    this.server = { ...this.server, [key]: value }; // shown at once, so that the next change builds on it
    try {
      const ack = await this.connection.request({ action: "set_setting", key, value: value as JsonValueInput });
      if (change === this.#settingChange) this.server = ack.settings;
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      toasts.show(errorLine(error), { tone: "error" });
      await this.#loadSettings();
      return false;
    }
  }

  async #restore(info: SessionInfo): Promise<void> {
    if (await this.#do({ action: "restore_session", session_id: info.id }))
      this.sessions.update({ ...info, deleted: false });
  }

  /** Whether it was done; a refusal is shown. */
  async #do(body: ActionBody): Promise<boolean> {
    try {
      await this.connection.request(body);
      return true;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      toasts.show(errorLine(error), { tone: "error" });
      return false;
    }
  }

  #onStatus(status: LinkStatus): void {
    this.link = status;
    if (status.state === "ready") {
      clearTimeout(this.#lostTimer);
      this.#lostTimer = undefined;
      if (this.lost) announcer.say(t("announce.back"));
      this.lost = false;
    } else {
      // Counted from the first sign of loss: attempts in between do not begin it anew.
      this.#lostTimer ??= setTimeout(() => {
        this.lost = true;
        announcer.say(t("announce.lost"));
      }, QUIET_MS);
    }
  }

  async #onHello(hello: Hello): Promise<void> {
    this.hello = hello;
    this.presets = hello.presets;
    this.#prepareDraft();
    // What is available may have changed with a restart, which is in no chat's log.
    if (this.chat?.state !== null) void this.#refreshTools();
    // The models once more: those that an endpoint told since the hello was made are in no hint, which begin only now.
    await Promise.all([this.sessions.load(), this.#loadSettings(), this.#loadModels()]);
  }

  async #refreshTools(): Promise<void> {
    const answer = await this.chat?.tools.refresh();
    if (answer !== undefined) this.presets = answer.presets;
  }

  async #loadSettings(): Promise<void> {
    const change = this.#settingChange;
    const ack = await this.connection.request({ action: "get_settings" });
    if (change === this.#settingChange) this.server = ack.settings; // else an ack brings what is newer
  }

  async #loadModels(): Promise<void> {
    const { models, default_model } = await this.connection.request({ action: "list_models" });
    if (this.hello !== null) this.hello = { ...this.hello, models, default_model };
  }

  #onSession(info: SessionInfo): void {
    this.sessions.update(info);
    if (info.deleted && this.chat?.id === info.id) this.newChat();
  }

  #route(): void {
    const match = /^#\/c\/([^/]+)$/.exec(location.hash);
    this.#show(match === null ? null : decodeURIComponent(match[1]!));
  }

  #show(id: string | null): void {
    if (id !== null && this.chat?.id === id) return;
    this.chat?.close();
    const draft = id === null ? sessionStorage.getItem(DRAFT_KEY) : null;
    this.chat = new ChatStore(this, id ?? draft, id === null);
    this.sessions.seen(id ?? draft);
    if (this.link.state === "ready") this.#prepareDraft();
  }

  /**
   * A new chat is made on the server at once, unseen: only the server knows what its switches stand at.
   * It is used again after a reload of this tab.
   */
  #prepareDraft(): void {
    const chat = this.chat;
    if (chat === null) return;
    void chat.ensure().catch((error: unknown) => {
      if (!(error instanceof RequestError)) throw error;
      toasts.show(errorLine(error), { tone: "error" });
    });
  }

  #nameInAddress(id: string): void {
    history.replaceState(null, "", `#/c/${encodeURIComponent(id)}`);
    this.sessions.seen(id);
  }
}

/** Why the socket does not open: a page behind the same credential says it. */
async function probe(): Promise<"unauthorised" | "unknown"> {
  try {
    const response = await fetch(document.baseURI, { cache: "no-store", redirect: "manual" });
    return response.status === 401 || response.status === 403 ? "unauthorised" : "unknown";
  } catch {
    return "unknown"; // the server is away: that is what the reconnecting is for
  }
}
