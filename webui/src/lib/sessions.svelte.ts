/** The chats of the sidebar. */
import type { SessionInfo } from "../protocol.gen";
import type { Connection } from "./connection";
import { groupByDate, type Group } from "./dates";

const newestFirst = (a: SessionInfo, b: SessionInfo): number => b.updated_at.localeCompare(a.updated_at);

export class Sessions {
  list = $state.raw<readonly SessionInfo[]>([]);
  loaded = $state(false);
  more = $state(false);
  filter = $state("");
  /** Chats whose answer came while they were not being looked at. */
  unread = $state.raw<ReadonlySet<string>>(new Set());
  active = $state<string | null>(null);
  readonly #connection: () => Connection;
  /** The chats that there was news of since the list was last asked for: its answer may be older than they are. */
  #news = new Map<string, SessionInfo>();

  readonly groups: readonly Group[] = $derived.by(() => {
    const wanted = this.filter.trim().toLocaleLowerCase();
    const shown = this.list.filter(
      (info) => info.visible && !info.deleted && info.title.toLocaleLowerCase().includes(wanted),
    );
    return groupByDate(shown, new Date());
  });

  constructor(connection: () => Connection) {
    this.#connection = connection;
  }

  async load(): Promise<void> {
    const news = (this.#news = new Map());
    const page = await this.#connection().request({ action: "list_sessions" });
    if (news !== this.#news) return; // it was asked for again since
    const others = page.sessions.filter((info) => !news.has(info.id));
    this.list = [...others, ...news.values()].sort(newestFirst);
    this.more = page.more;
    this.loaded = true;
  }

  async loadMore(): Promise<void> {
    const oldest = this.list.at(-1);
    if (oldest === undefined) return;
    const page = await this.#connection().request({
      action: "list_sessions",
      before: oldest.updated_at,
      before_id: oldest.id,
    });
    const known = new Set(this.list.map((info) => info.id));
    this.list = [...this.list, ...page.sessions.filter((info) => !known.has(info.id))];
    this.more = page.more;
  }

  /** News of one chat, from a hint or from the chat itself. */
  update(info: SessionInfo): void {
    const before = this.list.find((known) => known.id === info.id);
    const others = this.list.filter((known) => known.id !== info.id);
    this.#news.set(info.id, info);
    this.list = [...others, info].sort(newestFirst);
    const finished = before !== undefined && before.status !== "idle" && info.status === "idle";
    if (finished && (info.id !== this.active || document.hidden)) this.unread = new Set([...this.unread, info.id]);
  }

  seen(id: string | null): void {
    this.active = id;
    if (id === null || !this.unread.has(id)) return;
    this.unread = new Set([...this.unread].filter((other) => other !== id));
  }
}
