import { expect, test } from "vitest";
import { toolProblems } from "./tool-problems";

const said = (names: string): string => `unknown: ${names}`;

test("every problem that the server tells has its line, names first, then source by source", () => {
  const ack = { unknown: ["a", "b"], problems: { "plugin:x": ["one", "two"], "config.toml": ["three"], empty: [] } };
  expect(toolProblems(ack, said)).toEqual([
    { source: "names", text: "unknown: a, b" },
    { source: "config.toml", text: "three" },
    { source: "plugin:x", text: "one" },
    { source: "plugin:x", text: "two" },
  ]);
});

test("where all is well there is no line", () => {
  expect(toolProblems({ unknown: [], problems: {} }, said)).toEqual([]);
});
