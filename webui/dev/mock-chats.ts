/** The mock's chats: what it keeps of each, and how it tells the tabs. */
import type {
  ApprovalRequested,
  Effective,
  Event as ChatEvent,
  Message,
  QueuedMessage,
  SessionInfo,
  SessionState,
  ToolIntent,
  ToolBudget,
  ToolState,
} from "../src/protocol.gen";
import { message, session, sessionState } from "../src/lib/state/fixtures.ts";
import { tools } from "./mock-data.ts";

export const now = (): string => new Date().toISOString();
let counter = 0;
export const newId = (prefix: string): string => `${prefix}_${(++counter).toString(36).padStart(4, "0")}`;

export interface Chat {
  info: SessionInfo;
  messages: Map<string, Message>;
  leaf: string | null;
  seq: number;
  log: { seq: number; at: string; event: ChatEvent }[];
  intent: ToolIntent;
  revision: number;
  turn: string | null;
  stopped: boolean;
  partial: ChatEvent[];
  live: Message | null;
  approvals: ApprovalRequested[];
  answer: ((decision: "once" | "session" | "deny") => void) | null;
  queue: QueuedMessage[];
}

/** Sends a frame to the tabs that follow a chat, or with null to those that list chats. */
export type Tell = (chatId: string | null, frame: object) => void;

export class Chats {
  readonly all = new Map<string, Chat>();
  consent = false;
  readonly #tell: Tell;

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  create(changes: Partial<SessionInfo> = {}): Chat {
    const info = session(newId("s"), {
      created_at: now(),
      updated_at: now(),
      visible: false,
      title: "New chat",
      ...changes,
    });
    const intent: ToolIntent = {
      enabled: null,
      toolset: null,
      web_search: null,
      disabled: [],
      picked: null,
      allowed: null,
    };
    const chat: Chat = {
      info,
      messages: new Map(),
      leaf: null,
      seq: 0,
      log: [],
      intent,
      revision: 0,
      turn: null,
      stopped: false,
      partial: [],
      live: null,
      approvals: [],
      answer: null,
      queue: [],
    };
    this.all.set(info.id, chat);
    return chat;
  }

  fill(chat: Chat, pairs: number): void {
    for (let index = 0; index < pairs; index++) {
      this.add(
        chat,
        message(newId("m"), chat.leaf, "user", `Question ${index + 1}: what does \`merge\` do with null?`),
      );
      const turn_id = newId("t");
      this.add(
        chat,
        message(newId("m"), chat.leaf, "assistant", {
          turn_id,
          model: "demo/demo",
          blocks: [
            {
              type: "text",
              text: `Null **falls through** to the layer below (${index + 1}).\n\n\`\`\`py\ndef merge(a, b):\n    return b if a is None else a\n\`\`\``,
            },
          ],
        }),
      );
    }
  }

  add(chat: Chat, entry: Message): void {
    chat.messages.set(entry.id, entry);
    chat.leaf = entry.id;
  }

  branch(chat: Chat): { messages: Message[]; siblings: Record<string, string[]> } {
    const messages: Message[] = [];
    for (let id = chat.leaf; id !== null;) {
      const entry: Message = chat.messages.get(id)!;
      messages.unshift(entry);
      id = entry.parent_id;
    }
    const siblings: Record<string, string[]> = {};
    for (const entry of messages) {
      const all = [...chat.messages.values()]
        .filter((other) => other.parent_id === entry.parent_id)
        .map((other) => other.id);
      if (all.length > 1) siblings[entry.id] = all;
    }
    return { messages, siblings };
  }

  effective(chat: Chat): Effective {
    const on = chat.intent.web_search ?? (chat.intent.toolset === "research" || chat.intent.toolset === "full");
    if (!on) return { web_search: { state: "off", reason: null } };
    return {
      web_search: this.consent
        ? { state: "on", reason: null }
        : { state: "unavailable", reason: "No search service is configured. Keyless search needs your consent once." },
    };
  }

  emit(chat: Chat, event: ChatEvent): void {
    chat.seq += 1;
    const frame = { type: "event", session_id: chat.info.id, seq: chat.seq, at: now(), event };
    chat.log.push({ seq: chat.seq, at: frame.at, event });
    this.#tell(chat.info.id, frame);
  }

  say(chat: Chat, event: ChatEvent): void {
    chat.partial.push(event);
    this.emit(chat, event);
  }

  changed(chat: Chat, changes: Partial<SessionInfo>): void {
    chat.info = { ...chat.info, ...changes };
    this.emit(chat, { type: "session_changed", session: chat.info });
    this.#tell(null, { type: "hint", hint: "session_changed", session: chat.info });
  }

  state(chat: Chat): SessionState {
    const { messages, siblings } = this.branch(chat);
    const recent = messages.slice(-100);
    const partial =
      chat.turn !== null && chat.live !== null
        ? {
            turn_id: chat.turn,
            step: 1,
            message_id: chat.live.id,
            parent_id: chat.live.parent_id,
            model: "demo/demo",
            events: chat.partial,
            at: chat.partial.map(() => now()),
            started_at: now(),
          }
        : null;
    return sessionState({
      session: chat.info,
      messages: recent,
      siblings,
      more: messages.length > recent.length,
      status: chat.info.status,
      turn_id: chat.turn,
      partial,
      intent: chat.intent,
      revision: chat.revision,
      effective: this.effective(chat),
      permission_mode: chat.info.permission_mode,
      queue: chat.queue,
      approvals: chat.approvals,
      questions: [],
    });
  }

  budget(chat: Chat): ToolBudget {
    const all = this.tools(chat);
    const declared = all.filter((tool) => tool.state === "on");
    const deferred = all.filter((tool) => tool.state === "deferred").length;
    return {
      model: "mock/model",
      declared: declared.length,
      resident: declared.reduce((sum, tool) => sum + (tool.tokens ?? 0), 0),
      deferred,
      catalog: deferred === 0 ? 0 : 24 + 4 * deferred,
      overhead: 0,
      ratio: 1.35,
      samples: 3,
    };
  }

  tools(chat: Chat): ToolState[] {
    const preset = chat.intent.toolset ?? "default";
    return tools.map(([name, source, residency, tokens, description]) => {
      const disabled = chat.intent.disabled.includes(name);
      const chip = name === "web_search";
      const search = this.effective(chat).web_search;
      const inPreset =
        preset !== "none" &&
        !(preset === "safe" && ["bash", "write", "edit", "web_fetch"].includes(name)) &&
        !(preset === "research" && ["bash", "write", "edit"].includes(name));
      const off =
        chat.intent.enabled === false
          ? "tools_off"
          : disabled
            ? "switched_off"
            : !inPreset && !chip
              ? "not_in_preset"
              : chip && search.state === "off"
                ? "chip_off"
                : null;
      const down = chip && search.state === "unavailable";
      const state = off !== null ? "off" : down ? "unavailable" : residency === "deferred" ? "deferred" : "on";
      return {
        name,
        description,
        source,
        residency,
        tokens,
        tokens_now: state === "on" ? tokens : state === "deferred" ? 4 : 0,
        switched_off: disabled,
        switchable: !chip,
        state,
        reason: down ? "not_configured" : off,
        detail: down ? (search.reason ?? "") : "",
        layer: null,
      };
    });
  }
}
