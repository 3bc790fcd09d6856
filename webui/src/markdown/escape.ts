/** The one place where text becomes HTML. */

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escape everything: for code and attributes, where `&lt;` means those four characters. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char]!);
}

/** Escape prose, where the author's own character references (`&copy;`) keep their meaning. */
export function escapeProse(text: string): string {
  return text.replace(/[<>"']|&(?!(?:#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/g, (char) => entities[char]!);
}
