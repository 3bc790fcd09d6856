/** A stand-in for the server, in memory: enough of the protocol to build and look at the interface. */
import type { WebSocket } from "ws";
import type {
  Action,
  ApprovalRequested,
  Effective,
  Event as ChatEvent,
  Message,
  QueuedMessage,
  SessionInfo,
  SessionState,
  ToolIntent,
  ToolState,
  ToolUseBlock,
} from "../src/protocol.gen";
import { message, session, sessionState } from "../src/lib/state/fixtures";
import { scriptFor, type Beat } from "./script";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const now = (): string => new Date().toISOString();
let counter = 0;
/** About 200 words a second, as the timers of Node round. */
const TEXT_PAUSE_MS = 4;
const newId = (prefix: string): string => `${prefix}_${(++counter).toString(36).padStart(4, "0")}`;

interface Chat {
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

type Client = { socket: WebSocket; chats: Set<string>; hints: boolean };

export class MockServer {
  readonly #chats = new Map<string, Chat>();
  readonly #clients = new Set<Client>();
  readonly #done = new Map<string, object>();
  #consent = false;

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
      const chat = this.#create({ title, updated_at: at, created_at: at, visible: true, pinned: index === 3 });
      this.#fill(chat, index === 4 ? 500 : 2);
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
      presets: ["default", "full", "coding", "research", "safe", "none"].map((name) => ({ name, title: name[0]!.toUpperCase() + name.slice(1), description: descriptions[name] ?? "" })),
      workspace: "~/project",
    }); // prettier-ignore
  }

  #send(client: Client, frame: object): void {
    client.socket.send(JSON.stringify(frame));
  }

  #create(changes: Partial<SessionInfo> = {}): Chat {
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
    this.#chats.set(info.id, chat);
    return chat;
  }

  #fill(chat: Chat, pairs: number): void {
    for (let index = 0; index < pairs; index++) {
      this.#add(
        chat,
        message(newId("m"), chat.leaf, "user", `Question ${index + 1}: what does \`merge\` do with null?`),
      );
      const turn_id = newId("t");
      this.#add(
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

  #add(chat: Chat, entry: Message): void {
    chat.messages.set(entry.id, entry);
    chat.leaf = entry.id;
  }

  #branch(chat: Chat): { messages: Message[]; siblings: Record<string, string[]> } {
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

  #effective(chat: Chat): Effective {
    const on = chat.intent.web_search ?? (chat.intent.toolset === "research" || chat.intent.toolset === "full");
    if (!on) return { web_search: { state: "off", reason: null } };
    return {
      web_search: this.#consent
        ? { state: "on", reason: null }
        : { state: "unavailable", reason: "No search service is configured. Keyless search needs your consent once." },
    };
  }

  #emit(chat: Chat, event: ChatEvent): void {
    chat.seq += 1;
    const frame = { type: "event", session_id: chat.info.id, seq: chat.seq, at: now(), event };
    chat.log.push({ seq: chat.seq, at: frame.at, event });
    for (const client of this.#clients) if (client.chats.has(chat.info.id)) this.#send(client, frame);
  }

  #say(chat: Chat, event: ChatEvent): void {
    chat.partial.push(event);
    this.#emit(chat, event);
  }

  #changed(chat: Chat, changes: Partial<SessionInfo>): void {
    chat.info = { ...chat.info, ...changes };
    this.#emit(chat, { type: "session_changed", session: chat.info });
    for (const client of this.#clients)
      if (client.hints) this.#send(client, { type: "hint", hint: "session_changed", session: chat.info });
  }

  #state(chat: Chat): SessionState {
    const { messages, siblings } = this.#branch(chat);
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
      effective: this.#effective(chat),
      permission_mode: chat.info.permission_mode,
      queue: chat.queue,
      approvals: chat.approvals,
    });
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
    const chat = session_id == null ? undefined : this.#chats.get(session_id);
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
          return this.#send(client, { type: "snapshot", session_id, seq: chat.seq, state: this.#state(chat) });
        for (const entry of chat.log)
          if (entry.seq > (action.after_seq ?? 0)) this.#send(client, { type: "event", session_id, ...entry });
        return;
      case "unsubscribe":
        if (session_id != null) client.chats.delete(session_id);
        return ack();
      case "list_sessions":
        return ack({
          sessions: [...this.#chats.values()]
            .map((entry) => entry.info)
            .filter((info) => info.visible && !info.deleted)
            .sort((a, b) => b.updated_at.localeCompare(a.updated_at)),
          more: false,
        });
      case "create_session":
        return ack({ session_id: this.#create().info.id });
      case "get_settings":
        return ack({ settings: { keyless_search_consent: this.#consent, permission_mode: "ask" } });
      case "set_setting":
        if (action.key === "keyless_search_consent") this.#consent = action.value === true;
        for (const entry of this.#chats.values())
          this.#emit(entry, {
            type: "intent_changed",
            intent: entry.intent,
            revision: entry.revision,
            effective: this.#effective(entry),
          });
        return ack({ settings: { keyless_search_consent: this.#consent, permission_mode: "ask" } });
      case "chat": {
        const target = chat ?? this.#create();
        const message_id = newId("m");
        if (target.turn !== null) {
          target.queue = [
            ...target.queue,
            { id: message_id, text: action.text, mode: "queue", created_at: now(), override: null },
          ];
          ack({ session_id: target.info.id, message_id, queued: true });
          return this.#emit(target, { type: "queue_changed", queue: target.queue });
        }
        ack({ session_id: target.info.id, message_id, queued: false });
        return void this.#turn(target, message_id, action.text, target.leaf);
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
      this.#emit(chat, {
        type: "intent_changed",
        intent: chat.intent,
        revision: chat.revision,
        effective: this.#effective(chat),
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
          tools: this.#tools(chat),
          decided: [
            {
              field: "toolset",
              layer: chat.intent.toolset === null ? "default" : "session",
              value: chat.intent.toolset,
            },
          ],
          unknown: [],
          effective: this.#effective(chat),
          error: null,
        });
      case "load_messages": {
        const { messages, siblings } = this.#branch(chat);
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
        return this.#changed(chat, { title: action.title });
      case "pin_session":
        ack();
        return this.#changed(chat, { pinned: action.value });
      case "delete_session":
        ack();
        return this.#changed(chat, { deleted: true });
      case "restore_session":
        ack();
        return this.#changed(chat, { deleted: false });
      case "set_model":
        ack();
        return this.#changed(chat, { model: action.model });
      case "set_permission_mode":
        ack();
        return this.#changed(chat, { permission_mode: action.mode });
      case "edit_queue":
        chat.queue = chat.queue.flatMap((entry) =>
          entry.id !== action.queued_id ? [entry] : action.text === null ? [] : [{ ...entry, text: action.text }],
        );
        ack();
        return this.#emit(chat, { type: "queue_changed", queue: chat.queue });
      case "edit_message": {
        const id = newId("m");
        ack({ session_id, message_id: id, queued: false });
        return void this.#turn(chat, id, action.text, chat.messages.get(action.message_id)!.parent_id);
      }
      case "regenerate":
      case "continue_turn": {
        ack({ session_id });
        if (action.action === "regenerate") {
          chat.leaf = chat.messages.get(action.message_id)!.parent_id;
          this.#emit(chat, { type: "branch_selected", leaf_id: chat.leaf });
        }
        const asked = [...this.#branch(chat).messages].reverse().find((entry) => entry.role === "user");
        const text = asked?.blocks.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
        return void this.#answer(chat, text);
      }
      case "select_branch": {
        ack();
        chat.leaf = action.message_id;
        for (
          let child: Message | undefined;
          (child = [...chat.messages.values()].findLast((entry) => entry.parent_id === chat.leaf));
        )
          chat.leaf = child.id;
        return this.#emit(chat, { type: "branch_selected", leaf_id: chat.leaf });
      }
      default:
        return ack();
    }
  }

  #tools(chat: Chat): ToolState[] {
    const preset = chat.intent.toolset ?? "default";
    return tools.map(([name, source, residency, tokens, description]) => {
      const disabled = chat.intent.disabled.includes(name);
      const chip = name === "web_search";
      const search = this.#effective(chat).web_search;
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
        switched_off: disabled,
        switchable: !chip,
        state,
        reason: down ? "not_configured" : off,
        detail: down ? (search.reason ?? "") : "",
      };
    });
  }

  async #turn(chat: Chat, id: string, text: string, parent: string | null): Promise<void> {
    const entry = message(id, parent, "user", { blocks: [{ type: "text", text }], created_at: now() });
    this.#add(chat, entry);
    this.#emit(chat, { type: "message_added", message: entry });
    const first = [...chat.messages.values()].filter((other) => other.role === "user").length === 1;
    this.#changed(chat, { visible: true, updated_at: now(), ...(first ? { title: text.slice(0, 48) } : {}) });
    await this.#answer(chat, text);
  }

  async #answer(chat: Chat, text: string): Promise<void> {
    const turn_id = newId("t");
    chat.turn = turn_id;
    chat.stopped = false;
    this.#changed(chat, { status: "running" });
    this.#emit(chat, {
      type: "turn_started",
      turn_id,
      fingerprint: "f",
      tools: this.#tools(chat)
        .filter((tool) => tool.state === "on")
        .map((tool) => tool.name),
      residency: {},
      intent_revision: chat.revision,
      registry_version: 1,
    });
    await pause(400);
    let failed = false;
    let beats = scriptFor(text);
    while (beats.length > 0 && !chat.stopped && !failed) {
      const cut = beats.findIndex((beat) => beat.do === "call");
      const step = cut === -1 ? beats : beats.slice(0, cut + 1);
      beats = beats.slice(step.length);
      failed = await this.#step(chat, turn_id, step);
    }
    chat.turn = null;
    chat.live = null;
    const error = failed
      ? {
          code: "rate_limited",
          message: "The provider is limiting requests.",
          action: "wait" as const,
          hint: "Wait a moment, or choose another model.",
          retry_after_s: 20,
        }
      : null;
    this.#emit(chat, {
      type: "turn_finished",
      turn_id,
      reason: failed ? "error" : chat.stopped ? "stopped" : "done",
      error,
    });
    this.#changed(chat, { status: "idle", updated_at: now() });
    const next = chat.queue[0];
    if (next !== undefined && !chat.stopped) {
      chat.queue = chat.queue.slice(1);
      this.#emit(chat, { type: "queue_changed", queue: chat.queue });
      await this.#turn(chat, next.id, next.text, chat.leaf);
    }
  }

  /** One model request with its calls; returns whether it failed. */
  async #step(chat: Chat, turn_id: string, beats: Beat[]): Promise<boolean> {
    const live = message(newId("m"), chat.leaf, "assistant", { turn_id, model: "demo/demo", created_at: now() });
    chat.live = live;
    chat.partial = [];
    this.#emit(chat, {
      type: "step_started",
      turn_id,
      step: 1,
      message_id: live.id,
      parent_id: live.parent_id,
      model: "demo/demo",
    } as ChatEvent);
    const calls: { use: ToolUseBlock; beat: Extract<Beat, { do: "call" }> }[] = [];
    let failed = false;
    for (const beat of beats) {
      const block = live.blocks.length;
      if (beat.do === "fail") failed = true;
      else if (beat.do === "call") {
        const use: ToolUseBlock = {
          type: "tool_use",
          call_id: newId("c"),
          name: beat.name,
          arguments: beat.arguments as ToolUseBlock["arguments"],
        };
        live.blocks.push(use);
        calls.push({ use, beat });
        this.#say(chat, {
          type: "tool_call_delta",
          message_id: live.id,
          block,
          call_id: use.call_id,
          name: use.name,
          text: JSON.stringify(beat.arguments),
        });
      } else {
        const type = beat.do === "think" ? "reasoning_delta" : "text_delta";
        let said = "";
        for (const piece of beat.text.match(/\S+\s*|\s+/g) ?? []) {
          if (chat.stopped) break;
          said += piece;
          this.#say(chat, { type, message_id: live.id, block, text: piece });
          await pause(beat.do === "think" ? 40 : TEXT_PAUSE_MS);
        }
        live.blocks.push(
          beat.do === "think"
            ? { type: "reasoning", text: said, signature: null, redacted: null }
            : { type: "text", text: said },
        );
      }
    }
    const done: Message = { ...live, status: chat.stopped ? "stopped" : failed ? "error" : "complete" };
    this.#add(chat, done);
    chat.live = null;
    this.#emit(chat, { type: "message_added", message: done });
    const usage = {
      uncached: 812,
      cache_read: 11_240,
      cache_write_5m: 0,
      cache_write_1h: null,
      output: 240,
      reasoning: null,
    };
    this.#emit(chat, {
      type: "step_finished",
      turn_id,
      step: 1,
      message_id: live.id,
      model: "demo/demo",
      usage,
      cost: 0.0042,
      cache: { read: 11_240, missed: 0, cause: null },
      first_token_ms: 380,
      duration_ms: 2_400,
    });
    if (calls.length > 0) await this.#results(chat, turn_id, live.id, calls);
    return failed;
  }

  async #results(
    chat: Chat,
    turn_id: string,
    message_id: string,
    calls: { use: ToolUseBlock; beat: Extract<Beat, { do: "call" }> }[],
  ): Promise<void> {
    const results: Message["blocks"] = [];
    for (const { use, beat } of calls) {
      const allowed = chat.stopped ? "deny" : await this.#ask(chat, turn_id, use, beat);
      if (allowed !== "deny") {
        this.#emit(chat, {
          type: "tool_call_started",
          turn_id,
          message_id,
          call_id: use.call_id,
          name: use.name,
          arguments: use.arguments,
        });
        for (const line of (beat.output ?? "").split(/(?<=\n)/)) {
          await pause((beat.ms ?? 500) / 3);
          if (line !== "") this.#emit(chat, { type: "tool_output_delta", call_id: use.call_id, text: line });
        }
      }
      const status = chat.stopped ? "stopped" : allowed === "deny" ? "denied" : (beat.status ?? "ok");
      const result = {
        type: "tool_result" as const,
        call_id: use.call_id,
        status,
        content: [{ type: "text" as const, text: allowed === "deny" ? "The user refused this call." : beat.result }],
        display: (beat.display ?? null) as ToolUseBlock["arguments"] | null,
      } as Extract<Message["blocks"][number], { type: "tool_result" }>;
      results.push(result);
      this.#emit(chat, {
        type: "tool_call_finished",
        call_id: use.call_id,
        status,
        result,
        duration_ms: beat.ms ?? 420,
      });
    }
    const entry = message(newId("m"), chat.leaf, "tool", { turn_id, blocks: results, created_at: now() });
    this.#add(chat, entry);
    this.#emit(chat, { type: "message_added", message: entry });
  }

  async #ask(
    chat: Chat,
    turn_id: string,
    use: ToolUseBlock,
    beat: Extract<Beat, { do: "call" }>,
  ): Promise<"once" | "session" | "deny"> {
    const mode = chat.info.permission_mode;
    if (beat.approve === undefined || mode === "auto" || (mode === "accept_edits" && beat.approve === "diff"))
      return "once";
    const preview =
      beat.approve === "command" ? String(beat.arguments["command"]) : String(beat.display?.["diff"] ?? "");
    const request: ApprovalRequested = {
      type: "approval_requested",
      approval_id: newId("a"),
      turn_id,
      call_id: use.call_id,
      tool: use.name,
      arguments: use.arguments,
      kind: beat.approve,
      preview,
      reason: "Commands and changes to files need your consent in this mode.",
      pattern: beat.approve === "command" ? "python -m pytest *" : "edits in src/",
    };
    chat.approvals = [request];
    this.#emit(chat, request);
    this.#changed(chat, { status: "waiting" });
    const decision = await new Promise<"once" | "session" | "deny">((resolve) => (chat.answer = resolve));
    chat.answer = null;
    chat.approvals = [];
    this.#emit(chat, { type: "approval_resolved", approval_id: request.approval_id, decision, note: null });
    this.#changed(chat, { status: "running" });
    return decision;
  }
}

const descriptions: Record<string, string> = {
  default: "What most chats need",
  full: "Every tool there is",
  coding: "Files, shell and search in code",
  research: "The web, and reading",
  safe: "Reading only: no shell, no changes",
  none: "No tools at all",
};

const tools: [string, string, "resident" | "deferred", number, string][] = [
  ["bash", "builtin", "resident", 212, "Run a command in the workspace."], ["read", "builtin", "resident", 148, "Read a file."], ["write", "builtin", "resident", 121, "Write a file."],
  ["edit", "builtin", "resident", 174, "Replace text in a file."], ["glob", "builtin", "resident", 96, "Find files by pattern."], ["grep", "builtin", "resident", 188, "Search in files."],
  ["list", "builtin", "resident", 64, "List a directory."], ["web_fetch", "builtin", "resident", 132, "Read a web page."], ["web_search", "builtin", "resident", 141, "Search the web."],
  ["worktree_create", "plugin:git", "deferred", 210, "Create a git worktree."], ["worktree_remove", "plugin:git", "deferred", 140, "Remove a git worktree."],
  ["issues__search", "mcp:issues", "deferred", 260, "Search issues."], ["issues__comment", "mcp:issues", "deferred", 240, "Comment on an issue."],
]; // prettier-ignore
