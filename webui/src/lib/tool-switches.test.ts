// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import type { ToolIntent } from "../protocol.gen";
import type { ActionBody, Connection } from "./connection";
import { fromSnapshot } from "./state/chat";
import { intent, sessionState } from "./state/fixtures";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
const { ToolSwitches } = await import("./tool-switches.svelte");
const { toasts } = await import("./toasts.svelte");

const COPY = ["bash", "read", "web_search"];

/** A chat with that intent, on a server that grants everything except what it is told to refuse. */
function chatWith(said: Partial<ToolIntent>, refused: string | null = null) {
  const actions: object[] = [];
  const complain = vi.fn();
  const request = (body: ActionBody) => {
    const { session_id: _, ...action } = body as ActionBody & { session_id: string };
    actions.push(action);
    if (body.action === refused) return Promise.reject(new Error("refused"));
    return Promise.resolve({ revision: actions.length, applies: "now" });
  };
  const tools = new ToolSwitches({
    state: fromSnapshot(sessionState({ intent: { ...intent, ...said } })),
    running: false,
    connection: { request } as unknown as Connection,
    ensure: () => Promise.resolve("s_1"),
    complain,
    inForce: () => undefined,
  });
  return { tools, actions, complain };
}

beforeEach(() => (toasts.list = []));

test("following the preset of a copied list stores names of no tools, and its search as the chip's (T1)", async () => {
  const { tools, actions } = chatWith({ picked: COPY });
  await tools.follow({ preset: "coding", web_search: true });
  expect(actions).toEqual([
    { action: "set_tools_profile", toolset: "coding" },
    { action: "toggle_web_search", value: true },
    { action: "pick_tools", tools: null },
  ]);
});

test("undo puts the list back first: while it is there no other tool is in force", async () => {
  const { tools, actions } = chatWith({ picked: COPY, toolset: "safe" });
  await tools.follow({ preset: "coding", web_search: true });
  actions.length = 0;
  toasts.list[0]!.action!.run();
  await vi.waitFor(() => expect(actions).toHaveLength(3));
  expect(actions).toEqual([
    { action: "pick_tools", tools: COPY },
    { action: "toggle_web_search", value: null },
    { action: "set_tools_profile", toolset: "safe" },
  ]);
});

test("a chip that the list did not need stays as it is", async () => {
  const { tools, actions } = chatWith({ picked: COPY, web_search: false });
  await tools.follow({ preset: "coding", web_search: false });
  expect(actions.map((action) => (action as ActionBody).action)).toEqual(["set_tools_profile", "pick_tools"]);
});

test("what cannot be taken up leaves the list in force and offers no undo", async () => {
  const { tools, actions, complain } = chatWith({ picked: COPY }, "toggle_web_search");
  await tools.follow({ preset: "coding", web_search: true });
  expect(actions).toHaveLength(2);
  expect(complain).toHaveBeenCalledOnce();
  expect(toasts.list).toEqual([]);
});
