// Writes the generated parts of the documentation: npm run docs.
import { mkdirSync, writeFileSync } from "node:fs";
import { references } from "./references.mjs";

mkdirSync("schemas", { recursive: true });
for (const [path, content] of Object.entries(references())) writeFileSync(path, content);
