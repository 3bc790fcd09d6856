import { describe, expect, test } from "vitest";
import type { SessionInfo } from "../protocol.gen";
import type { Connection } from "./connection";
import { Sessions } from "./sessions.svelte";

function chat(id: string, title: string, updated_at = "2026-01-01T00:00:00.000Z"): SessionInfo {
  return {
    ...{ id, title, updated_at, created_at: updated_at, visible: true, pinned: false, deleted: false },
    ...{ status: "idle", model: null, permission_mode: "ask", workspace: null, leaf_id: null },
  };
}

/** A server that answers when the test says so. */
function slow(): { sessions: Sessions; answer: (...list: readonly SessionInfo[]) => Promise<void> } {
  const waiting: ((page: unknown) => void)[] = [];
  const request = (): Promise<unknown> => new Promise((resolve) => waiting.push(resolve));
  const sessions = new Sessions(() => ({ request }) as unknown as Connection);
  return {
    sessions,
    answer: async (...list) => {
      waiting.shift()!({ sessions: list, more: false });
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

describe("the list of chats", () => {
  test("keeps the news that came while it was being asked for", async () => {
    const { sessions, answer } = slow();
    const loading = sessions.load();
    sessions.update(chat("s_1", "new title", "2026-01-02T00:00:00.000Z"));
    sessions.update(chat("s_3", "made meanwhile", "2026-01-03T00:00:00.000Z"));
    await answer(chat("s_2", "another"), chat("s_1", "old title"));
    await loading;
    expect(sessions.list.map((info) => [info.id, info.title])).toEqual([
      ["s_3", "made meanwhile"],
      ["s_1", "new title"],
      ["s_2", "another"],
    ]);
  });

  test("forgets what it knew before it was asked for", async () => {
    const { sessions, answer } = slow();
    sessions.update(chat("s_1", "gone since"));
    const loading = sessions.load();
    await answer(chat("s_2", "another"));
    await loading;
    expect(sessions.list.map((info) => info.id)).toEqual(["s_2"]);
  });

  test("has the news that came while older chats were being asked for", async () => {
    const { sessions, answer } = slow();
    const first = sessions.load();
    await answer(chat("s_2", "two", "2026-01-02T00:00:00.000Z"));
    await first;
    const more = sessions.loadMore();
    sessions.update(chat("s_1", "new title", "2026-01-03T00:00:00.000Z"));
    await answer(chat("s_1", "old title"));
    await more;
    expect(sessions.list.map((info) => [info.id, info.title])).toEqual([
      ["s_1", "new title"],
      ["s_2", "two"],
    ]);
  });
});
