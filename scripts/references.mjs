// The parts of the documentation that are made from the code: the schemas and the reference of the settings.
import { createGenerator } from "ts-json-schema-generator";
import { jsonSchema } from "../dist/settings/validate.js";

/** Every generated file by its path. */
export function references() {
  const settings = jsonSchema();
  return {
    "schemas/settings.v1.json": asJson(settings),
    "schemas/events.v1.json": asJson(eventSchema()),
    "docs/settings.md": settingsPage(settings),
  };
}

function asJson(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** New fields and new events may come without a new version: whoever reads must pass over what it does not know. */
function eventSchema() {
  const generator = createGenerator({
    path: "src/events.ts",
    tsconfig: "tsconfig.json",
    type: "LoopEvent",
    additionalProperties: true,
    skipTypeCheck: true,
    topRef: false,
  });
  const { $schema, ...schema } = generator.createSchema("LoopEvent");
  return { $schema, title: "An event of ralph, version 1", ...schema };
}

function settingsPage(schema) {
  return `# Settings

<!-- Made from the schema by: npm run docs -->

The keys of \`.ralph/settings.json\`, of \`.ralph/settings.local.json\` over it, and of a file given with \`-C/--config\` in place of the first. Objects are merged key by key; lists and single values replace those below. Flags win over files. How they are used is in [run.md](run.md).

\`\`\`sh
ralph config
ralph config --schema
\`\`\`

The first shows the settings in force and where each comes from, the second prints the JSON Schema, which is also in the package as \`ralph-loop/schemas/settings.v1.json\`. A key that does not exist and a value of the wrong type are errors.

| key | type | default | |
|---|---|---|---|
${rows(schema, "").join("\n")}
`;
}

function rows({ properties = {}, required = [] }, above) {
  return Object.entries(properties).flatMap(([name, node]) => {
    const key = `${above}${name}`;
    const own = `| \`${key}\` | ${typeOf(node)} | ${defaultOf(node, required.includes(name))} | ${described(node)} |`;
    return [own, ...inside(node, key)];
  });
}

function described({ description = "" }) {
  return description.replace(/--[a-z-]+|<\w+>/g, "`$&`");
}

function inside(node, key) {
  if (node.properties !== undefined) return rows(node, `${key}.`);
  if (node.items?.properties !== undefined) return rows(node.items, `${key}[].`);
  if (node.additionalProperties?.properties !== undefined)
    return rows(node.additionalProperties, `${key}.NAME.`);
  return [];
}

function typeOf(node) {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${value}\``).join(", ");
  if (node.anyOf !== undefined) return node.anyOf.map(typeOf).join(" or ");
  if (node.type === "array") return `list of ${typeOf(node.items)}s`;
  if (node.type === "integer")
    return node.minimum === undefined ? "whole number" : `whole number, ${node.minimum} or more`;
  return [node.type].flat().join(" or ");
}

function defaultOf(node, isRequired) {
  if (node.default !== undefined) return `\`${JSON.stringify(node.default)}\``;
  return isRequired ? "required" : "";
}
