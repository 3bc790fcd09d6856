import { describe, expect, test } from "vitest";
import type { ToolState } from "../protocol.gen";
import { groupTools, short } from "./tool-groups";

const tool = (name: string, fields: Partial<ToolState> = {}): ToolState => ({
  name,
  source: "builtin",
  description: "",
  state: "on",
  reason: null,
  detail: "",
  residency: "resident",
  tokens: 100,
  tokens_now: 100,
  switchable: true,
  switched_off: false,
  layer: null,
  ...fields,
});

describe("groups of tools", () => {
  test("built-in tools come first, and in each group what works before what does not", () => {
    const groups = groupTools(
      [
        tool("x", { source: "mcp:git" }),
        tool("a", { state: "off", tokens_now: 0 }),
        tool("b", { state: "unavailable", tokens_now: 0 }),
        tool("d", { state: "deferred", tokens_now: 3 }),
        tool("c"),
        tool("e", { state: "refused_by_mode" }),
        tool("y", { source: "mcp:git", state: "down" }),
      ],
      "",
    );
    expect(groups.map((group) => [group.source, group.list.map((each) => each.name)])).toEqual([
      ["builtin", ["c", "d", "b", "e", "a"]],
      ["mcp:git", ["x", "y"]],
    ]);
    expect(groups.map((group) => [group.on, group.tokens])).toEqual([
      [3, 203],
      [2, 200],
    ]);
  });

  test("what was typed is looked for in names, descriptions and sources", () => {
    const tools = [tool("read"), tool("x", { source: "mcp:Git" }), tool("y", { description: "Of git" })];
    expect(groupTools(tools, " GIT ").flatMap((group) => group.list.map((each) => each.name))).toEqual(["y", "x"]);
    expect(groupTools(tools, "nothing")).toEqual([]);
  });

  test("a price is not told before every part of it is counted", () => {
    expect(groupTools([tool("a"), tool("b", { tokens_now: null })], "")[0]?.tokens).toBeNull();
  });
});

test("numbers of tokens are short", () => {
  expect([0, 999, 1_000, 2_345, 9_949, 9_950, 41_200].map(short)).toEqual([
    "0",
    "999",
    "1.0k",
    "2.3k",
    "9.9k",
    "10k",
    "41k",
  ]);
});
