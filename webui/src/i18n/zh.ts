/** 简体中文。 */
import type { Dictionary } from "./en";
import { page } from "./zh/page";
import { setup } from "./zh/setup";
import { work } from "./zh/work";

export const zh: Dictionary = { ...page, ...setup, ...work };
