/** Syntax colours as classes: highlight.js core with the languages that answers are written in. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { escapeHtml } from "./escape";

const languages = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, makefile, markdown,
  php, python, ruby, rust, sql, swift, typescript, xml, yaml,
}; // prettier-ignore
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(["svelte", "vue"], { languageName: "xml" });
hljs.registerAliases(["console", "shell"], { languageName: "bash" });

/** A piece of one line in one colour; `scope` is a list of classes, empty for plain text. */
export interface Run {
  readonly text: string;
  readonly scope: string;
}

export type Line = readonly Run[];

/** Beyond this size colours cost more than they tell. */
const MAX_HIGHLIGHTED = 200_000;

/** The language's own name for its label: "python" for `py`; what was written if it is not known. */
export function languageLabel(lang: string): string {
  return hljs.getLanguage(lang)?.name ?? lang;
}

/** Lines without colours: what is shown until the colours are there. */
export function plainLines(text: string): Line[] {
  return text.split("\n").map((line) => (line === "" ? [] : [{ text: line, scope: "" }]));
}

/** Lines with colours; the joined text of all runs is `text` again. */
export function highlightLines(text: string, lang: string): Line[] {
  if (lang === "" || text.length > MAX_HIGHLIGHTED || hljs.getLanguage(lang) === undefined) return plainLines(text);
  return splitLines(hljs.highlight(text, { language: lang, ignoreIllegals: true }).value);
}

const TOKEN = /<span class="([\w -]*)">|<\/span>|([^<]+)/g;
const references: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

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
    .map((run) => (run.scope === "" ? escapeHtml(run.text) : `<span class="${run.scope}">${escapeHtml(run.text)}</span>`))
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
