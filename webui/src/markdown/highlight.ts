/**
 * Syntax colours as classes. The highlighter itself is large and not needed for the first paint: it is loaded
 * beside the page, and until then code is plain.
 */
import { escapeHtml } from "./escape";

type Engine = typeof import("./languages").hljs;

let engine: Engine | null = null;
const waiting = new Set<() => void>();

/** Load the colours. Resolves when `highlightLines` gives them. */
export async function loadHighlighter(): Promise<void> {
  if (engine !== null) return;
  engine = (await import("./languages")).hljs;
  for (const tell of waiting) tell();
  waiting.clear();
}

/** Call `tell` once the colours are there; not at all if they are already. Returns how to call that off. */
export function whenHighlighterLoads(tell: () => void): () => void {
  if (engine === null) waiting.add(tell);
  return () => waiting.delete(tell);
}

/** A piece of one line in one colour; `scope` is a list of classes, empty for plain text. */
export interface Run {
  readonly text: string;
  readonly scope: string;
}

export type Line = readonly Run[];

/** Beyond this size colours cost more than they tell. */
const MAX_HIGHLIGHTED = 200_000;

const labels: Readonly<Record<string, string>> = {
  bash: "Bash", c: "C", console: "Shell", cpp: "C++", cs: "C#", csharp: "C#", css: "CSS", diff: "Diff", docker: "Dockerfile",
  dockerfile: "Dockerfile", go: "Go", html: "HTML", ini: "INI", java: "Java", javascript: "JavaScript", js: "JavaScript", json: "JSON",
  jsx: "JSX", kotlin: "Kotlin", make: "Makefile", makefile: "Makefile", markdown: "Markdown", md: "Markdown", php: "PHP", py: "Python",
  python: "Python", rb: "Ruby", rs: "Rust", ruby: "Ruby", rust: "Rust", sh: "Shell", shell: "Shell", sql: "SQL", svelte: "Svelte",
  swift: "Swift", toml: "TOML", ts: "TypeScript", tsx: "TSX", typescript: "TypeScript", vue: "Vue", xml: "XML", yaml: "YAML", yml: "YAML",
}; // prettier-ignore

/** The language's own name for its label: "Python" for `py`; what was written if it is not known. */
export function languageLabel(lang: string): string {
  return labels[lang] ?? lang;
}

/** Lines without colours: what is shown until the colours are there. */
export function plainLines(text: string): Line[] {
  return text.split("\n").map((line) => (line === "" ? [] : [{ text: line, scope: "" }]));
}

/** Lines with colours; the joined text of all runs is `text` again. */
export function highlightLines(text: string, lang: string): Line[] {
  if (engine?.getLanguage(lang) === undefined || text.length > MAX_HIGHLIGHTED) return plainLines(text);
  return splitLines(engine.highlight(text, { language: lang, ignoreIllegals: true }).value);
}

const TOKEN = /<span class="([\w -]*)">|<\/span>|([^<]+)/g;
const references: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

/** highlight.js gives HTML; it is read back into runs here, so that no markup of it ever reaches the page. */
function splitLines(html: string): Line[] {
  const lines: Run[][] = [[]];
  const scopes: string[] = [];
  for (const match of html.matchAll(TOKEN)) {
    if (match[1] !== undefined) scopes.push(match[1]);
    else if (match[2] === undefined) scopes.pop();
    else {
      const scope = scopes.join(" ");
      const parts = match[2].replace(/&(?:amp|lt|gt|quot|#x27);/g, (name) => references[name]!).split("\n");
      parts.forEach((text, index) => {
        if (index > 0) lines.push([]);
        if (text !== "") lines.at(-1)!.push({ text, scope });
      });
    }
  }
  return lines;
}

/** A line as HTML, for code inside other blocks. */
export function lineHtml(line: Line): string {
  return line
    .map((run) =>
      run.scope === "" ? escapeHtml(run.text) : `<span class="${run.scope}">${escapeHtml(run.text)}</span>`,
    )
    .join("");
}

/** A line as nodes. */
export function lineNodes(line: Line, document: Document): Node[] {
  return line.map((run) => {
    const text = document.createTextNode(run.text);
    if (run.scope === "") return text;
    const span = document.createElement("span");
    span.className = run.scope;
    span.append(text);
    return span;
  });
}
