// @vitest-environment jsdom
import fc from "fast-check";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { highlightLines, loadHighlighter } from "./highlight";
import { createSanitizer } from "./sanitize";
import { MarkdownView } from "./view";

const words = { copy: "Copy", copied: "Copied", code: "text", table: "Table", image: "Image" };
const sanitize = createSanitizer(window);

function view(copy: (text: string) => Promise<boolean> = () => Promise.resolve(true)): {
  root: HTMLElement;
  view: MarkdownView;
} {
  const root = document.createElement("div");
  return { root, view: new MarkdownView(root, { words, sanitize, copy }) };
}

const document_ = `# Title

A **paragraph** with [a link](https://example.org) and \`code\`.

- one
- two
  - nested **deep**

\`\`\`python
def f(x: int) -> int:
    """Two
    lines."""
    return x + 1
\`\`\`

| a | b |
|---|:-:|
| 1 | *2* |

> quoted

\`\`\`
plain
\`\`\`

The end.`;

describe("a page without colours yet", () => {
  test("gets them when the highlighter has been loaded, in place", async () => {
    const { root, view: shown } = view();
    shown.update("```js\nlet a;\n```\n\n- item\n  ```js\n  let b;\n  ```", false);
    const line = root.querySelector(".line");
    expect(root.querySelectorAll("[class^=hljs]").length).toBe(0);
    await loadHighlighter();
    expect(root.querySelector(".line")).toBe(line);
    expect([...root.querySelectorAll(".hljs-keyword")].map((span) => span.textContent)).toEqual(["let", "let"]);
  });
});

describe("MarkdownView", () => {
  beforeAll(loadHighlighter);

  test("a page that was streamed equals a page that was rendered at once", () => {
    const whole = view();
    whole.view.update(document_, false);
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: document_.length - 1 }), { maxLength: 15 }), (cuts) => {
        const streamed = view();
        for (const cut of cuts.sort((a, b) => a - b)) streamed.view.update(document_.slice(0, cut), true);
        streamed.view.update(document_, false);
        expect(streamed.root.innerHTML).toBe(whole.root.innerHTML);
      }),
      { numRuns: 60 },
    );
  });

  test("elements that are settled stay the same elements", () => {
    const { root, view: shown } = view();
    shown.update("one\n\ntwo", true);
    const first = root.firstElementChild;
    shown.update("one\n\ntwo\n\nthree\n\nfour", true);
    expect(root.firstElementChild).toBe(first);
    expect(root.children.length).toBe(4);
  });

  test("lines of an open code block that did not change are not touched", () => {
    const { root, view: shown } = view();
    shown.update("```js\nconst a = 1;\nconst b", true);
    const firstLine = root.querySelector(".line");
    shown.update("```js\nconst a = 1;\nconst b = 2;\nconst c", true);
    expect(root.querySelector(".line")).toBe(firstLine);
    expect(root.querySelector("code")?.textContent).toBe("const a = 1;\nconst b = 2;\nconst c\n");
    shown.destroy();
  });

  test("another text replaces the first", () => {
    const { root, view: shown } = view();
    shown.update("one\n\ntwo", false);
    shown.update("other", false);
    expect(root.textContent).toBe("other");
  });

  test("the copy button copies the code as it was written", async () => {
    const copy = vi.fn(() => Promise.resolve(true));
    const { root, view: shown } = view(copy);
    shown.update("```js\nlet a = '<b>';\n\nlet c;\n```", false);
    root.querySelector("button")?.click();
    await Promise.resolve();
    expect(copy).toHaveBeenCalledWith("let a = '<b>';\n\nlet c;");
    expect(root.querySelector("button")?.textContent).toBe("Copied");
  });

  test("colours never change the text", () => {
    const code = fc
      .array(
        fc.constantFrom(
          "def f():",
          '"""',
          "'a",
          "<b>",
          "&amp;",
          "// x",
          "/* ",
          "*/",
          "\n",
          "  ",
          "`${x}`",
          "#!",
          "\t",
          "é",
        ),
      )
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(code, fc.constantFrom("python", "js", "html", "bash", "sql", "none"), (text, lang) => {
        expect(
          highlightLines(text, lang)
            .map((line) => line.map((run) => run.text).join(""))
            .join("\n"),
        ).toBe(text);
      }),
    );
  });
});
