/** English, which is also the list of all messages. `_one` and `_other` are chosen by number. */
import { cache } from "./en/cache";
import { page } from "./en/page";
import { price } from "./en/price";
import { setup } from "./en/setup";
import { work } from "./en/work";

export const en = { ...cache, ...page, ...price, ...setup, ...work } as const;

export type Key = keyof typeof en;
export type Dictionary = Readonly<Record<Key, string>>;
