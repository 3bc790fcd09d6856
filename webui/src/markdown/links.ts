/** Which addresses may become links. Everything else stays text: a model's answer is not trusted. */

const allowed = new Set(["http:", "https:", "mailto:"]);

/**
 * The address as the browser would read it if it may be a link, else null.
 *
 * Relative addresses are refused: they would point into this program.
 */
export function safeHref(address: string): string | null {
  let url: URL;
  try {
    url = new URL(address.trim());
  } catch {
    return null; // not an absolute address
  }
  return allowed.has(url.protocol) ? url.href : null;
}

/** The part of an address that tells a reader where it leads. */
export function hostOf(address: string): string {
  const url = new URL(address);
  return url.host === "" ? url.pathname : url.host.replace(/^www\./, "");
}
