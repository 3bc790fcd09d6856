import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/**
 * Put `src/theme-boot.js` in front of everything else in the page as a classic, blocking script.
 *
 * It has to run before the first paint (no flash of the wrong theme), and the content security
 * policy forbids inline scripts, so it becomes a hashed asset of its own.
 */
export function themeBoot(source: string): Plugin {
  const name = "theme-boot.js";
  let building = false;
  return {
    name: "openprogram:theme-boot",
    configResolved(config) {
      building = config.command === "build";
    },
    buildStart() {
      if (building) {
        this.emitFile({ type: "asset", name, source: readFileSync(source, "utf8") });
      }
    },
    configureServer(server) {
      server.middlewares.use(`/${name}`, (_request, response) => {
        response.setHeader("content-type", "text/javascript");
        response.end(readFileSync(source, "utf8"));
      });
    },
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle }) {
        const assets = Object.values(bundle ?? {});
        const built = assets.find((asset) => asset.type === "asset" && asset.names.includes(name));
        if (building && built === undefined) throw new Error(`${name} is missing from the build`);
        const src = `./${built?.fileName ?? name}`;
        return [{ tag: "script", attrs: { src }, injectTo: "head-prepend" }];
      },
    },
  };
}
