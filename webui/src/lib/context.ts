/** The one App, for every component below it. */
import { createContext } from "svelte";
import type { App } from "./app.svelte";

export const [getApp, setApp] = createContext<App>();
