/** Every keyboard shortcut: the list that is shown is the list that works. */
import type { Key } from "../i18n/en";

export interface Shortcut {
  readonly label: Extract<Key, `keys.${string}`>;
  readonly keys: readonly string[];
}

export const shortcuts: readonly Shortcut[] = [
  { label: "keys.new", keys: ["Mod", "Shift", "O"] },
  { label: "keys.search", keys: ["Mod", "K"] },
  { label: "keys.find", keys: ["Mod", "F"] },
  { label: "keys.focus", keys: ["Shift", "Esc"] },
  { label: "keys.stop", keys: ["Esc"] },
  { label: "keys.steer", keys: ["Mod", "Enter"] },
  { label: "keys.chip", keys: ["Mod", "."] },
  { label: "keys.sidebar", keys: ["Mod", "Shift", "S"] },
  { label: "keys.copy", keys: ["Mod", "Shift", "C"] },
  { label: "keys.approve", keys: ["1", "2", "3"] },
  { label: "keys.editLast", keys: ["↑"] },
  { label: "keys.sheet", keys: ["Mod", "/"] },
];

export type Command = "new" | "search" | "focus" | "stop" | "chip" | "sidebar" | "copy" | "sheet" | "find";

/** The command of a key press, if it is one. */
export function commandOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
): Command | null {
  const mod = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (event.altKey) return null;
  if (key === "escape" && !mod) return event.shiftKey ? "focus" : "stop";
  if (!mod) return null;
  if (event.shiftKey) return key === "o" ? "new" : key === "s" ? "sidebar" : key === "c" ? "copy" : null;
  return key === "f" ? "find" : key === "k" ? "search" : key === "." ? "chip" : key === "/" ? "sheet" : null;
}
