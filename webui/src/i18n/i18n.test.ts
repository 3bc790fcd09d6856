import { expect, test } from "vitest";
import { en, type Key } from "./en";
import { fill } from "./translate";
import { zh } from "./zh";

const names = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).sort();

test("both languages have the same messages with the same values", () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  for (const key of Object.keys(en) as Key[]) expect([key, names(zh[key])]).toEqual([key, names(en[key])]);
});

test("Chinese is not left in English", () => {
  const same = (Object.keys(en) as Key[]).filter((key) => zh[key] === (en[key] as string));
  expect(same).toEqual(["app.name", "demo.anthropic"]);
});

test("values are put in where they belong, once", () => {
  expect(fill("{a} of {b}", { a: "{b}", b: 2 })).toBe("{b} of 2");
  expect(fill("plain {x}", {})).toBe("plain {x}");
});
