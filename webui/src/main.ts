import { mount } from "svelte";
import "./app.css";
import Root from "./App.svelte";
import { App } from "./lib/app.svelte";
import { highlighter } from "./lib/highlighter.svelte";

const app = new App();
mount(Root, { target: document.getElementById("app")!, props: { app } });
app.start();
highlighter.load();
