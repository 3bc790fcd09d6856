/** What the cache panel makes of the server's numbers. Pure. */
import type { CacheStep, SurfacePlan } from "../protocol.gen";

export type Part = "read" | "written" | "uncached" | "output";
export const PARTS: readonly Part[] = ["read", "written", "uncached", "output"];

/** The tokens of a request by what became of them; null where its provider does not say. */
export function parts(step: CacheStep): Readonly<Record<Part, number | null>> {
  const used = step.usage;
  if (used === null) return { read: null, written: null, uncached: null, output: null };
  const writes = [used.cache_write_5m, used.cache_write_1h].filter((count) => count !== null);
  return {
    read: used.cache_read,
    written: writes.length === 0 ? null : writes.reduce((sum, count) => sum + count, 0),
    uncached: used.uncached,
    output: used.output,
  };
}

const KINDS: Readonly<Record<SurfacePlan["kind"], true>> = { rebase: true, keep: true, append: true, delta: true };
const REASONS: Readonly<Record<SurfacePlan["reason"], true>> = {
  first_request: true,
  cold: true,
  model_changed: true,
  system_changed: true,
  forced: true,
  economy: true,
  provider: true,
  compacted: true,
  summary: true,
  unchanged: true,
  added: true,
  withdrawn: true,
  restored: true,
  discovered: true,
  search_on: true,
  search_off: true,
};
const MOVES = { withdrawn: true, restored: true, added: true } as const;

/** Whether there are words for it: a chat may have been written by another version. */
export const isKind = (name: string): name is keyof typeof KINDS => Object.hasOwn(KINDS, name);
export const isReason = (name: string): name is keyof typeof REASONS => Object.hasOwn(REASONS, name);
export const isMove = (name: string): name is keyof typeof MOVES => Object.hasOwn(MOVES, name);

export interface Slice {
  readonly part: Part;
  readonly x: number;
  readonly width: number;
}

/** A request's bar, in hundredths of the longest one. */
export function slices(step: CacheStep, longest: number): Slice[] {
  const known = parts(step);
  let x = 0;
  return PARTS.map((part) => {
    const width = longest === 0 ? 0 : ((known[part] ?? 0) * 100) / longest;
    const slice = { part, x, width };
    x += width;
    return slice;
  });
}

/** Tokens of a request, as far as they are known. */
export function size(step: CacheStep): number {
  const known = parts(step);
  return PARTS.reduce((sum, part) => sum + (known[part] ?? 0), 0);
}

export function dollars(cost: number): string {
  if (cost === 0) return "$0";
  return cost < 0.0001 ? "<$0.0001" : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}

export function percent(share: number): string {
  const hundredths = share * 100;
  return `${hundredths >= 99.95 || hundredths === 0 ? hundredths.toFixed(0) : hundredths.toFixed(1)} %`;
}

/** Minutes and seconds from `now` to `until`, in milliseconds; null where that is over. */
export function left(until: number, now: number): string | null {
  const seconds = Math.ceil((until - now) / 1000);
  if (!(seconds > 0)) return null;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A text cut around the character that differs; `room` counts whole characters, as the server does. */
export function around(text: string, room: number): readonly [before: string, at: string, after: string] {
  const characters = [...text];
  return [characters.slice(0, room).join(""), characters[room] ?? "", characters.slice(room + 1).join("")];
}
