/** A stand-in for the server, in memory: enough of the protocol to build and look at the interface. */
import type { WebSocket } from "ws";
import type { Action, Message, ToolIntent } from "../src/protocol.gen";
import { Chats, newId, now, type Chat } from "./mock-chats.ts";
import { presets } from "./mock-data.ts";
import { Turns } from "./mock-turns.ts";

interface Client {
  readonly socket: WebSocket;
  readonly chats: Set<string>;
  hints: boolean;
}

export class MockServer {
  readonly #clients = new Set<Client>();
  readonly #done = new Map<string, object>();
  readonly #chats = new Chats((chatId, frame) => {
    for (const client of this.#clients) {
      if (chatId === null ? client.hints : client.chats.has(chatId)) this.#send(client, frame);
    }
  });
  readonly #turns = new Turns(this.#chats);

  constructor() {
    const titles = [
      "Port from the settings",
      "Why the cache missed",
      "Notes on the release",
      "A plan for the parser",
      "Reading the logs",
    ];
    titles.forEach((title, index) => {
      const at = new Date(Date.now() - index * index * 86_400_000 - 3_600_000).toISOString();
      const chat = this.#chats.create({ title, updated_at: at, created_at: at, visible: true, pinned: index === 3 });
      this.#chats.fill(chat, index === 4 ? 500 : 2);
    });
  }

  connect(socket: WebSocket): void {
    const client: Client = { socket, chats: new Set(), hints: false };
    this.#clients.add(client);
    const beat = setInterval(() => this.#send(client, { type: "ping", at: now() }), 10_000);
    socket.on("close", () => {
      clearInterval(beat);
      this.#clients.delete(client);
    });
    socket.on("message", (data) => this.#receive(client, JSON.parse(String(data)) as Action));
    this.#send(client, {
      type: "hello", version: "openprogram.v1", server: "mock", boot_id: "b_1", user: { id: "u_1", name: "you" },
      models: [{ id: "demo/demo", title: "Demo model", endpoint: "demo", context_window: 128_000, demo: true }, { id: "local/llama", title: "Llama 4 (local)", endpoint: "local", context_window: 32_768, demo: false }],
      default_model: "demo/demo",
      presets,
      workspace: "~/project",
    }); // prettier-ignore
  }

  #send(client: Client, frame: object): void {
    client.socket.send(JSON.stringify(frame));
  }

  #receive(client: Client, action: Action): void {
    const ack = (extra: object = {}): void => {
      const frame = { type: "ack", id: action.id, ...extra };
      this.#done.set(action.id, frame);
      this.#send(client, frame);
    };
    const known = this.#done.get(action.id);
    if (known !== undefined) return this.#send(client, known);
    const session_id = "session_id" in action ? action.session_id : null;
    const chat = session_id == null ? undefined : this.#chats.all.get(session_id);
    if (session_id != null && chat === undefined)
      return this.#send(client, {
        type: "error",
        id: action.id,
        code: "unknown_session",
        message: "There is no such chat.",
      });
    switch (action.action) {
      case "ping":
        return this.#send(client, { type: "pong", id: action.id });
      case "subscribe":
        if (chat === undefined) {
          client.hints = true;
          return ack({ session_id: null, seq: 0 });
        }
        client.chats.add(chat.info.id);
        ack({ session_id, seq: chat.seq });
        if (action.snapshot === true)
          return this.#send(client, { type: "snapshot", session_id, seq: chat.seq, state: this.#chats.state(chat) });
        for (const entry of chat.log)
          if (entry.seq > (action.after_seq ?? 0)) this.#send(client, { type: "event", session_id, ...entry });
        return;
      case "unsubscribe":
        if (session_id != null) client.chats.delete(session_id);
        return ack();
      case "list_sessions":
        return ack({
          sessions: [...this.#chats.all.values()]
            .map((entry) => entry.info)
            .filter((info) => info.visible && !info.deleted)
            .sort((a, b) => b.updated_at.localeCompare(a.updated_at)),
          more: false,
        });
      case "create_session":
        return ack({ session_id: this.#chats.create().info.id });
      case "get_settings":
        return ack({ settings: { keyless_search_consent: this.#chats.consent, permission_mode: "ask" } });
      case "set_setting":
        if (action.key === "keyless_search_consent") this.#chats.consent = action.value === true;
        for (const entry of this.#chats.all.values())
          this.#chats.emit(entry, {
            type: "intent_changed",
            intent: entry.intent,
            revision: entry.revision,
            effective: this.#chats.effective(entry),
          });
        return ack({ settings: { keyless_search_consent: this.#chats.consent, permission_mode: "ask" } });
      case "chat": {
        const target = chat ?? this.#chats.create();
        const message_id = newId("m");
        if (target.turn !== null) {
          target.queue = [
            ...target.queue,
            { id: message_id, text: action.text, mode: "queue", created_at: now(), override: null, sender: null },
          ];
          ack({ session_id: target.info.id, message_id, queued: true });
          return this.#chats.emit(target, { type: "queue_changed", queue: target.queue });
        }
        ack({ session_id: target.info.id, message_id, queued: false });
        return void this.#turns.turn(target, message_id, action.text, target.leaf);
      }
      default:
        if (chat !== undefined) this.#chatAction(chat, action, ack);
        else ack();
    }
  }

  #chatAction(chat: Chat, action: Action, ack: (extra?: object) => void): void {
    const session_id = chat.info.id;
    const patch = (changes: Partial<ToolIntent>): void => {
      chat.intent = { ...chat.intent, ...changes };
      chat.revision += 1;
      ack({ session_id, revision: chat.revision, applies: chat.turn === null ? "now" : "next_turn" });
      this.#chats.emit(chat, {
        type: "intent_changed",
        intent: chat.intent,
        revision: chat.revision,
        effective: this.#chats.effective(chat),
      });
    };
    switch (action.action) {
      case "toggle_web_search":
        return patch({ web_search: action.value });
      case "set_tools_profile":
        return patch({ toolset: action.toolset, picked: null });
      case "set_tools_enabled":
        return patch({ enabled: action.value });
      case "set_tool_disabled":
        return patch({
          disabled: action.value
            ? [...chat.intent.disabled, action.name].sort()
            : chat.intent.disabled.filter((name) => name !== action.name),
        });
      case "explain_tools":
        return ack({
          session_id,
          revision: chat.revision,
          preset: chat.intent.toolset ?? "default",
          tools: this.#chats.tools(chat),
          budget: this.#chats.budget(chat),
          decided: [
            {
              field: "toolset",
              layer: chat.intent.toolset === null ? "default" : "session",
              value: chat.intent.toolset,
            },
          ],
          unknown: [],
          presets,
          effective: this.#chats.effective(chat),
          error: null,
        });
      case "load_messages": {
        const { messages, siblings } = this.#chats.branch(chat);
        const end = action.before == null ? messages.length : messages.findIndex((entry) => entry.id === action.before);
        const start = Math.max(0, end - (action.limit ?? 100));
        return ack({ session_id, messages: messages.slice(start, end), siblings, more: start > 0 });
      }
      case "stop":
        chat.stopped = true;
        chat.answer?.("deny");
        return ack();
      case "answer_approval":
        ack();
        return chat.answer?.(action.decision);
      case "rename_session":
        ack();
        return this.#chats.changed(chat, { title: action.title });
      case "pin_session":
        ack();
        return this.#chats.changed(chat, { pinned: action.value });
      case "delete_session":
        ack();
        return this.#chats.changed(chat, { deleted: true });
      case "restore_session":
        ack();
        return this.#chats.changed(chat, { deleted: false });
      case "set_model":
        ack();
        return this.#chats.changed(chat, { model: action.model });
      case "set_permission_mode":
        ack();
        return this.#chats.changed(chat, { permission_mode: action.mode });
      case "edit_queue":
        chat.queue = chat.queue.flatMap((entry) =>
          entry.id !== action.queued_id ? [entry] : action.text === null ? [] : [{ ...entry, text: action.text }],
        );
        ack();
        return this.#chats.emit(chat, { type: "queue_changed", queue: chat.queue });
      case "edit_message": {
        const id = newId("m");
        ack({ session_id, message_id: id, queued: false });
        return void this.#turns.turn(chat, id, action.text, chat.messages.get(action.message_id)!.parent_id);
      }
      case "regenerate":
      case "continue_turn": {
        ack({ session_id });
        if (action.action === "regenerate") {
          chat.leaf = chat.messages.get(action.message_id)!.parent_id;
          this.#chats.emit(chat, { type: "branch_selected", leaf_id: chat.leaf });
        }
        const asked = [...this.#chats.branch(chat).messages].reverse().find((entry) => entry.role === "user");
        const text = asked?.blocks.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
        return void this.#turns.answer(chat, text);
      }
      case "select_branch": {
        ack();
        chat.leaf = action.message_id;
        for (
          let child: Message | undefined;
          (child = [...chat.messages.values()].findLast((entry) => entry.parent_id === chat.leaf));
        )
          chat.leaf = child.id;
        return this.#chats.emit(chat, { type: "branch_selected", leaf_id: chat.leaf });
      }
      default:
        return ack();
    }
  }
}
