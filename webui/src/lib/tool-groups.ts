/** The tools panel's list: by source, what works first, and never more lines at once than a reader looks through. */
import type { ToolState } from "../protocol.gen";

/** With more tools than this the groups of servers and plug-ins begin folded. */
export const FOLD_ABOVE = 60;
/** So many lines of a group are shown at once. */
export const PAGE = 100;

export interface ToolGroup {
  readonly source: string;
  readonly list: readonly ToolState[];
  readonly on: number;
  /** What every request pays for them; null while not all are counted. */
  readonly tokens: number | null;
}

export const isOn = (tool: ToolState): boolean => tool.state !== "off" && tool.state !== "unavailable";

/** It is on, and its calls fail for now. */
export const isHindered = (tool: ToolState): boolean => tool.state === "down" || tool.state === "refused_by_mode";

/** The tools that match what was typed, the built-in ones first, then source by source. */
export function groupTools(tools: readonly ToolState[], typed: string): ToolGroup[] {
  const wanted = typed.trim().toLowerCase();
  const bySource = new Map<string, ToolState[]>([["builtin", []]]);
  for (const tool of tools) {
    if (!`${tool.name} ${tool.description} ${tool.source}`.toLowerCase().includes(wanted)) continue;
    const list = bySource.get(tool.source);
    if (list === undefined) bySource.set(tool.source, [tool]);
    else list.push(tool);
  }
  return [...bySource]
    .filter(([, list]) => list.length > 0)
    .map(([source, list]) => ({
      source,
      list: list.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1)),
      on: list.filter(isOn).length,
      tokens: sum(list),
    }));
}

/** `840`, `2.3k`, `41k`: tokens as short as they can be read. */
export function short(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  return tokens < 9_950 ? `${(tokens / 1_000).toFixed(1)}k` : `${Math.round(tokens / 1_000)}k`;
}

function rank(tool: ToolState): number {
  if (tool.state === "off") return 2;
  return tool.state === "unavailable" || isHindered(tool) ? 1 : 0;
}

function sum(list: readonly ToolState[]): number | null {
  let tokens = 0;
  for (const tool of list) {
    if (tool.tokens_now === null) return null;
    tokens += tool.tokens_now;
  }
  return tokens;
}
