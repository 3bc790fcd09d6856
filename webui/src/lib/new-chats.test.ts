// @vitest-environment jsdom
import { describe, expect, test, vi } from "vitest";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
const { inWords, readNewChats, sameIntent, startingWith } = await import("./new-chats");

const full = readNewChats({
  mode: "fixed",
  intent: { toolset: "mine", web_search: false, disabled: ["bash", "gone"] },
});

describe("what new chats start from", () => {
  test("a setting that says nothing follows the server", () => {
    for (const value of [undefined, null, {}, { mode: "follow_profile", intent: {} }])
      expect(readNewChats(value).mode).toBe("follow_profile");
    expect(readNewChats(undefined).intent.disabled).toEqual([]);
  });

  test("a chat's tools are taken as they are, without those that are gone", () => {
    const taken = startingWith(full.intent, ["gone"]);
    expect(taken.mode).toBe("fixed");
    expect(taken.intent).toEqual({ ...full.intent, disabled: ["bash"] });
    expect(sameIntent(taken.intent, full.intent)).toBe(false);
    expect(sameIntent(taken.intent, { ...full.intent, disabled: ["bash"] })).toBe(true);
  });

  test("it is told in words, presets by their titles", () => {
    const preset = {
      name: "mine",
      title: "My own",
      description: "",
      entries: [],
      includes: [],
      source: "user" as const,
    };
    expect(inWords(full, [preset])).toBe("preset My own · no web search · without bash, gone");
    expect(inWords(full, [])).toContain("preset mine");
    expect(inWords({ ...full, mode: "last_used" }, [])).toBe("As in the chat before");
    expect(inWords(readNewChats({ mode: "fixed", intent: {} }), [])).toBe("The server's default");
  });
});
