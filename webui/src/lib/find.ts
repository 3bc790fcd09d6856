/** Find in a chat. The browser's own search cannot see rows that are not on the page. */
import { textOfResult } from "../components/tools/display";
import type { Row } from "./state/rows";

/** What a reader could look for in a row. */
export function textOfRow(row: Row): string {
  switch (row.kind) {
    case "user":
    case "outgoing":
    case "text":
    case "reasoning":
    case "note":
    case "summary":
      return row.text;
    case "call":
      return [row.name, ...Object.values(row.arguments ?? {}).map(String), row.output, textOfResult(row.result)].join(
        "\n",
      );
    case "hosted":
      return [row.query, ...row.sources.map((source) => `${source.title} ${source.url}`), row.error ?? ""].join("\n");
    case "group":
      return row.calls.map(textOfRow).join("\n");
    case "error":
      return row.error.message;
    case "ending":
    case "footer":
    case "working":
      return "";
  }
}

/** Indices of the rows that contain `query`, whatever the case; none for an empty one. */
export function findRows(rows: readonly Row[], query: string): readonly number[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === "") return [];
  return rows.flatMap((row, index) => (textOfRow(row).toLocaleLowerCase().includes(wanted) ? [index] : []));
}

/** The places of `query` in the text of `root`, within one text node each. */
export function rangesIn(root: Node, query: string): Range[] {
  const wanted = query.trim().toLocaleLowerCase();
  if (wanted === "") return [];
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLocaleLowerCase();
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
