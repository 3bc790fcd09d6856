/** Prices before they are paid, in words. Pure but for the language. */
import { t, time } from "../i18n/index.svelte";
import type { PreviewAck, Reread, SendPreviewAck } from "../protocol.gen";
import { dollars } from "./cache";
import { short } from "./tool-groups";

const REASONS = ["cold", "model_changed", "system_changed", "branch", "forced", "compacted"] as const;

/** What is read anew, with its price as far as one is known; nothing where nothing is, or nobody knows. */
export function reread(what: Pick<Reread, "tokens" | "cost">): string {
  if (what.tokens === null || what.tokens === 0) return "";
  const tokens = short(what.tokens);
  return what.cost === null
    ? t("price.reread", { tokens })
    : t("price.rereadFor", { tokens, cost: dollars(what.cost) });
}

/** Why the next message reads anew what was read before. */
export function why(reason: string): string {
  const known = REASONS.find((name) => name === reason);
  return t(`price.why.${known ?? "other"}`);
}

export interface Line {
  readonly tone: "warm" | "cold";
  readonly text: string;
}

/** What the composer says before a message is sent; null where its price is nothing to speak of. */
export function sendLine(ahead: SendPreviewAck, until: number | null): Line | null {
  if (ahead.now.costly)
    return { tone: "cold", text: `${why(ahead.reason)} ${t("price.send", { what: reread(ahead.now) })}` };
  if (until === null || !ahead.once_cold.costly) return null;
  return { tone: "warm", text: t("price.warm", { time: time(until), what: reread(ahead.once_cold) }) };
}

/** What flipping a switch would cost; empty where that is not known. */
export function switchPrice(price: PreviewAck | null, atOnce = false): string {
  if (price === null || price.tokens === null) return "";
  if (price.tokens > 0) return t("price.switch", { what: reread(price) });
  return t(atOnce ? "price.freeNow" : "price.free");
}

/** What choosing a preset would cost now, or later by what it brings, where that is `from` tokens or more. */
export function presetPrice(price: PreviewAck | null, from: number): string {
  if (price === null) return "";
  if (price.tokens !== null && price.tokens > 0) return switchPrice(price);
  if (price.later.length === 0 || price.load_tokens === null || price.load_tokens < Math.max(from, 1)) return "";
  return t("price.later", { n: price.later.length, tokens: short(price.load_tokens) });
}
