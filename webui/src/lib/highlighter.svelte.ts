/** The Markdown engine's colours for components: reading `lines` follows the highlighter's arrival. */
import { highlightLines, loadHighlighter, plainLines, whenHighlighterLoads, type Line } from "../markdown";

class Highlighter {
  #ready = $state(false);

  constructor() {
    whenHighlighterLoads(() => (this.#ready = true));
  }

  load(): void {
    void loadHighlighter();
  }

  lines(text: string, lang: string): readonly Line[] {
    return this.#ready ? highlightLines(text, lang) : plainLines(text);
  }
}

export const highlighter = new Highlighter();
