import { expect, test } from "vitest";
import { commandOf } from "./shortcuts";

const press = (key: string, held: Partial<Record<"ctrlKey" | "metaKey" | "shiftKey" | "altKey", boolean>> = {}) =>
  commandOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held });

test("keys that people type are no commands", () => {
  for (const key of ["a", "K", "/", ".", "Enter", "1"]) expect(press(key)).toBeNull();
  expect(press("k", { ctrlKey: true, altKey: true })).toBeNull();
});

test("Control and Command mean the same", () => {
  expect(press("k", { ctrlKey: true })).toBe("search");
  expect(press("k", { metaKey: true })).toBe("search");
  expect(press("O", { ctrlKey: true, shiftKey: true })).toBe("new");
  expect(press(".", { metaKey: true })).toBe("chip");
  expect(press("/", { ctrlKey: true })).toBe("sheet");
});

test("Escape stops, with Shift it goes to the message box", () => {
  expect(press("Escape")).toBe("stop");
  expect(press("Escape", { shiftKey: true })).toBe("focus");
});
