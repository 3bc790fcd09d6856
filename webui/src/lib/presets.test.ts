// @vitest-environment jsdom
import { describe, expect, test, vi } from "vitest";
import type { PresetInfo, ToolState } from "../protocol.gen";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined }));
const { entryName, flipped, freeName, groupsOf, inWords, leavesOut, unknownEntry } = await import("./presets");
const { settings } = await import("./settings.svelte");

const named = (name: string): PresetInfo => ({
  name,
  title: name,
  description: "",
  entries: [],
  includes: [],
  source: "user",
});
const tool = (name: string, source = "builtin"): ToolState => ({
  name,
  source,
  description: "",
  state: "on",
  reason: null,
  detail: "",
  residency: "resident",
  tokens: null,
  tokens_now: null,
  switchable: true,
  switched_off: false,
  layer: null,
});

describe("entries of a preset", () => {
  test("an entry that is flipped keeps its place and is there once", () => {
    expect(flipped(["a", "b", "c"], "b")).toEqual(["a", "-b", "c"]);
    expect(flipped(["-a", "b"], "-a")).toEqual(["a", "b"]);
    expect(flipped(["a", "b", "-a"], "a")).toEqual(["-a", "b"]);
    expect([leavesOut("-a"), leavesOut("a"), entryName("-a"), entryName("a")]).toEqual([true, false, "a", "a"]);
  });

  test("only a plain name can be unknown", () => {
    const tools = [tool("read")];
    expect(["read", "gone", "mcp__*", "@mcp", "r[e]ad"].map((name) => unknownEntry(name, tools))).toEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
  });

  test("each server and plug-in is a group of its own", () => {
    const entries = groupsOf([tool("a"), tool("b", "mcp:git"), tool("c", "mcp:git")]).map((group) => group.entry);
    expect(entries).toContain("@readonly");
    expect(entries.filter((entry) => entry === "@mcp:git")).toHaveLength(1);
  });
});

describe("the name of a new preset", () => {
  test("is made of its title and is not taken", () => {
    expect(freeName("My Tools!", [])).toBe("my-tools");
    expect(freeName("Full", [named("full"), named("full-2")])).toBe("full-3");
    expect(freeName("研究", [named("preset")])).toBe("preset-2");
    expect(freeName("--x--", [])).toBe("x");
    expect(freeName("x".repeat(100), [])).toMatch(/^[a-z0-9][a-z0-9 ._-]{0,63}$/);
  });
});

describe("a built-in preset", () => {
  const coding = {
    ...named("coding"),
    title: "Coding",
    description: "Read, change and run a code base",
    source: "builtin" as const,
  };

  test("reads in the user's language", () => {
    expect(inWords(coding)).toEqual(coding);
    settings.language = "zh";
    expect(inWords(coding)).toMatchObject({ name: "coding", title: "编程" });
    settings.language = "en";
  });

  test("keeps the server's words where the interface has none, and one of the user's own its title", () => {
    settings.language = "zh";
    const later = { ...named("later"), title: "Later", source: "builtin" as const };
    const own = { ...named("coding"), title: "Mine" };
    expect([inWords(later), inWords(own)]).toEqual([later, own]);
    settings.language = "en";
  });
});
