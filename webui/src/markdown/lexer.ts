/**
 * One pass of the block and inline lexer, with raw HTML switched off: a tag is text.
 *
 * Built on marked's lexer; only `<br>` keeps its meaning, because models write it in table cells.
 */
import { Lexer, Tokenizer, getDefaults, type Links, type MarkedOptions, type Token, type Tokens } from "marked";

export type { Token, Tokens, Links };

class TextOnlyTokenizer extends Tokenizer {
  override html(): undefined {
    return undefined;
  }

  // The base class says `Tag`; a line break is the one tag that has a token of its own.
  override tag(source: string): Tokens.Tag | undefined {
    const match = /^<br\s*\/?>/i.exec(source);
    if (match === null) return undefined;
    return { type: "br", raw: match[0] } as unknown as Tokens.Tag;
  }
}

const options: MarkedOptions = { ...getDefaults(), gfm: true };

/** Nesting deeper than this (quotes in quotes, lists in lists) is shown as plain text. */
const MAX_NESTING = 60;
const DEEP_LINE = new RegExp(`^(?:[ \\t]*(?:>|[-*+](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${MAX_NESTING}}`, "m");

export interface Lexed {
  readonly tokens: Token[];
  /** Reference definitions by label, those of `links` included. */
  readonly links: Links;
}

/**
 * Lex `source`, whose newlines are `\n`.
 *
 * @param links definitions that are already known from elsewhere in the document
 */
export function lex(source: string, links: Links = {}): Lexed {
  if (DEEP_LINE.test(source)) return { tokens: [plain(source)], links };
  const lexer = new Lexer({ ...options, tokenizer: new TextOnlyTokenizer({ ...options }) });
  Object.assign(lexer.tokens.links, links);
  const tokens = lexer.lex(source);
  return { tokens: [...tokens], links: lexer.tokens.links };
}

function plain(source: string): Token {
  const text: Tokens.Text = { type: "text", raw: source, text: source };
  return { type: "paragraph", raw: source, text: source, tokens: [text] };
}

/** Unescaped, as marked hands text over raw: every consumer escapes at the end, once. */
export function isFenced(token: Token): token is Tokens.Code {
  return token.type === "code" && (token as Tokens.Code).codeBlockStyle !== "indented";
}
