/** Unsent text, kept per chat in this browser, so that neither a reload nor a look elsewhere loses it. */

const PREFIX = "openprogram.draft.";

export function loadDraft(chat: string): string {
  return localStorage.getItem(PREFIX + chat) ?? "";
}

export function saveDraft(chat: string, text: string): void {
  if (text === "") localStorage.removeItem(PREFIX + chat);
  else localStorage.setItem(PREFIX + chat, text);
}
