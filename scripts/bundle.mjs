// Loading modules one by one takes longer than all that a hook or a short command does. So the entry becomes one file
// with what `ralph hook context` needs, the guard another one, and everything else a third. The guard is then called
// once, so that it is compiled already when an agent calls it.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "..");
const ENTRY = join(ROOT, "dist/start.cjs");

/** unbash makes a decoder when it is loaded. Few commands need one, and making it takes as long as judging them. */
const LATER = `class TextDecoder {
  constructor(...given) { this.given = given; }
  decode(bytes) { return new globalThis.TextDecoder(...this.given).decode(bytes); }
}`;

/** The other form of this package asks for its parts in a way that no bundle follows. */
const ALIAS = { "jsonc-parser": join(ROOT, "node_modules/jsonc-parser/lib/esm/main.js") };

/** Parts of Node that few commands use are loaded with the first use. */
const RARE =
  /(?<==)require\((["'`])(node:(?:crypto|fs\/promises|http|http2|https|module|net|readline|readline\/promises|stream|stream\/consumers|tty|v8|zlib))\1\)/g;
const RARELY = `const rarely = (name) => new Proxy({}, {
  get: (_, key) => (key === "default" ? require(name) : require(name)[key]),
});`;
/** What the bundler adds for a default import copies a part as a whole, which would load it. */
const COPIED = /([\w$]+)=rarely\(([^)]+)\);\1=[\w$]+\(\1,1\)/g;

const guard = await program("dist/hooks/guard-call", LATER);
const main = await program("dist/main", RARELY, (code) =>
  code.replace(RARE, 'rarely("$2")').replace(COPIED, "$1=rarely($2)"),
);
const entry = (await bundled(ENTRY, [/\/main\.js$/])).code;
writeFileSync(ENTRY, entry.replace("GUARD_DIGEST", `"${guard}"`).replace("MAIN_DIGEST", `"${main}"`));

const called = spawnSync(process.execPath, [ENTRY, "hook", "pre-tool-use"], {
  input: "{}",
  encoding: "utf8",
});
if (called.status !== 0 || called.stderr !== "") throw new Error(`the hook does not run: ${called.stderr}`);

/** One function of all that a module needs, beside it; returns its digest. */
async function program(path, head, change = (code) => code) {
  const { code, modules } = await bundled(join(ROOT, `${path}.js`));
  const body = ascii(
    `(function (exports, require, __dirname) {\n${notice(modules)}\n${head}\n${change(code)}})`,
  );
  writeFileSync(join(ROOT, `${path}.cjs`), body);
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

async function bundled(input, external = []) {
  const bundle = await rolldown({ input, external, platform: "node", resolve: { alias: ALIAS } });
  const { output } = await bundle.generate({
    format: "cjs",
    minify: true,
    comments: false,
    codeSplitting: false,
    dynamicImportInCjs: false,
  });
  await bundle.close();
  return output[0];
}

/** The licences of the packages among these modules. */
function notice(modules) {
  const names = Object.keys(modules).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  const texts = [...new Set(names)].filter(Boolean).map((name) => {
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"]
      .map((each) => join(ROOT, "node_modules", name, each))
      .find((each) => existsSync(each));
    if (file === undefined) throw new Error(`${name} has no licence to be passed on`);
    return `${name}:\n\n${readFileSync(file, "utf8").trim()}`;
  });
  return `/*\n${texts.join("\n\n").replaceAll("*/", "* /")}\n*/`;
}

/** A text of single bytes is read without being decoded. */
function ascii(text) {
  return text.replace(/[^\0-\x7F]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
