import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vitest/config";
import { mockServer } from "./dev/mock-plugin.ts";
import { themeBoot } from "./build/theme-boot.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What the server sends with the page; previewing with it shows at once what it would block. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

export default defineConfig(({ mode }) => ({
  // Tests of stores need the client half of Svelte, where state is reactive.
  ...(process.env["VITEST"] === undefined ? {} : { resolve: { conditions: ["browser"] } }),
  // Relative addresses: the same files work at the root and below a path of a reverse proxy.
  base: "./",
  plugins: [svelte(), tailwindcss(), themeBoot(at("./src/theme-boot.js")), ...(mode === "mock" ? [mockServer()] : [])],
  server: {
    // `npm run dev` beside a running server: OPENPROGRAM_URL is its address.
    proxy:
      mode === "mock"
        ? {}
        : {
            "/ws": { target: process.env["OPENPROGRAM_URL"] ?? "http://127.0.0.1:8790", ws: true },
            "/api": { target: process.env["OPENPROGRAM_URL"] ?? "http://127.0.0.1:8790" },
          },
  },
  preview: { headers: { "content-security-policy": policy } },
  build: {
    outDir: at("../openprogram/web/static"),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // a data: URL would need a wider content security policy
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  test: {
    include: ["src/**/*.test.ts", "dev/**/*.test.ts"],
    environment: "node",
    restoreMocks: true,
    testTimeout: 60_000, // properties take seconds on a busy machine
  },
}));
