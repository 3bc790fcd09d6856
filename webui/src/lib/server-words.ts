/** What the server says in English, in the reader's language where its code is a known one. */
import { locale } from "../i18n/index.svelte";
import { errors, notices } from "../i18n/zh/server";

export interface Said {
  readonly text: string;
  /** The server's own words, where `text` is not: they may say more. */
  readonly detail: string;
}

/** An error's sentence. */
export function errorWords(code: string, message: string): Said {
  const known = locale() === "zh" ? errors[code] : undefined;
  return known === undefined ? { text: message, detail: "" } : { text: known, detail: message };
}

/** An error in one line, with what can be done about it. */
export function errorLine(error: {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | null;
}): string {
  const { text, detail } = errorWords(error.code, error.message);
  const said = detail === "" ? text : `${text} ${detail}`;
  if (!error.hint) return said;
  return /[.!?。！？]$/u.test(said) ? `${said} ${error.hint}` : `${said}: ${error.hint}`;
}

/** A quiet line. */
export function noticeWords(code: string, message: string): string {
  const known = locale() === "zh" ? notices[code] : undefined;
  return known === undefined ? message : typeof known === "string" ? known : known(message);
}
