import { expect, test } from "vitest";
import { Wish } from "./wish.svelte";

test("a wish shows at once and ends with the server's own word about it", () => {
  const wish = new Wish<boolean>();
  expect(wish.or(false)).toBe(false);
  wish.make(true);
  expect(wish.or(false)).toBe(true);
  wish.granted(3, 2); // accepted as revision 3, of which this tab has not heard yet
  expect(wish.value).toBe(true);
  wish.seen(3);
  expect(wish.value).toBeUndefined();
});

test("a no-op keeps the revision, and its wish ends with the ack", () => {
  const wish = new Wish<boolean>();
  wish.make(true);
  wish.granted(2, 2);
  expect(wish.value).toBeUndefined();
});

test("a late answer to the first click does not undo the second", () => {
  const wish = new Wish<boolean>();
  wish.make(true);
  wish.make(false);
  wish.granted(1, 1);
  expect(wish.value).toBe(false);
  wish.granted(2, 2);
  expect(wish.value).toBeUndefined();
});

test("a refusal shows the truth again, unless another click waits", () => {
  const wish = new Wish<string | null>();
  wish.make("research");
  wish.make(null);
  wish.drop();
  expect(wish.value).toBeNull();
  wish.drop();
  expect(wish.value).toBeUndefined();
});

test("a value without a revision is fulfilled when the server says the same", () => {
  const wish = new Wish<string>();
  wish.make("auto");
  wish.matches("ask");
  expect(wish.or("ask")).toBe("auto");
  wish.matches("auto");
  expect(wish.value).toBeUndefined();
});
