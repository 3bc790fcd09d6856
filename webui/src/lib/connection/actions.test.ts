import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FakeSocket, last, make } from "./fake";
import type { RequestError } from "./types";

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.opened = [];
});
afterEach(() => {
  vi.useRealTimers();
});

describe("actions", () => {
  test("an unanswered action is sent again after a reconnect with the same id, in order (P5)", async () => {
    const { link } = make();
    link.start();
    last().hello();
    const first = link.request({ action: "rename_session", session_id: "s_1", title: "a" });
    const second = link.request({ action: "pin_session", session_id: "s_1", value: true });
    const sent = last().sent.slice(-2);
    last().receive({ type: "ack", id: sent[0]!["id"] });
    await first;
    last().drop();
    link.wake();
    last().hello();
    expect(last().sent.slice(-1)).toEqual([sent[1]]);
    last().receive({ type: "ack", id: sent[1]!["id"] });
    last().receive({ type: "ack", id: sent[1]!["id"] }); // the first answer was only late
    await second;
    last().drop();
    link.wake();
    last().hello();
    expect(last().sent).toHaveLength(1); // the sidebar's subscription, nothing else
  });

  test("an action made while the link is down goes out when it is back", async () => {
    const { link } = make();
    link.start();
    const done = link.request({ action: "stop", session_id: "s_1" });
    last().hello();
    const [frame] = last().actions("stop");
    last().receive({ type: "ack", id: frame!["id"] });
    await expect(done).resolves.toMatchObject({ type: "ack" });
  });

  test("a refusal carries code, message, field and hint", async () => {
    const { link, errors } = make();
    link.start();
    last().hello();
    const done = link.request({ action: "set_tools_profile", session_id: "s_1", toolset: "reserch" });
    const [frame] = last().actions("set_tools_profile");
    last().receive({
      type: "error",
      id: frame!["id"],
      code: "unknown_preset",
      message: "no",
      field: "toolset",
      hint: "research?",
    });
    await expect(done).rejects.toMatchObject({ code: "unknown_preset", field: "toolset", hint: "research?" });
    expect(errors).toEqual([]);
    last().receive({ type: "error", code: "bad_json", message: "x" });
    expect(errors).toEqual(["bad_json"]);
  });

  test("a frame that is too large fails instead of closing every next socket too", async () => {
    const { link } = make();
    link.start();
    last().hello();
    const large = link.request({ action: "chat", text: "x".repeat(1000) });
    const small = link.request({ action: "stop", session_id: "s_1" });
    const failed = large.catch((error: RequestError) => error.code);
    last().drop(1009);
    expect(await failed).toBe("too_large");
    link.wake();
    last().hello();
    expect(last().actions("chat")).toEqual([]);
    last().receive({ type: "ack", id: last().actions("stop")[0]!["id"] });
    await small;
  });

  test("stopping the link ends what is waiting", async () => {
    const { link } = make();
    link.start();
    const done = link.request({ action: "stop", session_id: "s_1" }).catch((error: RequestError) => error.code);
    link.stop();
    expect(await done).toBe("stopped");
    expect(link.state).toBe("stopped");
  });
});
