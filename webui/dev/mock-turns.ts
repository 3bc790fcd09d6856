/** The mock's turns: a script, said word by word. */
import type { ApprovalRequested, Event as ChatEvent, Message, ToolUseBlock } from "../src/protocol.gen";
import { message } from "../src/lib/state/fixtures.ts";
import { newId, now, type Chat, type Chats } from "./mock-chats.ts";
import { scriptFor, type Beat } from "./script.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** About 200 words a second, as the timers of Node round. */
const TEXT_PAUSE_MS = 4;

export class Turns {
  readonly #chats: Chats;

  constructor(chats: Chats) {
    this.#chats = chats;
  }

  async turn(chat: Chat, id: string, text: string, parent: string | null): Promise<void> {
    const entry = message(id, parent, "user", { blocks: [{ type: "text", text }], created_at: now() });
    this.#chats.add(chat, entry);
    this.#chats.emit(chat, { type: "message_added", message: entry });
    const first = [...chat.messages.values()].filter((other) => other.role === "user").length === 1;
    this.#chats.changed(chat, { visible: true, updated_at: now(), ...(first ? { title: text.slice(0, 48) } : {}) });
    await this.answer(chat, text);
  }

  async answer(chat: Chat, text: string): Promise<void> {
    const turn_id = newId("t");
    chat.turn = turn_id;
    chat.stopped = false;
    this.#chats.changed(chat, { status: "running" });
    this.#chats.emit(chat, { type: "turn_accepted", turn_id });
    this.#chats.emit(chat, {
      type: "turn_started",
      turn_id,
      fingerprint: "f",
      tools: this.#chats
        .tools(chat)
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
    this.#chats.emit(chat, {
      type: "turn_finished",
      turn_id,
      reason: failed ? "error" : chat.stopped ? "stopped" : "done",
      error,
    });
    this.#chats.changed(chat, { status: "idle", updated_at: now() });
    const next = chat.queue[0];
    if (next !== undefined && !chat.stopped) {
      chat.queue = chat.queue.slice(1);
      this.#chats.emit(chat, { type: "queue_changed", queue: chat.queue });
      await this.turn(chat, next.id, next.text, chat.leaf);
    }
  }

  /** One model request with its calls; returns whether it failed. */
  async #step(chat: Chat, turn_id: string, beats: Beat[]): Promise<boolean> {
    const live = message(newId("m"), chat.leaf, "assistant", { turn_id, model: "demo/demo", created_at: now() });
    chat.live = live;
    chat.partial = [];
    this.#chats.emit(chat, {
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
          bridged: false,
          arguments: beat.arguments as ToolUseBlock["arguments"],
        };
        live.blocks.push(use);
        calls.push({ use, beat });
        this.#chats.say(chat, {
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
          this.#chats.say(chat, { type, message_id: live.id, block, text: piece });
          await pause(beat.do === "think" ? 40 : TEXT_PAUSE_MS);
        }
        live.blocks.push(
          beat.do === "think"
            ? { type: "reasoning", text: said, signature: null, redacted: null, duration_ms: null }
            : { type: "text", text: said },
        );
      }
    }
    const done: Message = { ...live, status: chat.stopped ? "stopped" : failed ? "error" : "complete" };
    this.#chats.add(chat, done);
    chat.live = null;
    this.#chats.emit(chat, { type: "message_added", message: done });
    const usage = {
      uncached: 812,
      cache_read: 11_240,
      cache_write_5m: 0,
      cache_write_1h: null,
      output: 240,
      reasoning: null,
      searches: null,
    };
    this.#chats.emit(chat, {
      type: "step_finished",
      turn_id,
      step: 1,
      message_id: live.id,
      model: "demo/demo",
      usage,
      cost: 0.0042,
      cache: { read: 11_240, missed: 0, cause: null, provider: null },
      first_token_ms: 380,
      duration_ms: 2_400,
      answer_id: null,
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
        this.#chats.emit(chat, {
          type: "tool_call_started",
          turn_id,
          message_id,
          call_id: use.call_id,
          name: use.name,
          arguments: use.arguments,
        });
        for (const line of (beat.output ?? "").split(/(?<=\n)/)) {
          await pause((beat.ms ?? 500) / 3);
          if (line !== "") this.#chats.emit(chat, { type: "tool_output_delta", call_id: use.call_id, text: line });
        }
      }
      const status = chat.stopped ? "stopped" : allowed === "deny" ? "denied" : (beat.status ?? "ok");
      const result = {
        type: "tool_result" as const,
        call_id: use.call_id,
        status,
        content: [{ type: "text" as const, text: allowed === "deny" ? "The user refused this call." : beat.result }],
        display: (beat.display ?? null) as ToolUseBlock["arguments"] | null,
        duration_ms: allowed === "deny" ? 0 : (beat.ms ?? 420),
      } as Extract<Message["blocks"][number], { type: "tool_result" }>;
      results.push(result);
      this.#chats.emit(chat, {
        type: "tool_call_finished",
        call_id: use.call_id,
        status,
        result,
        duration_ms: result.duration_ms ?? 0,
        discovered: [],
      });
    }
    const entry = message(newId("m"), chat.leaf, "tool", { turn_id, blocks: results, created_at: now() });
    this.#chats.add(chat, entry);
    this.#chats.emit(chat, { type: "message_added", message: entry });
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
      left_out: 0,
      digest: "",
      directory: "~/project",
    };
    chat.approvals = [request];
    this.#chats.emit(chat, request);
    this.#chats.changed(chat, { status: "waiting" });
    const decision = await new Promise<"once" | "session" | "deny">((resolve) => (chat.answer = resolve));
    chat.answer = null;
    chat.approvals = [];
    this.#chats.emit(chat, {
      type: "approval_resolved",
      approval_id: request.approval_id,
      decision,
      note: null,
      held: null,
    });
    this.#chats.changed(chat, { status: "running" });
    return decision;
  }
}
