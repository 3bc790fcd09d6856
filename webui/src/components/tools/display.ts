/** What a tool's result says for people, read with care: it is another program's JSON. */
import type { ToolResultBlock } from "../../protocol.gen";
import { safeHref } from "../../markdown";

export interface Source {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly date: string;
}

type Display = ToolResultBlock["display"];

export function textOfResult(result: ToolResultBlock | null): string {
  return result === null ? "" : result.content.map((part) => part.text).join("\n");
}

export function exitCode(display: Display): number | null {
  const code = display?.["exit_code"];
  return typeof code === "number" ? code : null;
}

export function diffOf(display: Display): string | null {
  const diff = display?.["diff"] ?? display?.["patch"];
  return typeof diff === "string" && diff !== "" ? diff : null;
}

export function textField(display: Display, key: string): string {
  const value = display?.[key];
  return typeof value === "string" ? value : "";
}

/** Search results whose address may be a link. */
export function sourcesOf(display: Display): readonly Source[] {
  const list = display?.["results"] ?? display?.["hits"];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry) => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
    const url = safeHref(textField(entry, "url"));
    if (url === null) return [];
    return [
      {
        url,
        title: textField(entry, "title") || url,
        snippet: textField(entry, "snippet"),
        date: textField(entry, "date"),
      },
    ];
  });
}

export interface DiffLine {
  readonly kind: "add" | "del" | "same" | "hunk";
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** The lines of a unified diff with their numbers; the file header is left out. */
export function diffLines(diff: string): readonly DiffLine[] {
  let before = 0;
  let after = 0;
  const lines: DiffLine[] = [];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      lines.push({ kind: "hunk", text: hunk[3]!.trim(), before: null, after: null });
    } else if (lines.length === 0 || line.startsWith("\\")) {
      continue; // before the first hunk: file names; "\ No newline at end of file"
    } else if (line.startsWith("+")) {
      lines.push({ kind: "add", text: line.slice(1), before: null, after: after++ });
    } else if (line.startsWith("-")) {
      lines.push({ kind: "del", text: line.slice(1), before: before++, after: null });
    } else {
      lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return lines;
}

export function diffCounts(diff: string): { added: number; removed: number } {
  const lines = diffLines(diff);
  return {
    added: lines.filter((line) => line.kind === "add").length,
    removed: lines.filter((line) => line.kind === "del").length,
  };
}

/** The file that a diff is about. */
export function diffPath(diff: string): string {
  const match = /^\+\+\+ (?:b\/)?(.+)$/m.exec(diff) ?? /^--- (?:a\/)?(.+)$/m.exec(diff);
  return match?.[1]?.split("\t")[0] ?? "";
}

/** Terminal colours are not shown; their codes would only be noise. */
export function plainOutput(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/[^\n]*\r(?!\n)/g, "");
}
