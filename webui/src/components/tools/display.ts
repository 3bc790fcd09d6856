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
  if (result === null) return "";
  return result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export interface Picture {
  readonly src: string;
  readonly width: number;
  readonly height: number;
}

/** The pictures of a result, as addresses that hold all of them: nothing is fetched to show one. */
export function picturesOf(result: ToolResultBlock | null): readonly Picture[] {
  return (result?.content ?? []).flatMap((part) =>
    part.type === "image" && /^image\/(?:png|jpeg)$/.test(part.media_type) && /^[A-Za-z0-9+/]+=*$/.test(part.data)
      ? [{ src: `data:${part.media_type};base64,${part.data}`, width: part.width, height: part.height }]
      : [],
  );
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

interface FileDiff {
  readonly name: string;
  readonly lines: readonly DiffLine[];
}

/** The files of a unified diff. What a hunk says of its length tells its lines from the next file's head. */
function filesOf(diff: string): readonly FileDiff[] {
  const files: { name: string; lines: DiffLine[] }[] = [];
  let [before, after, oldEnd, newEnd] = [0, 0, 0, 0];
  let old = "";
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const inside = before < oldEnd || after < newEnd;
    const lines = files.at(-1)?.lines ?? [];
    const hunk = inside ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line);
    if (hunk !== null) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      [oldEnd, newEnd] = [before + Number(hunk[2] ?? 1), after + Number(hunk[4] ?? 1)];
      if (files.length === 0) files.push({ name: "", lines: [] });
      files.at(-1)!.lines.push({ kind: "hunk", text: hunk[5]!.trim(), before: null, after: null });
    } else if (!inside && line.startsWith("--- ")) {
      old = fileName(line);
    } else if (!inside && line.startsWith("+++ ")) {
      const name = fileName(line);
      files.push({ name: name === "/dev/null" ? old : moved(old, name), lines: [] });
    } else if (!inside) {
      continue; // "\ No newline at end of file", and notes between files
    } else if (line.startsWith("+")) {
      lines.push({ kind: "add", text: line.slice(1), before: null, after: after++ });
    } else if (line.startsWith("-")) {
      lines.push({ kind: "del", text: line.slice(1), before: before++, after: null });
    } else if (!line.startsWith("\\")) {
      lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return files;
}

function moved(from: string, to: string): string {
  return from === to || from === "" || from === "/dev/null" ? to : `${from} → ${to}`;
}

function fileName(head: string): string {
  return head
    .slice(4)
    .split("\t")[0]!
    .replace(/^[ab]\//, "");
}

/** The lines of a unified diff with their numbers. The head of a file is left out; one of several begins with its name. */
export function diffLines(diff: string): readonly DiffLine[] {
  const files = filesOf(diff);
  if (files.length < 2) return files[0]?.lines ?? [];
  return files.flatMap(({ name, lines }) => [{ kind: "hunk", text: name, before: null, after: null }, ...lines]);
}

export function diffCounts(diff: string): { added: number; removed: number } {
  const lines = diffLines(diff);
  return {
    added: lines.filter((line) => line.kind === "add").length,
    removed: lines.filter((line) => line.kind === "del").length,
  };
}

/**
 * The files that a call would change, as its arguments name them: its diff names none where no line differs, as in an
 * empty file, one that is only moved, or one that is no text.
 */
export function changedPaths(given: Readonly<Record<string, unknown>>): readonly string[] {
  const { path, patch } = given;
  if (typeof path === "string" && path !== "") return [path];
  if (typeof patch !== "string") return [];
  const paths: string[] = [];
  for (const [, what, name] of patch.matchAll(/^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\s*$/gm)) {
    if (what === "Move to" && paths.length > 0) paths.push(`${paths.pop()!} → ${name!}`);
    else paths.push(name!);
  }
  return paths;
}

/** One path, or the first of several and how many more there are. */
export function inOne(paths: readonly string[]): string {
  return paths.length < 2 ? (paths[0] ?? "") : `${paths[0]} (+${paths.length - 1})`;
}

/** The file that a diff is about, or the first of several and how many more there are. */
export function diffPath(diff: string): string {
  return inOne(filesOf(diff).map((file) => file.name));
}

/** What a change is about: the files of its diff, which are where it would be written; those it names, where those are more. */
export function changePath(diff: string, given: Readonly<Record<string, unknown>>): string {
  const shown = filesOf(diff).map((file) => file.name);
  const named = changedPaths(given);
  return inOne(named.length > shown.length ? named : shown);
}

/** Terminal colours are not shown; their codes would only be noise. */
export function plainOutput(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").replace(/[^\n]*\r(?!\n)/g, "");
}
