/** Entries of a preset as a person edits them. */
import { t } from "../i18n/index.svelte";
import type { PresetInfo, ToolState } from "../protocol.gen";

export interface Group {
  readonly entry: string;
  readonly label: string;
}

export const leavesOut = (entry: string): boolean => entry.startsWith("-");

/** The entry without the sign that leaves it out. */
export const entryName = (entry: string): string => entry.replace(/^-/, "");

/** The same list with one entry added instead of left out, or the reverse. */
export function flipped(entries: readonly string[], entry: string): readonly string[] {
  const other = leavesOut(entry) ? entryName(entry) : `-${entry}`;
  return entries.filter((known) => known !== other).map((known) => (known === entry ? other : known));
}

/** Whether an entry is a plain name that no tool has now. */
export function unknownEntry(name: string, tools: readonly ToolState[]): boolean {
  return !/^@|[*?[]/.test(name) && tools.length > 0 && tools.every((tool) => tool.name !== name);
}

const builtin = ["default", "full", "coding", "research", "browser", "safe", "none"] as const;

/** A preset with title and description in the user's language, where the program knows it. */
export function inWords(preset: PresetInfo): PresetInfo {
  const name = builtin.find((known) => known === preset.name);
  if (preset.source !== "builtin" || name === undefined) return preset;
  return {
    ...preset,
    title: t(`preset.builtin.${name}`),
    description: name === "none" ? "" : t(`preset.builtin.${name}.hint`),
  };
}

/** The groups of tools that an entry can name: by kind, and each plug-in and server that there is. */
export function groupsOf(tools: readonly ToolState[]): readonly Group[] {
  const kinds = ["readonly", "network", "resident", "builtin", "plugin", "mcp"] as const;
  const sources = new Set(tools.map((tool) => tool.source).filter((source) => source.includes(":")));
  return [
    ...kinds.map((kind) => ({ entry: `@${kind}`, label: t(`preset.group.${kind}`) })),
    ...[...sources].map((source) => ({ entry: `@${source}`, label: t("preset.group.source", { name: source }) })),
  ];
}

/** A name for a new preset, made of its title: names are plain letters and digits, and none is there twice. */
export function freeName(title: string, presets: readonly PresetInfo[]): string {
  const words = title
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "");
  const base = words.slice(0, 48) || "preset";
  const taken = new Set(presets.map((preset) => preset.name));
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? base : `${base}-${n}`;
    if (!taken.has(name)) return name;
  }
}
