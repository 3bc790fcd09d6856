/** Values for tests and for the mock server: a chat as the server would describe it. */
import type { Effective, Message, SessionInfo, SessionState, ToolIntent, TurnStarted } from "../../protocol.gen";

export const intent: ToolIntent = {
  enabled: null,
  toolset: null,
  web_search: null,
  disabled: [],
  picked: null,
  allowed: null,
};
export const effective: Effective = { web_search: { state: "off", reason: null } };

export function session(id = "s_1", changes: Partial<SessionInfo> = {}): SessionInfo {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    id, title: "A chat", created_at: at, updated_at: at, visible: true, pinned: false, deleted: false, status: "idle",
    model: null, permission_mode: "ask", workspace: null, leaf_id: null, ...changes,
  }; // prettier-ignore
}

export function message(
  id: string,
  parent: string | null,
  role: Message["role"],
  changes: Partial<Message> | string = {},
): Message {
  const extra = typeof changes === "string" ? { blocks: [{ type: "text" as const, text: changes }] } : changes;
  return {
    id,
    parent_id: parent,
    role,
    blocks: [],
    created_at: "2026-01-01T00:00:00.000Z",
    turn_id: null,
    status: "complete",
    model: null,
    override: null,
    sender: null,
    compaction: null,
    ...extra,
  };
}

export function sessionState(changes: Partial<SessionState> = {}): SessionState {
  return {
    session: session(), messages: [], siblings: {}, more: false, status: "idle", turn_id: null, partial: null, intent, revision: 0,
    effective, permission_mode: "ask", queue: [], approvals: [], questions: [],
    usage: { uncached: null, cache_read: null, cache_write_5m: null, cache_write_1h: null, output: null, reasoning: null, searches: null }, cost: null,
    outcome: null, outcome_at: null, notes: [], steps: [], ...changes,
  }; // prettier-ignore
}

export function turnStarted(turnId: string, tools: string[] = []): TurnStarted {
  return {
    type: "turn_started",
    turn_id: turnId,
    fingerprint: "f",
    tools,
    residency: {},
    intent_revision: 0,
    registry_version: 1,
  };
}
