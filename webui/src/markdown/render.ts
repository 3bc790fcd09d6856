/** Tokens to HTML: pure, every text escaped, every address checked, no style and no script. */
import type { Token, Tokens } from "./lexer";
import { escapeHtml, escapeProse } from "./escape";
import { highlightLines, languageLabel, lineHtml } from "./highlight";
import { hostOf, safeHref } from "./links";

/** The words that the engine itself puts on the page. */
export interface Words {
  readonly copy: string;
  readonly copied: string;
  readonly code: string;
  readonly table: string;
  /** In front of the host of an image that was not loaded. */
  readonly image: string;
}

/** One block as HTML with a single root element; empty for what shows nothing (blank lines, definitions). */
export function renderBlock(token: Token, words: Words): string {
  switch (token.type) {
    case "space":
    case "def":
      return "";
    case "heading": {
      // An answer stands below the page's own headings, so its levels move down by one.
      const level = Math.min((token as Tokens.Heading).depth + 1, 6);
      return `<h${level}>${inline(token.tokens ?? [], words)}</h${level}>`;
    }
    case "paragraph":
      return `<p>${inline(token.tokens ?? [], words)}</p>`;
    case "text":
      return `<p>${textContent(token as Tokens.Text, words)}</p>`;
    case "hr":
      return "<hr>";
    case "blockquote":
      return `<blockquote>${blocks(token.tokens ?? [], words)}</blockquote>`;
    case "list":
      return list(token as Tokens.List, words);
    case "table":
      return table(token as Tokens.Table, words);
    case "code": {
      const code = token as Tokens.Code;
      const lang = languageOf(code);
      const lines = highlightLines(code.text, lang).map((line) => `<span class="line">${lineHtml(line)}\n</span>`);
      return codeFrame(lang, lines.join(""), words);
    }
    default:
      return `<p>${escapeProse(token.raw)}</p>`;
  }
}

/** The first word of the fence's info string, in lower case. */
export function languageOf(code: Tokens.Code): string {
  return (code.lang ?? "")
    .trim()
    .split(/[\s{,]/)[0]!
    .toLowerCase();
}

/** The frame around code; `lines` is HTML. */
export function codeFrame(lang: string, lines: string, words: Words): string {
  const label = lang === "" ? words.code : languageLabel(lang);
  const bar = `<div class="md-code-bar"><span>${escapeHtml(label)}</span><button type="button" data-md-copy>${escapeHtml(words.copy)}</button></div>`;
  return `<div class="md-code">${bar}<pre tabindex="0" role="region" aria-label="${escapeHtml(label)}"><code>${lines}</code></pre></div>`;
}

function blocks(tokens: readonly Token[], words: Words): string {
  return tokens.map((token) => renderBlock(token, words)).join("");
}

function list(token: Tokens.List, words: Words): string {
  const tag = token.ordered ? "ol" : "ul";
  const start = token.ordered && token.start !== "" && token.start !== 1 ? ` start="${token.start}"` : "";
  return `<${tag}${start}>${token.items.map((item) => listItem(item, words)).join("")}</${tag}>`;
}

function listItem(item: Tokens.ListItem, words: Words): string {
  const content = item.tokens
    .map((token) =>
      token.type === "text" && !item.loose
        ? textContent(token as Tokens.Text, words)
        : token.type === "checkbox"
          ? checkbox(token as Tokens.Checkbox)
          : renderBlock(token, words),
    )
    .join("");
  return item.task ? `<li class="md-task">${content}</li>` : `<li>${content}</li>`;
}

function checkbox(token: Tokens.Checkbox): string {
  return `<span class="${token.checked ? "md-box md-checked" : "md-box"}" aria-hidden="true"></span>`;
}

function table(token: Tokens.Table, words: Words): string {
  const cell = (tag: "th" | "td", entry: Tokens.TableCell): string => {
    const side = entry.align === null ? "" : ` class="md-${entry.align}"`;
    return `<${tag}${side}>${inline(entry.tokens, words)}</${tag}>`;
  };
  const head = token.header.map((entry) => cell("th", entry)).join("");
  const rows = token.rows.map((row) => `<tr>${row.map((entry) => cell("td", entry)).join("")}</tr>`).join("");
  const body = rows === "" ? "" : `<tbody>${rows}</tbody>`;
  return `<div class="md-table" tabindex="0" role="region" aria-label="${escapeHtml(words.table)}"><table><thead><tr>${head}</tr></thead>${body}</table></div>`;
}

function inline(tokens: readonly Token[], words: Words): string {
  return tokens.map((token) => inlineToken(token, words)).join("");
}

function inlineToken(token: Token, words: Words): string {
  switch (token.type) {
    case "text":
      return textContent(token as Tokens.Text, words);
    case "escape":
      return escapeHtml((token as Tokens.Escape).text);
    case "strong":
      return `<strong>${inline(token.tokens ?? [], words)}</strong>`;
    case "em":
      return `<em>${inline(token.tokens ?? [], words)}</em>`;
    case "del":
      return `<del>${inline(token.tokens ?? [], words)}</del>`;
    case "codespan":
      return `<code>${escapeHtml((token as Tokens.Codespan).text)}</code>`;
    case "br":
      return "<br>";
    case "link":
      return link(token as Tokens.Link, words);
    case "image":
      return image(token as Tokens.Image, words);
    case "checkbox":
      return checkbox(token as Tokens.Checkbox);
    default:
      return escapeProse(token.raw);
  }
}

function textContent(token: Tokens.Text, words: Words): string {
  return token.tokens === undefined ? escapeProse(token.text) : inline(token.tokens, words);
}

function link(token: Tokens.Link, words: Words): string {
  const content = inline(token.tokens, words);
  const href = safeHref(token.href);
  if (href === null) return content;
  const address = token.autolink === true ? escapeHtml(href) : escapeProse(href);
  const title = token.title ? ` title="${escapeProse(token.title)}"` : "";
  return `<a href="${address}"${title} target="_blank" rel="noopener noreferrer nofollow">${content}</a>`;
}

/**
 * An image is a link that opens it, never an `<img>`: loading it by itself would tell a stranger's server
 * whatever the model was talked into putting in the address.
 */
function image(token: Tokens.Image, words: Words): string {
  const href = safeHref(token.href);
  const alt = escapeProse(token.text);
  if (href === null || href.startsWith("mailto:")) return alt;
  const host = escapeHtml(hostOf(href));
  const label = `<span class="md-image-alt">${alt === "" ? escapeHtml(words.image) : alt}</span><span class="md-image-host">${host}</span>`;
  return `<a class="md-image" href="${escapeProse(href)}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`;
}
