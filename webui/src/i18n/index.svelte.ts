/** `t("key", { name })` in the chosen language; reading it in a template follows a change of language. */
import { settings } from "../lib/settings.svelte";
import { en, type Dictionary, type Key } from "./en";
import { fill, type Values } from "./translate";
import { zh } from "./zh";

export type { Key };
export type Locale = "en" | "zh";

type Plural = { [K in Key]: K extends `${infer Stem}_other` ? Stem : never }[Key];

const dictionaries: Readonly<Record<Locale, Dictionary>> = { en, zh };

/** The first of the browser's languages that there is a dictionary for. */
export function preferred(languages: readonly string[]): Locale {
  for (const language of languages) {
    const tag = language.toLowerCase();
    if (tag === "zh" || tag.startsWith("zh-")) return "zh";
    if (tag === "en" || tag.startsWith("en-")) return "en";
  }
  return "en";
}

export function locale(): Locale {
  return settings.language === "system" ? preferred(navigator.languages) : settings.language;
}

export function t<K extends Key>(key: K, ...values: Values<(typeof en)[K]>): string {
  return fill(dictionaries[locale()][key], values[0]);
}

/** The form of a message that fits `n`. */
export function plural(stem: Plural, n: number): string {
  const form = new Intl.PluralRules(locale()).select(n) === "one" ? "one" : "other";
  return fill(dictionaries[locale()][`${stem}_${form}`], { n: new Intl.NumberFormat(locale()).format(n) });
}

export function number(n: number): string {
  return new Intl.NumberFormat(locale()).format(n);
}

/** A length of time as people say it. */
export function duration(ms: number): string {
  if (ms < 1_000) return t("time.ms", { n: Math.round(ms) });
  const seconds = Math.round(ms / 1_000);
  if (ms < 10_000) return t("time.seconds", { n: (ms / 1_000).toFixed(1) });
  if (seconds < 60) return t("time.seconds", { n: seconds });
  return t("time.minutes", { m: Math.floor(seconds / 60), s: seconds % 60 });
}

/** A time of day, by this browser's clock. */
export function time(ms: number): string {
  return new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(ms);
}
