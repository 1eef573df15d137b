// The page of `ralph ui`: its scripts and its style sheet, named by what they hold, beside its icons.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "..");
const CLIENT = join(ROOT, "src/ui/client");
const PAGE = join(ROOT, "dist/ui/page");

rmSync(PAGE, { recursive: true, force: true });
mkdirSync(join(PAGE, "assets"), { recursive: true });
cpSync(join(CLIENT, "public"), PAGE, { recursive: true });

// The terminal is loaded when somebody looks at one.
const terminalStyle = style("terminal", ["node_modules/@xterm/xterm/css/xterm.css"]);

const bundle = await rolldown({
  input: { main: join(CLIENT, "main.tsx") },
  platform: "browser",
  tsconfig: join(CLIENT, "tsconfig.json"),
  resolve: { extensionAlias: { ".js": [".ts", ".js"], ".jsx": [".tsx"] } },
  transform: {
    define: { "process.env.NODE_ENV": '"production"', TERMINAL_STYLE: JSON.stringify(terminalStyle) },
  },
});
await bundle.write({
  dir: join(PAGE, "assets"),
  format: "esm",
  minify: true,
  comments: false,
  entryFileNames: "[name]-[hash:8].js",
  chunkFileNames: "[name]-[hash:8].js",
});
await bundle.close();

style("main", [
  "templates/tokens.css",
  "templates/parts.css",
  "node_modules/uplot/dist/uPlot.min.css",
  "src/ui/client/style.css",
]);

function style(name, files) {
  const text = files.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");
  const short = text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1");
  const hash = createHash("sha256").update(short).digest("base64url").slice(0, 8);
  writeFileSync(join(PAGE, "assets", `${name}-${hash}.css`), short);
  return `/assets/${name}-${hash}.css`;
}
