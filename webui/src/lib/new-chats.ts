/** What new chats start from: the user's setting, read from the server's JSON and told in words (T7). */
import { number, t } from "../i18n/index.svelte";
import type { PresetInfo, ToolIntent } from "../protocol.gen";

export const modes = ["follow_profile", "last_used", "fixed"] as const;
export type NewChatMode = (typeof modes)[number];

export interface NewChats {
  readonly mode: NewChatMode;
  readonly intent: ToolIntent;
}

const nothing: ToolIntent = {
  enabled: null,
  toolset: null,
  web_search: null,
  disabled: [],
  picked: null,
  allowed: null,
};

/** The setting as the server sends it; fields that say nothing are left out there. */
export function readNewChats(value: unknown): NewChats {
  const said = typeof value === "object" && value !== null ? (value as Partial<NewChats>) : {};
  return { mode: said.mode ?? "follow_profile", intent: { ...nothing, ...said.intent } };
}

/** The setting that makes every new chat begin like this; tools that are gone are not carried on. */
export function startingWith(intent: ToolIntent, gone: readonly string[] = []): NewChats {
  return { mode: "fixed", intent: { ...intent, disabled: intent.disabled.filter((name) => !gone.includes(name)) } };
}

export function sameIntent(one: ToolIntent, other: ToolIntent): boolean {
  const keys = Object.keys(nothing) as (keyof ToolIntent)[];
  return keys.every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]));
}

/** A setting in words. */
export function inWords({ mode, intent }: NewChats, presets: readonly PresetInfo[]): string {
  if (mode !== "fixed") return t(`newChats.mode.${mode}`);
  const parts: string[] = [];
  if (intent.enabled !== null) parts.push(t(intent.enabled ? "newChats.part.on" : "newChats.part.off"));
  if (intent.picked !== null) parts.push(t("newChats.part.picked", { n: number(intent.picked.length) }));
  const preset = intent.toolset;
  if (preset !== null) {
    const name = presets.find((entry) => entry.name === preset)?.title ?? preset;
    parts.push(t("newChats.part.preset", { name }));
  }
  if (intent.web_search !== null)
    parts.push(t(intent.web_search ? "newChats.part.searchOn" : "newChats.part.searchOff"));
  if (intent.disabled.length > 0) parts.push(t("newChats.part.without", { names: intent.disabled.join(", ") }));
  return parts.length === 0 ? t("newChats.mode.follow_profile") : parts.join(" · ");
}
