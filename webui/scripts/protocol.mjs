// `src/protocol.gen.ts` from `schema/protocol.json`. With --write it is written, without it is compared.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const at = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const source = at("../schema/protocol.json");
const target = at("../src/protocol.gen.ts");

const banner = `/**
 * The protocol's types. Generated: \`python scripts/gen_protocol.py\`, then \`npm run gen:protocol\`.
 */
`;

const schema = JSON.parse(await readFile(source, "utf8"));
hoistEvent(schema);
dropTitles(schema);
const compiled = await compile({ ...schema, title: "Protocol", type: "object" }, "Protocol", {
  additionalProperties: false,
  bannerComment: banner,
  ignoreMinAndMaxItems: true,
  unreachableDefinitions: true,
  format: false,
});
const types = compiled
  .replace(/ \*\s*\n \* This interface was referenced by [^\n]*\n \* via the `definition` [^\n]*\n/g, "")
  .replace(/\/\*\*\n \* This interface was referenced by [^\n]*\n \* via the `definition` [^\n]*\n \*\/\n/g, "")
  .replace(/export interface Protocol \{\s*\}\n/, "");

if (process.argv.includes("--write")) {
  await writeFile(target, types);
} else if ((await readFile(target, "utf8")) !== types) {
  console.error("src/protocol.gen.ts is behind schema/protocol.json: run `npm run gen:protocol`");
  process.exit(1);
}

/**
 * The union of all events gets a name of its own; pydantic writes it out wherever it is used.
 * @param {any} root
 */
function hoistEvent(root) {
  const union = root.$defs.EventFrame.properties.event;
  const { title: _, ...event } = union;
  root.$defs.Event = event;
  root.$defs.EventFrame.properties.event = { $ref: "#/$defs/Event" };
  root.$defs.PartialAnswer.properties.events.items = { $ref: "#/$defs/Event" };
}

/**
 * A title on a property would become a type of its own.
 * @param {any} node
 */
function dropTitles(node) {
  if (Array.isArray(node)) node.forEach(dropTitles);
  else if (node !== null && typeof node === "object") {
    if (typeof node.title === "string") delete node.title;
    Object.values(node).forEach(dropTitles);
  }
}
