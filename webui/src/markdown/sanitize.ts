/** The second wall: whatever the renderer made goes through DOMPurify with a short list of tags. */
import createDOMPurify from "dompurify";
import { safeHref } from "./links";

const config = {
  ALLOWED_TAGS: [
    "a", "blockquote", "br", "button", "code", "del", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
  ], // prettier-ignore
  ALLOWED_ATTR: [
    "aria-hidden",
    "aria-label",
    "class",
    "data-md-copy",
    "href",
    "rel",
    "role",
    "start",
    "tabindex",
    "target",
    "title",
    "type",
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

export type Sanitize = (html: string) => DocumentFragment;

/** A sanitizer for documents of `window`. */
export function createSanitizer(window: Window & typeof globalThis): Sanitize {
  const purify = createDOMPurify(window);
  purify.addHook("afterSanitizeAttributes", (node) => {
    if (!node.hasAttribute("href")) return;
    const href = safeHref(node.getAttribute("href") ?? "");
    if (href === null) node.removeAttribute("href");
    else {
      node.setAttribute("target", "_blank");
      node.setAttribute("rel", "noopener noreferrer nofollow");
    }
  });
  return (html) =>
    purify.sanitize(html, {
      ...config,
      ALLOWED_TAGS: [...config.ALLOWED_TAGS],
      ALLOWED_ATTR: [...config.ALLOWED_ATTR],
    });
}
