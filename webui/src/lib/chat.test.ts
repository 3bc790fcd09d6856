// @vitest-environment jsdom
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Event as ChatEvent, Snapshot } from "../protocol.gen";
import { RequestError, type ActionBody, type Connection, type Subscriber } from "./connection";
import { effective, intent, message, session, sessionState, turnStarted } from "./state/fixtures";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
const { ChatStore } = await import("./chat.svelte");
const { toasts } = await import("./toasts.svelte");

interface Call {
  readonly body: ActionBody;
  readonly ack: (fields?: object) => Promise<void>;
  readonly refuse: (code: string, text: string) => Promise<void>;
}

/** The server's end of a chat, played by the test. */
class FakeServer {
  calls: Call[] = [];
  subscriber: Subscriber | null = null;
  created: boolean[] = [];

  readonly host = {
    connection: {
      request: (body: ActionBody) =>
        new Promise((resolve, reject) => {
          const settle = async (act: () => void): Promise<void> => {
            act();
            await vi.waitFor(() => Promise.resolve());
            await Promise.resolve();
          };
          this.calls.push({
            body,
            ack: (fields = {}) => settle(() => resolve({ type: "ack", id: "c", session_id: "s_1", ...fields })),
            refuse: (code, text) => settle(() => reject(new RequestError({ code, message: text }))),
          });
        }),
      subscribe: (_id: string, to: Subscriber) => {
        this.subscriber = to;
        return () => (this.subscriber = null);
      },
    } as unknown as Connection,
    created: (_chat: unknown, sent: boolean) => void this.created.push(sent),
    refused: () => undefined,
    linked: true,
  };

  show(changes: Parameters<typeof sessionState>[0] = {}): void {
    this.subscriber?.snapshot({
      type: "snapshot",
      session_id: "s_1",
      seq: 1,
      state: sessionState(changes),
    } as Snapshot);
  }

  tell(event: ChatEvent): void {
    this.subscriber?.event(event, "2026-01-01T00:00:00.000Z", 2);
  }

  get last(): Call {
    return this.calls.at(-1)!;
  }
}

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
  toasts.list = [];
});

describe("sending", () => {
  test("a message is on the page before the server has heard of it, and is there once afterwards", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    void chat.send("hi");
    expect(chat.rows.map((row) => row.kind)).toEqual(["outgoing"]);
    await server.last.ack({ message_id: "m_1", queued: false });
    expect(chat.rows.map((row) => row.kind)).toEqual(["outgoing"]);
    server.show({ messages: [message("m_1", null, "user", "hi")], turn_id: "t_1" });
    expect(chat.rows.map((row) => row.kind)).toEqual(["user", "working"]);
    expect(chat.outgoing).toEqual([]);
  });

  test("a refused message stays, says why, and can be sent again or thrown away", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    void chat.send("hi");
    await server.last.refuse("no_endpoint", "No model is connected.");
    expect(chat.rows[0]).toMatchObject({ kind: "outgoing", failed: "No model is connected." });
    chat.retry(chat.outgoing[0]!);
    expect(server.calls).toHaveLength(2);
    expect(chat.rows[0]).toMatchObject({ failed: null });
    await server.last.refuse("no_endpoint", "Still none.");
    chat.discard(chat.outgoing[0]!);
    expect(chat.rows).toEqual([]);
  });

  test("a queued message is the queue's, not the transcript's", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show({ turn_id: "t_1" });
    void chat.send("next");
    await server.last.ack({ message_id: "q_1", queued: true });
    expect(chat.rows.map((row) => row.kind)).toEqual(["working"]);
  });

  test("a turn runs from the moment its message is accepted, while it is still being prepared", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    server.tell({ type: "turn_accepted", turn_id: "t_1" });
    server.tell({ type: "message_added", message: message("m_1", null, "user", "hi") });
    await vi.waitFor(() => expect(chat.running).toBe(true));
    expect(chat.rows.map((row) => row.kind)).toEqual(["user", "working"]);
    chat.stop();
    await vi.waitFor(() => expect(server.last.body).toMatchObject({ action: "stop", session_id: "s_1" }));
  });

  test("a new chat's turn runs from the ack of its first message on", async () => {
    const chat = new ChatStore(server.host, null);
    void chat.send("hi");
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    expect(chat.running).toBe(false);
    await server.last.ack({ message_id: "m_1", queued: false });
    expect(chat.running).toBe(true);
    server.show({ messages: [message("m_1", null, "user", "hi")], turn_id: "t_1" });
    expect(chat.running).toBe(true);
  });

  test("messages written while offline stand below everything, in their order, marked until they are acked", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show({ messages: [message("m_1", null, "user", "hi"), message("m_2", "m_1", "assistant", "Half")] });
    void chat.send("one");
    void chat.send("two");
    const below = (): unknown[] => chat.rows.slice(-2).map((row) => row.kind === "outgoing" && [row.text, row.pending]);
    expect(below()).toEqual([
      ["one", true],
      ["two", true],
    ]);
    await server.calls[0]!.ack({ message_id: "m_3", queued: false });
    expect(below()).toEqual([
      ["one", false],
      ["two", true],
    ]);
  });

  test("what is written while a turn runs goes to where it will wait, below the half-written answer", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show({ messages: [message("m_1", null, "user", "hi")], turn_id: "t_1" });
    void chat.send("one");
    void chat.send("two");
    const joining = (): unknown[] => chat.joining.map((entry) => [entry.text, entry.messageId]);
    expect(joining()).toEqual([
      ["one", null],
      ["two", null],
    ]);
    expect(chat.rows.map((row) => row.kind)).toEqual(["user", "working"]);
    await server.calls[0]!.ack({ message_id: "q_1", queued: true });
    expect(joining()[0]).toEqual(["one", "q_1"]);
    const queue = [{ id: "q_1", text: "one", mode: "queue" as const, created_at: "", override: null, sender: null }];
    server.tell({ type: "queue_changed", queue });
    await vi.waitFor(() => expect(joining()).toEqual([["two", null]]));
  });

  test("several messages to a chat that does not exist yet make one chat", async () => {
    const chat = new ChatStore(server.host, null);
    void chat.send("one");
    void chat.send("two");
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    await server.last.ack({ message_id: "m_1", queued: false });
    await vi.waitFor(() => expect(server.calls).toHaveLength(2));
    expect(server.last.body).toMatchObject({ action: "chat", session_id: "s_1", text: "two" });
  });

  test("a switch that follows a first message on its way goes to the chat that the message makes (T6)", async () => {
    const chat = new ChatStore(server.host, null);
    void chat.send("hi");
    chat.tools.toggleSearch(true);
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    expect(server.last.body).toMatchObject({ action: "chat", session_id: null });
    await server.last.ack({ message_id: "m_1", queued: false });
    await vi.waitFor(() => expect(server.calls).toHaveLength(2));
    expect(server.last.body).toMatchObject({ action: "toggle_web_search", session_id: "s_1", value: true });
  });

  test("a chat that could not be made is made at the next try, and a message that waited for it says why", async () => {
    const chat = new ChatStore(server.host, null);
    const made = chat.ensure();
    void chat.send("hi");
    await server.last.refuse("storage_failed", "The disk is full.");
    await expect(made).rejects.toThrow("The disk is full.");
    await vi.waitFor(() => expect(chat.outgoing).toMatchObject([{ text: "hi", failed: "The disk is full." }]));
    chat.retry(chat.outgoing[0]!);
    await vi.waitFor(() => expect(server.calls).toHaveLength(2));
    expect(server.last.body).toMatchObject({ action: "chat", session_id: null, text: "hi" });
  });

  test("a waiting message is sent now by one action (P6)", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    chat.sendQueued("q_1");
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    const action = { action: "edit_queue", session_id: "s_1", queued_id: "q_1", text: null, send: true };
    expect(server.last.body).toEqual(action);
  });

  test("a chat that does not exist yet gets its id from the first message", async () => {
    const chat = new ChatStore(server.host, null);
    void chat.send("hi");
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    expect(server.last.body).toMatchObject({ action: "chat", session_id: null });
    await server.last.ack({ message_id: "m_1", queued: false });
    expect(chat.id).toBe("s_1");
    expect(server.created).toEqual([true]);
  });
});

describe("the chip (T4)", () => {
  const on = { ...effective, web_search: { state: "on" as const, reason: null } };

  test("flips at once, before the chat exists, and asks for it to be made", async () => {
    const chat = new ChatStore(server.host, null);
    chat.tools.toggleSearch();
    expect(chat.tools.chip).toMatchObject({ state: "on", pending: true });
    expect(server.last.body).toEqual({ action: "create_session" });
    await server.last.ack();
    await vi.waitFor(() => expect(server.last.body).toMatchObject({ action: "toggle_web_search", value: true }));
    await server.last.ack({ revision: 1, applies: "now" });
    server.show({ intent: { ...intent, web_search: true }, revision: 1, effective: on });
    expect(chat.tools.chip).toMatchObject({ state: "on", pending: false });
  });

  test("goes back and says why when the server refuses", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    chat.tools.toggleSearch();
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    await server.last.refuse("storage_failed", "The disk is full.");
    expect(chat.tools.chip.state).toBe("off");
    expect(toasts.list[0]?.text).toBe("The disk is full.");
  });

  test("shows what is in force, not what was clicked", async () => {
    const chat = new ChatStore(server.host, "s_1");
    server.show();
    chat.tools.toggleSearch();
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    const reason = "no service is configured";
    server.show({ revision: 1, effective: { web_search: { state: "unavailable", reason } } });
    expect(chat.tools.chip).toMatchObject({ state: "unavailable", reason });
  });

  test("during a turn it says that it waits for the next message, until that turn is over", async () => {
    const chat = new ChatStore(server.host, "s_1");
    const partial = {
      turn_id: "t_1",
      step: 1,
      message_id: "m_2",
      parent_id: null,
      model: "demo/demo",
      events: [turnStarted("t_1", ["read"])],
      at: ["2026-01-01T00:00:00.000Z"],
      started_at: "2026-01-01T00:00:00.000Z",
    };
    server.show({ turn_id: "t_1", partial });
    chat.tools.toggleSearch(true);
    expect(chat.tools.chip).toMatchObject({ state: "on", next: true });
    await vi.waitFor(() => expect(server.calls).toHaveLength(1));
    await server.last.ack({ revision: 1, applies: "next_turn" });
    server.show({ turn_id: "t_1", partial, revision: 1, effective: on });
    expect(chat.tools.chip.next).toBe(true);
    server.show({ turn_id: null, revision: 1, effective: on });
    expect(chat.tools.chip).toMatchObject({ state: "on", next: false });
  });
});

test("permission mode and model show at once and give way to the server", async () => {
  const chat = new ChatStore(server.host, "s_1");
  server.show();
  chat.setMode("auto");
  expect(chat.mode).toBe("auto");
  await vi.waitFor(() => expect(server.calls).toHaveLength(1));
  await server.last.ack();
  server.show({ session: session("s_1", { permission_mode: "auto" }) });
  server.show({ session: session("s_1", { permission_mode: "accept_edits" }) }); // from another tab
  expect(chat.mode).toBe("accept_edits");
});
