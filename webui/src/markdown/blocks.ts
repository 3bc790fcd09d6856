/**
 * The incremental half of the engine: text comes in pieces, blocks come out.
 *
 * Only the open tail is lexed again when a piece arrives. A block is settled once three further blocks
 * have begun behind it; from then on it is never looked at again, except when a reference definition
 * (`[label]: address`) appears or changes, which may concern any block.
 *
 * Property (see blocks.test.ts): after any sequence of pieces the blocks equal those of one pass over
 * the whole text.
 */
import { isFenced, lex, type Links, type Token, type Tokens } from "./lexer";
import { repairBlock, repairFence } from "./repair";

/** One top-level block. Settled blocks keep their identity, so that `===` tells what changed. */
export interface Block {
  readonly token: Token;
  /** False while more text may still change it. */
  readonly settled: boolean;
}

/**
 * How many blocks at the end stay open: the last may grow, its last line may turn out to belong to the one
 * before, and a line of dashes makes a table head of the line above it.
 */
const OPEN_BLOCKS = 3;

export class BlockStream {
  #text = "";
  #held = "";
  #cut = 0;
  #settled: Block[] = [];
  #tail: Block[] = [];
  #links: Links = {};
  #linksKey = "";
  #finished = false;

  /** The text received so far, with newlines as `\n`. */
  get text(): string {
    return this.#text;
  }

  get blocks(): readonly Block[] {
    return this.#tail.length === 0 ? this.#settled : [...this.#settled, ...this.#tail];
  }

  get finished(): boolean {
    return this.#finished;
  }

  /** Add a piece of text. Throws if the stream is finished. */
  push(piece: string): void {
    if (this.#finished) throw new Error("the Markdown stream is finished");
    if (piece === "") return;
    let added = this.#held + piece;
    this.#held = added.endsWith("\r") ? "\r" : ""; // may be half of a line break
    added = this.#held === "" ? added : added.slice(0, -1);
    if (added === "") return;
    this.#text += added.replace(/\r\n?/g, "\n");
    this.#lexTail();
  }

  /** No more text will come: nothing is repaired any more, everything is settled. */
  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#held !== "") this.#text += "\n";
    this.#held = "";
    this.#lexTail();
  }

  #lexTail(): void {
    let source = this.#text.slice(this.#cut);
    let lexed = lex(source, this.#links);
    const key = JSON.stringify(lexed.links);
    if (key !== this.#linksKey) {
      this.#linksKey = key;
      if (this.#cut > 0) {
        this.#cut = 0;
        this.#settled = [];
        this.#links = {};
        source = this.#text;
        lexed = lex(source);
        this.#linksKey = JSON.stringify(lexed.links);
      }
    }
    this.#settle(lexed.tokens, lexed.links, source);
  }

  #settle(tokens: Token[], links: Links, source: string): void {
    if (this.#finished) {
      this.#settled = [...this.#settled, ...tokens.map((token) => ({ token, settled: true }))];
      this.#tail = [];
      this.#cut += source.length;
      return;
    }
    const keepFrom = firstOpen(tokens);
    const done = tokens.slice(0, keepFrom);
    if (done.length > 0) {
      this.#settled = [...this.#settled, ...done.map((token) => ({ token, settled: true }))];
      this.#cut += done.reduce((sum, token) => sum + token.raw.length, 0);
      collectLinks(done, this.#links);
    }
    this.#tail = repairTail(tokens.slice(keepFrom), links).map((token) => ({ token, settled: false }));
  }
}

/** The blocks of `text` in one pass: what every stream of the same text must end in. */
export function parseBlocks(text: string, open = false): readonly Block[] {
  const source = text.replace(/\r\n?/g, "\n");
  const lexed = lex(source);
  if (!open) return lexed.tokens.map((token) => ({ token, settled: true }));
  const keepFrom = firstOpen(lexed.tokens);
  const settled = lexed.tokens.slice(0, keepFrom).map((token) => ({ token, settled: true }));
  const tail = repairTail(lexed.tokens.slice(keepFrom), lexed.links);
  return [...settled, ...tail.map((token) => ({ token, settled: false }))];
}

function firstOpen(tokens: readonly Token[]): number {
  let open = 0;
  for (let index = tokens.length - 1; index >= 0; index--) {
    if (tokens[index]!.type !== "space") open += 1;
    if (open === OPEN_BLOCKS) return index;
  }
  return 0;
}

/** Definitions made by settled blocks stay known when those blocks are no longer lexed. The first one of a label wins. */
function collectLinks(tokens: readonly Token[], into: Links): void {
  for (const token of tokens) {
    if (token.type === "def") {
      const { tag, href, title } = token as Tokens.Def;
      into[tag] ??= { href, title };
    } else if (token.type === "list" || token.type === "list_item" || token.type === "blockquote") {
      collectLinks(childBlocks(token), into);
    }
  }
}

function repairTail(tokens: Token[], links: Links): Token[] {
  let last = tokens.length - 1;
  while (last >= 0 && tokens[last]!.type === "space") last -= 1;
  if (last !== tokens.length - 1 || last < 0) return tokens; // ends in a blank line: nothing is half-written
  const token = tokens[last]!;
  const raw = token.raw;
  const leaf = deepest(token);
  const repaired = leaf.type !== "code" ? repairBlock(raw) : isFenced(leaf) ? repairOpenFence(leaf, raw) : raw;
  if (repaired === raw) return tokens;
  return [...tokens.slice(0, last), ...lex(repaired, links).tokens];
}

function repairOpenFence(code: Tokens.Code, raw: string): string {
  return isClosedFence(code) ? raw : repairFence(raw);
}

/** Whether a fenced block has its closing line. */
export function isClosedFence(code: Tokens.Code): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(code.raw)?.[1];
  if (fence === undefined) return true;
  const lines = code.raw.trimEnd().split("\n");
  const lastOne = lines.at(-1)!.trim();
  return lines.length > 1 && lastOne.length >= fence.length && lastOne === fence[0]!.repeat(lastOne.length);
}

function deepest(token: Token): Token {
  const last = childBlocks(token).findLast((child) => child.type !== "space");
  return last === undefined ? token : deepest(last);
}

function childBlocks(token: Token): readonly Token[] {
  if (token.type === "list") return (token as Tokens.List).items;
  if (token.type === "list_item" || token.type === "blockquote") return (token as Tokens.ListItem).tokens;
  return [];
}
