/** The answer that is being written: blocks that grow, until the whole message takes their place. */
import type {
  HostedAdded,
  HostedBlock,
  ReasoningDelta,
  TextDelta,
  ToolCallDelta,
  ToolCallStarted,
} from "../../protocol.gen";

export interface LiveText {
  readonly type: "text";
  readonly text: string;
}

export interface LiveReasoning {
  readonly type: "reasoning";
  readonly text: string;
  readonly startedAt: string;
  /** Null while it goes on. */
  readonly endedAt: string | null;
}

export interface LiveCall {
  readonly type: "tool_use";
  readonly callId: string;
  readonly name: string;
  /** JSON text as far as it has come. */
  readonly argumentsText: string;
  readonly arguments: ToolCallStarted["arguments"] | null;
}

export type LiveBlock = LiveText | LiveReasoning | LiveCall | HostedBlock;

export interface LiveAnswer {
  readonly messageId: string;
  readonly turnId: string;
  readonly model: string;
  /** By block index of the protocol; a hole is a block of which nothing has come. */
  readonly blocks: readonly (LiveBlock | undefined)[];
}

export function openAnswer(start: { message_id: string; turn_id: string; model: string }): LiveAnswer {
  return { messageId: start.message_id, turnId: start.turn_id, model: start.model, blocks: [] };
}

type Delta = TextDelta | ReasoningDelta | ToolCallDelta | HostedAdded;

/** The answer with one more piece; a piece of another answer than the one being written is dropped. */
export function addDelta(live: LiveAnswer | null, delta: Delta, at: string): LiveAnswer | null {
  if (live === null || live.messageId !== delta.message_id) return live;
  const before = live.blocks[delta.block];
  const blocks = [...live.blocks];
  blocks[delta.block] = grown(before, delta, at);
  if (before === undefined) closeReasoning(blocks, delta.block, at);
  return { ...live, blocks };
}

function grown(before: LiveBlock | undefined, delta: Delta, at: string): LiveBlock {
  switch (delta.type) {
    case "text_delta":
      return { type: "text", text: (before?.type === "text" ? before.text : "") + delta.text };
    case "reasoning_delta": {
      const known = before?.type === "reasoning" ? before : null;
      return {
        type: "reasoning",
        text: (known?.text ?? "") + delta.text,
        startedAt: known?.startedAt ?? at,
        endedAt: null,
      };
    }
    case "hosted_added":
      return delta.hosted;
    case "tool_call_delta": {
      const text = before?.type === "tool_use" ? before.argumentsText : "";
      return {
        type: "tool_use",
        callId: delta.call_id,
        name: delta.name,
        argumentsText: text + delta.text,
        arguments: null,
      };
    }
  }
}

function closeReasoning(blocks: (LiveBlock | undefined)[], newest: number, at: string): void {
  for (let index = 0; index < newest; index++) {
    const block = blocks[index];
    if (block?.type === "reasoning" && block.endedAt === null) blocks[index] = { ...block, endedAt: at };
  }
}

/** The arguments of a call are whole; a call that was never seen being written gets its block now. */
export function callWritten(live: LiveAnswer | null, call: ToolCallStarted): LiveAnswer | null {
  if (live === null || live.messageId !== call.message_id) return live;
  const whole: LiveCall = {
    type: "tool_use",
    callId: call.call_id,
    name: call.name,
    argumentsText: "",
    arguments: call.arguments,
  };
  const at = live.blocks.findIndex((block) => block?.type === "tool_use" && block.callId === call.call_id);
  const blocks = at === -1 ? [...live.blocks, whole] : live.blocks.with(at, whole);
  return { ...live, blocks };
}
