// Agents wait for hooks at every step, and loading their modules one by one takes longer than all that they do. So
// the entry becomes one file with what `ralph hook context` needs, and the guard another one. The guard is then
// called once, so that it is compiled already when an agent calls it.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "..");
const ENTRY = join(ROOT, "dist/start.cjs");
const GUARD = join(ROOT, "dist/hooks/guard-call");

/** unbash makes a decoder when it is loaded. Few commands need one, and making it takes as long as judging them. */
const LATER = `class TextDecoder {
  constructor(...given) { this.given = given; }
  decode(bytes) { return new globalThis.TextDecoder(...this.given).decode(bytes); }
}`;

const licence = readFileSync(join(ROOT, "node_modules/unbash/LICENSE"), "utf8").trim();
const notice = `/*\nThe parser of shells among this is unbash:\n\n${licence}\n*/`;
const body = ascii(
  `(function (exports, require, __dirname) {\n${notice}\n${LATER}\n${await bundled(`${GUARD}.js`)}})`,
);
const digest = createHash("sha256").update(body).digest("hex").slice(0, 16);
writeFileSync(`${GUARD}.cjs`, body);
const entry = await bundled(ENTRY, [/\/main\.js$/]);
writeFileSync(ENTRY, entry.replace("GUARD_DIGEST", `"${digest}"`));

const called = spawnSync(process.execPath, [ENTRY, "hook", "pre-tool-use"], {
  input: "{}",
  encoding: "utf8",
});
if (called.status !== 0 || called.stderr !== "") throw new Error(`the hook does not run: ${called.stderr}`);

async function bundled(input, external = []) {
  const bundle = await rolldown({ input, external, platform: "node" });
  const { output } = await bundle.generate({ format: "cjs", minify: true, comments: false });
  await bundle.close();
  return output[0].code;
}

/** A text of single bytes is read without being decoded. */
function ascii(text) {
  return text.replace(/[^\0-\x7F]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
