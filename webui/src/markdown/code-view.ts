/**
 * A code block on the page, changed line by line.
 *
 * While a fence is open new text appears at once without colours; colours follow at a pace that keeps
 * highlighting below a tenth of the time, however long the block gets.
 */
import { highlightLines, lineNodes, plainLines, type Line } from "./highlight";
import { codeFrame, type Words } from "./render";
import type { Sanitize } from "./sanitize";

const MIN_INTERVAL_MS = 120;
const COST_FACTOR = 10;

export class CodeView {
  readonly element: HTMLElement;
  readonly #code: HTMLElement;
  readonly #lang: string;
  #text = "";
  #shown: string[] = [];
  #coloured: Line[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #notBefore = 0;

  constructor(lang: string, words: Words, sanitize: Sanitize) {
    this.#lang = lang;
    this.element = sanitize(codeFrame(lang, "", words)).firstElementChild as HTMLElement;
    this.#code = this.element.querySelector("code")!;
  }

  get lang(): string {
    return this.#lang;
  }

  /** Show `text`; `open` says that more is coming. */
  update(text: string, open: boolean): void {
    if (text !== this.#text) {
      this.#text = text;
      this.#show(this.#merge(plainLines(text)));
    }
    if (!open) this.#colour();
    else if (this.#timer === undefined) {
      this.#timer = setTimeout(() => this.#colour(), Math.max(0, this.#notBefore - performance.now()));
    }
  }

  /** Colour again: the highlighter has been loaded since. */
  recolour(): void {
    if (this.#timer === undefined) this.#colour();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #colour(): void {
    this.destroy();
    const start = performance.now();
    this.#coloured = highlightLines(this.#text, this.#lang);
    this.#show(this.#coloured);
    const cost = performance.now() - start;
    this.#notBefore = performance.now() + Math.max(MIN_INTERVAL_MS, cost * COST_FACTOR);
  }

  /** Keep the colours of lines whose text did not change. */
  #merge(plain: Line[]): Line[] {
    return plain.map((line, index) => {
      const before = this.#coloured[index];
      return before !== undefined && textOf(before) === textOf(line) ? before : line;
    });
  }

  #show(lines: readonly Line[]): void {
    const document = this.element.ownerDocument;
    lines.forEach((line, index) => {
      const key = JSON.stringify(line);
      if (this.#shown[index] === key) return;
      let row = this.#code.children[index];
      if (row === undefined) {
        row = document.createElement("span");
        row.className = "line";
        this.#code.append(row);
      }
      row.replaceChildren(...lineNodes(line, document), "\n");
      this.#shown[index] = key;
    });
    while (this.#code.children.length > lines.length) this.#code.lastElementChild!.remove();
    this.#shown.length = lines.length;
  }
}

function textOf(line: Line): string {
  return line.map((run) => run.text).join("");
}
