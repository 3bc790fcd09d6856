import { afterEach, expect, test, vi } from "vitest";
import { errorLine, errorWords, noticeWords } from "./server-words";
import { settings } from "./settings.svelte";

vi.mock("./settings.svelte", () => ({ settings: { language: "en" } }));

afterEach(() => (settings.language = "en"));

test("in English the server's own words are shown", () => {
  settings.language = "en";
  expect(errorWords("bad_key", "Acme refused the key.")).toEqual({ text: "Acme refused the key.", detail: "" });
  expect(noticeWords("continued", "Continuing.")).toBe("Continuing.");
});

test("in Chinese a known code is said in Chinese, with the server's words beside it", () => {
  settings.language = "zh";
  const said = errorWords("bad_key", "Acme refused the key.");
  expect(said.text).toContain("密钥");
  expect(said.detail).toBe("Acme refused the key.");
  expect(errorLine({ code: "bad_field", message: "text: too short", hint: "write more" })).toMatch(
    /text: too short: write more$/,
  );
});

test("what can be done stands apart from what happened", () => {
  settings.language = "en";
  const line = (message: string): string => errorLine({ code: "bad_field", message, hint: "make it first" });
  expect(line("there is no directory /a")).toBe("there is no directory /a: make it first");
  expect(line("The disk is full.")).toBe("The disk is full. make it first");
});

test("a quiet line keeps its names and figures", () => {
  settings.language = "zh";
  const retry = noticeWords("retry", "Acme is overloaded. Trying again in 4 s (attempt 2).");
  expect(retry).toContain("4 秒");
  expect(retry).toContain("Acme");
  const gone = "The work goes on without bash, read: used before, but not among this chat's tools any more.";
  expect(noticeWords("tools_gone", gone)).toContain("bash, read");
  const forced =
    "The next request declares the tools anew, as you asked: that costs about 4,096 tokens once and saves about 812 a turn.";
  expect(noticeWords("rebase_forced", forced)).toMatch(/4,096.*812/s);
  const free = "The next request declares the tools anew, as you asked: that costs nothing.";
  expect(noticeWords("rebase_forced", free)).toContain("不花费用");
  expect(noticeWords("job_ended", "Background command j_1: it ended with exit code 0 (sleep 5)")).toContain("j_1");
});

test("an unknown code, or other words than expected, are left as they are", () => {
  settings.language = "zh";
  expect(errorWords("brand_new", "Something new.")).toEqual({ text: "Something new.", detail: "" });
  expect(noticeWords("brand_new", "Something new.")).toBe("Something new.");
  expect(noticeWords("retry", "Something else.")).toBe("Something else.");
});
