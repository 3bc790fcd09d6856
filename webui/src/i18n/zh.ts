/** 简体中文。 */
import type { Dictionary } from "./en";
import { cache } from "./zh/cache";
import { page } from "./zh/page";
import { price } from "./zh/price";
import { setup } from "./zh/setup";
import { work } from "./zh/work";

export const zh: Dictionary = { ...cache, ...page, ...price, ...setup, ...work };
