// Makes docs/demo.svg from a real run of `ralph demo`: each line appears when it was printed.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

const [COLUMNS, ROWS] = [88, 27];
const [CHAR_WIDTH, LINE_HEIGHT, MARGIN] = [8.43, 19, 16];
const HOLD_MS = 8000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that set colours begin with one
const SGR = /(\u001b\[[\d;]*m)/;
const COLORS = { 31: "red", 32: "green", 33: "yellow", 36: "cyan", 2: "dim", 1: "bold" };

const lines = await record();
writeFileSync("docs/demo.svg", picture(lines));

/** Every line with the time at which it was there. */
function record() {
  const command = `stty cols ${COLUMNS} rows ${ROWS}; echo "\\$ ralph demo"; exec "${process.execPath}" bin/ralph.js demo`;
  const env = { ...process.env, CI: "1", TERM: "xterm-256color" };
  delete env.NO_COLOR;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const begun = Date.now();
  const found = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const parts = (rest + text).split(/\r?\n/);
    rest = parts.pop();
    for (const part of parts) found.push({ at: Date.now() - begun, text: plainer(part) });
  });
  return new Promise((resolve, reject) => {
    child.once("close", (code) =>
      code === 0 ? resolve(found) : reject(new Error(`the demo exited with ${code}`)),
    );
  });
}

function picture(all) {
  const total = (all.at(-1)?.at ?? 0) + HOLD_MS;
  const [width, height] = [Math.ceil(COLUMNS * CHAR_WIDTH + 2 * MARGIN), ROWS * LINE_HEIGHT + 2 * MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="ralph demo in a terminal">
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9; white-space: pre }
.red { fill: #f07178 } .green { fill: #8ec07c } .yellow { fill: #e5c07b } .cyan { fill: #56b6c2 } .dim { fill: #8b95a5 } .bold { font-weight: bold }
${motion(all, total)}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#1e222a"/>
<svg x="${MARGIN}" y="${MARGIN}" width="${width - 2 * MARGIN}" height="${ROWS * LINE_HEIGHT}"><g>
${all.map(textElement).join("\n")}
</g></svg>
</svg>
`;
}

/** Lines appear, and the whole moves up when the window is full; then it begins anew. */
function motion(all, total) {
  const percent = (ms) => `${((100 * ms) / total).toFixed(2)}%`;
  const appear = all.map(
    ({ at }, index) =>
      `@keyframes l${index} { 0% { opacity: 0 } ${percent(at)} { opacity: 1 } 100% { opacity: 1 } } .l${index} { animation: l${index} ${total}ms step-end infinite }`,
  );
  const full = all
    .map(({ at }, index) => [percent(at), (index + 1 - ROWS) * LINE_HEIGHT])
    .filter(([, up]) => up > 0);
  const steps = [...new Map(full)].map(([when, up]) => `${when} { transform: translateY(-${up}px) }`);
  const last = Math.max(0, all.length - ROWS) * LINE_HEIGHT;
  return `g { transform: translateY(-${last}px) }
@media (prefers-reduced-motion: no-preference) {
${appear.join("\n")}
@keyframes up { 0% { transform: translateY(0) } ${steps.join(" ")} 100% { transform: translateY(-${last}px) } }
g { animation: up ${total}ms step-end infinite }
}`;
}

function textElement({ text }, index) {
  return `<text class="l${index}" y="${(index + 0.75) * LINE_HEIGHT}">${spans(text)}</text>`;
}

/** Signs that every monospace font has. */
function plainer(text) {
  return text.replaceAll("\r", "").replaceAll("⎿", "└").replaceAll("⏺", "●");
}

/** Text with its colours. */
function spans(text) {
  let style = [];
  return text
    .split(SGR)
    .map((piece) => {
      const codes = SGR.test(piece) ? piece.slice(2, -1) : undefined;
      if (codes === undefined) return piece === "" ? "" : span(piece, style);
      style = codes.split(";").flatMap((code) => COLORS[code] ?? []);
      return "";
    })
    .join("");
}

function span(text, style) {
  const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return style.length === 0 ? safe : `<tspan class="${style.join(" ")}">${safe}</tspan>`;
}
