import { expect, test } from "vitest";
import { ageOf, groupByDate } from "./dates";
import { session } from "./state/fixtures";

const now = new Date(2026, 2, 10, 9, 0); // 10 March, local time
const local = (...args: [number, number, number, number?]): string => new Date(...args).toISOString();

test("days are the reader's calendar days, not spans of 24 hours", () => {
  expect(ageOf(local(2026, 2, 10, 0), now)).toBe("today");
  expect(ageOf(local(2026, 2, 9, 23), now)).toBe("yesterday");
  expect(ageOf(local(2026, 2, 3, 1), now)).toBe("week");
  expect(ageOf(local(2026, 1, 10, 1), now)).toBe("month");
  expect(ageOf(local(2025, 0, 1, 1), now)).toBe("older");
});

test("pinned chats stand first, whatever their age, and empty groups are left out", () => {
  const chats = [
    session("s_1", { updated_at: local(2026, 2, 10) }),
    session("s_2", { updated_at: local(2020, 0, 1), pinned: true }),
  ];
  expect(groupByDate(chats, now).map((group) => [group.age, group.sessions.map((info) => info.id)])).toEqual([
    ["pinned", ["s_2"]],
    ["today", ["s_1"]],
  ]);
});
