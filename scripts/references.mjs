// The parts of the documentation that are made from the code: the schemas, the settings, the commands.
import { createGenerator } from "ts-json-schema-generator";
import { receiptSchema } from "../dist/receipts/read.js";
import { jsonSchema } from "../dist/settings/validate.js";
import { cliPage } from "./cli-page.mjs";

/** Every generated file by its path. */
export function references() {
  const settings = jsonSchema();
  return {
    "schemas/settings.v1.json": asJson(settings),
    "schemas/events.v1.json": asJson(eventSchema()),
    "schemas/receipt.v1.json": asJson(receiptSchema()),
    "docs/reference/settings.md": settingsPage(settings),
    "docs/reference/cli.md": cliPage(),
  };
}

function asJson(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** New fields and new events may come without a new version: readers must ignore what they do not know. */
function eventSchema() {
  const generator = createGenerator({
    path: "src/events.ts",
    tsconfig: "tsconfig.json",
    type: "LoopEvent",
    additionalProperties: true,
    skipTypeCheck: true,
    topRef: false,
  });
  const { $schema, anyOf = [], ...schema } = generator.createSchema("LoopEvent");
  // The generator adds what a map of events might hold besides: an event without a type of its own.
  const events = anyOf.filter(({ properties }) => properties.type.const !== undefined);
  return { $schema, title: "An event of ralph, version 1", anyOf: events, ...schema };
}

function settingsPage(schema) {
  return `# Settings

<!-- Made from the schema by: npm run docs -->

Four layers, each over the one before: your own \`~/.ralph/settings.json\` (\`$RALPH_HOME/settings.json\`) for all projects, \`.ralph/settings.json\` of the project (or the file given with \`-C/--config\`), \`.ralph/settings.local.json\`, and flags. Objects are merged key by key; lists and single values replace those below; \`null\` takes away what a file below says: \`"scm": null\` switches commits off. Comments and a comma after the last item are allowed. How \`ralph run\` uses them is in [run.md](../guides/run.md).

\`\`\`sh
ralph config
ralph config get checks
ralph config set maxCost 5
ralph config set checks '["npm test", "npm run lint"]' --local
ralph config set agent.command codex --user
ralph config --schema
\`\`\`

\`ralph config\` shows the settings in force and where each comes from. \`ralph config set\` writes \`.ralph/settings.json\`, with \`--local\` or \`--user\` another file, and keeps its comments. \`ralph config --schema\` prints the JSON Schema, which is also in the package as \`ralph-loop/schemas/settings.v1.json\`. A key that does not exist and a value of the wrong type are errors that name the file, the key and what is meant.

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
