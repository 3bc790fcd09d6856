/** 简体中文。 */
import type { Dictionary } from "./en";
import { page } from "./zh/page";
import { work } from "./zh/work";

export const zh: Dictionary = { ...page, ...work };
