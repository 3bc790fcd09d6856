export { BlockStream, parseBlocks, type Block } from "./blocks";
export { highlightLines, loadHighlighter, plainLines, whenHighlighterLoads, type Line } from "./highlight";
export { hostOf, safeHref } from "./links";
export { type Words } from "./render";
export { createSanitizer } from "./sanitize";
export { MarkdownView, type ViewOptions } from "./view";
