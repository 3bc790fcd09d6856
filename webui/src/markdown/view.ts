/** The engine's face to the page: give it an element and a growing text. It knows no framework. */
import { BlockStream, isClosedFence, type Block } from "./blocks";
import { CodeView } from "./code-view";
import { whenHighlighterLoads } from "./highlight";
import type { Tokens } from "./lexer";
import { morph } from "./morph";
import { languageOf, renderBlock, type Words } from "./render";
import type { Sanitize } from "./sanitize";

export interface ViewOptions {
  readonly words: Words;
  readonly sanitize: Sanitize;
  /** Put text on the clipboard; resolves to whether that worked. */
  readonly copy: (text: string) => Promise<boolean>;
}

interface Shown {
  block: Block;
  html: string;
  element: HTMLElement | null;
  code: CodeView | null;
}

const COPIED_MS = 1_500;

export class MarkdownView {
  readonly #root: HTMLElement;
  readonly #options: ViewOptions;
  #stream = new BlockStream();
  #given = "";
  #shown: Shown[] = [];
  readonly #callOff: () => void;

  constructor(root: HTMLElement, options: ViewOptions) {
    this.#root = root;
    this.#options = options;
    root.addEventListener("click", this.#onClick);
    this.#callOff = whenHighlighterLoads(() => this.#recolour());
  }

  /** Show `text`. Cheap if it begins with what was given before; `open` says that more is coming. */
  update(text: string, open: boolean): void {
    if (!text.startsWith(this.#given) || this.#stream.finished) {
      if (text === this.#given && !open) return;
      this.#stream = new BlockStream();
      this.#given = "";
    }
    this.#stream.push(text.slice(this.#given.length));
    this.#given = text;
    if (!open) this.#stream.finish();
    this.#render(this.#stream.blocks);
  }

  destroy(): void {
    this.#root.removeEventListener("click", this.#onClick);
    this.#callOff();
    for (const shown of this.#shown) shown.code?.destroy();
    this.#shown = [];
  }

  #render(blocks: readonly Block[]): void {
    blocks.forEach((block, index) => {
      const shown = this.#shown[index];
      if (shown?.block === block) return;
      if (block.token.type === "code") this.#renderCode(block, index);
      else this.#renderHtml(block, index);
    });
    for (const extra of this.#shown.splice(blocks.length)) this.#drop(extra);
  }

  #recolour(): void {
    this.#shown.forEach((shown, index) => {
      if (shown.code !== null) shown.code.recolour();
      else this.#renderHtml(shown.block, index); // code inside a list or a quote
    });
  }

  #renderCode(block: Block, index: number): void {
    const token = block.token as Tokens.Code;
    const lang = languageOf(token);
    let code = this.#shown[index]?.code ?? null;
    if (code === null || code.lang !== lang) {
      code = new CodeView(lang, this.#options.words, this.#options.sanitize);
      this.#place(index, { block, html: "", element: code.element, code });
    }
    this.#shown[index]!.block = block;
    code.update(token.text, !block.settled && !isClosedFence(token));
  }

  #renderHtml(block: Block, index: number): void {
    const html = renderBlock(block.token, this.#options.words);
    const shown = this.#shown[index];
    if (shown !== undefined && shown.code === null && shown.html === html) {
      shown.block = block;
      return;
    }
    const element = html === "" ? null : (this.#options.sanitize(html).firstElementChild as HTMLElement | null);
    if (shown?.element && shown.code === null && element !== null && shown.element.nodeName === element.nodeName) {
      morph(shown.element, element);
      shown.block = block;
      shown.html = html;
    } else {
      this.#place(index, { block, html, element, code: null });
    }
  }

  #place(index: number, next: Shown): void {
    const old = this.#shown[index];
    if (next.element !== null) {
      const behind = this.#shown.slice(index).find((shown) => shown.element !== null)?.element ?? null;
      this.#root.insertBefore(next.element, behind);
    }
    if (old !== undefined) this.#drop(old);
    this.#shown[index] = next;
  }

  #drop(shown: Shown): void {
    shown.code?.destroy();
    shown.element?.remove();
  }

  readonly #onClick = (event: Event): void => {
    const button = (event.target as Element).closest<HTMLElement>("[data-md-copy]");
    const code = button?.closest(".md-code")?.querySelector("code");
    if (button === null || !code) return;
    const { words, copy } = this.#options;
    void copy((code.textContent ?? "").replace(/\n$/, "")).then((done) => {
      if (!done) return;
      button.textContent = words.copied;
      setTimeout(() => (button.textContent = words.copy), COPIED_MS);
    });
  };
}
