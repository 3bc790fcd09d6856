/**
 * Make the last, still growing block of a streamed answer presentable.
 *
 * Everything here works on a copy for display: what was received is never changed, and a finished
 * answer is never repaired. The aim is that nothing flickers: no bare `**`, no half a link address,
 * no table that first shows as a line of bars.
 */

const BLOCK_START = /^(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*[ \t]*(?:#{1,6}[ \t]+)?(?:\[[ xX]\][ \t]+)?/;
/** A line that so far could still become a marker of some block, and would be shown as text until then. */
const BARE_MARKER = /^[ \t]*(?:[-*+>]|#{1,6}|[=\-_*]{1,3}|`{1,2}|~{1,2}|\d{1,9}[.)]?|[-*+][ \t]+\[[ xX]?\]?)[ \t]*$/;
const DELIMITER_START = /^[ \t]*\|?[ \t]*:?-*:?[ \t]*(?:\|[ \t:\-|]*)?$/;

/** Repair `raw`, the source of the last block, which is not code. */
export function repairBlock(raw: string): string {
  const breakAt = raw.lastIndexOf("\n") + 1;
  const before = raw.slice(0, breakAt);
  const last = raw.slice(breakAt);
  if (last === "") return raw;
  if (before !== "" && isTableRow(lastLine(before)) && DELIMITER_START.test(last)) {
    return before + delimiterFor(lastLine(before));
  }
  if (BARE_MARKER.test(last)) return before;
  if (last.trimStart().startsWith("|")) return repairRow(before, last);
  return repairInlineTail(raw);
}

/** Take off what may be the beginning of the closing fence of an open code block. */
export function repairFence(raw: string): string {
  return raw.replace(/\n[ \t]*(?:`{1,}|~{1,})$/, "");
}

function repairRow(before: string, row: string): string {
  const cellAt = lastUnescapedBar(row) + 1;
  const repaired = row.slice(0, cellAt) + closeInline(row.slice(cellAt));
  const previous = lastLine(before);
  if (isTableRow(previous)) return before + repaired;
  // The first row of a table that has no delimiter row yet: show it as the table it is going to be.
  return `${before}${repaired}\n${delimiterFor(row)}`;
}

function repairInlineTail(raw: string): string {
  let start = raw.lastIndexOf("\n") + 1;
  while (start > 0) {
    const line = raw.slice(start, endOfLine(raw, start));
    if (startsBlock(line)) break;
    const previousStart = raw.lastIndexOf("\n", start - 2) + 1;
    if (raw.slice(previousStart, start - 1).trim() === "") break;
    start = previousStart;
  }
  const line = raw.slice(start, endOfLine(raw, start));
  const content = start + (BLOCK_START.exec(line)?.[0].length ?? 0);
  return raw.slice(0, content) + closeInline(raw.slice(content));
}

function startsBlock(line: string): boolean {
  return (BLOCK_START.exec(line)?.[0].trim() ?? "") !== "";
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function lastLine(text: string): string {
  const trimmed = text.endsWith("\n") ? text.slice(0, -1) : text;
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1);
}

function isTableRow(line: string): boolean {
  return /^[ \t]*\|.*\|/.test(line) || /^[ \t]*\|/.test(line);
}

function lastUnescapedBar(row: string): number {
  for (let at = row.length - 1; at >= 0; at--) {
    if (row[at] === "|" && row[at - 1] !== "\\") return at;
  }
  return -1;
}

function delimiterFor(row: string): string {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const cells = inner.split(/(?<!\\)\|/).length;
  return `|${" --- |".repeat(cells)}`;
}

interface Open {
  readonly marker: string;
}

/** A paragraph longer than this is no prose; looking for its open brackets would take quadratic time. */
const MAX_REPAIRED = 8_000;

/** Close or hide what is open at the end of a run of inline text. */
export function closeInline(text: string): string {
  if (text.length > MAX_REPAIRED) return text;
  const open: Open[] = [];
  let source = text;
  let at = 0;
  while (at < source.length) {
    const char = source[at]!;
    if (char === "\\") {
      at += 2;
    } else if (char === "`") {
      const end = endOfCodeSpan(source, at);
      if (end === null) return closeCodeSpan(source, at, open);
      at = end;
    } else if (char === "[" || (char === "!" && source[at + 1] === "[")) {
      const link = scanLink(source, at);
      source = link.source;
      at = link.next;
    } else if (char === "*" || char === "_" || char === "~") {
      const run = runLength(source, at);
      if (at + run === source.length) return appendClosers(source.slice(0, at), open); // half a marker
      emphasis(source, at, run, open);
      at += run;
    } else {
      at += 1;
    }
  }
  return appendClosers(source.endsWith("\\") ? source.slice(0, -1) : source, open);
}

function runLength(source: string, at: number): number {
  let end = at;
  while (source[end] === source[at]) end += 1;
  return end - at;
}

function endOfCodeSpan(source: string, at: number): number | null {
  const ticks = runLength(source, at);
  let next = at + ticks;
  while (next < source.length) {
    const found = source.indexOf("`", next);
    if (found === -1) return null;
    const length = runLength(source, found);
    if (length === ticks) return found + length;
    next = found + length;
  }
  return null;
}

function closeCodeSpan(source: string, at: number, open: Open[]): string {
  const ticks = runLength(source, at);
  const content = source.slice(at + ticks).replace(/`+$/, "");
  if (content.trim() === "") return appendClosers(source.slice(0, at), open);
  const span = `${source.slice(at, at + ticks)}${content}${"`".repeat(ticks)}`;
  return appendClosers(source.slice(0, at) + span, open);
}

/** Show the text of a link whose address is still arriving; hide an image until it is whole. */
function scanLink(source: string, at: number): { source: string; next: number } {
  const image = source[at] === "!";
  const textAt = at + (image ? 2 : 1);
  const close = matching(source, textAt, "[", "]");
  if (close === null) {
    if (image) return { source: source.slice(0, at), next: at };
    return { source: source.slice(0, at) + source.slice(textAt), next: at };
  }
  if (source[close + 1] === "(" && matching(source, close + 2, "(", ")") === null) {
    const text = image ? "" : source.slice(textAt, close);
    return { source: source.slice(0, at) + text, next: at };
  }
  if (close === source.length - 1 && !image && !/^[ xX]?$/.test(source.slice(textAt, close))) {
    return { source: source.slice(0, at) + source.slice(textAt, close), next: at };
  }
  if (source[close + 1] !== "(") return { source, next: image ? at + 2 : at + 1 };
  return { source, next: (matching(source, close + 2, "(", ")") ?? close) + 1 };
}

function matching(source: string, from: number, opener: string, closer: string): number | null {
  let depth = 1;
  for (let at = from; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at += 1;
    else if (char === "\n" && source[at + 1] === "\n") return null;
    else if (char === opener) depth += 1;
    else if (char === closer && --depth === 0) return at;
  }
  return null;
}

function emphasis(source: string, at: number, run: number, open: Open[]): void {
  const before = source[at - 1] ?? " ";
  const after = source[at + run] ?? " ";
  const char = source[at]!;
  const word = /[\p{L}\p{N}]/u;
  if (char === "_" && word.test(before) && word.test(after)) return;
  if (char === "~" && run > 2) return;
  let left = run;
  if (!/\s/.test(before)) {
    while (left > 0) {
      const top = open.at(-1);
      if (top === undefined || top.marker[0] !== char || top.marker.length > left) break;
      left -= top.marker.length;
      open.pop();
    }
  }
  if (left === 0 || /\s/.test(after)) return;
  if (char === "~") open.push({ marker: char.repeat(left) });
  else pushEmphasis(char, left, open);
}

function pushEmphasis(char: string, run: number, open: Open[]): void {
  let left = run;
  if (left % 2 === 1) {
    open.push({ marker: char });
    left -= 1;
  }
  for (; left > 0; left -= 2) open.push({ marker: char.repeat(2) });
}

function appendClosers(source: string, open: Open[]): string {
  if (open.length === 0) return source;
  const body = source.trimEnd();
  const space = source.slice(body.length);
  const closers = open
    .map((entry) => entry.marker)
    .reverse()
    .join("");
  return body + closers + space;
}
