// Measures what is promised as ratios in one run: machines are noisy, ratios are stable. `npm run bench` prints
// the table and exits 1 when a ratio is far over its limit. Names of parts measure those only, `--quick` takes
// small streams, few workers and few rounds, `--write` puts the table into docs/internals/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PARTS } from "./parts.mjs";
import { createWorkbench } from "./workbench.mjs";

/** How far over its limit a ratio may be before the run counts as failed. */
const TOLERANCE = 2;
const PAGE = join(import.meta.dirname, "../docs/internals/performance.md");

const words = process.argv.slice(2);
const options = { quick: words.includes("--quick") };
const named = words.filter((word) => !word.startsWith("--"));
const unknown = named.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) throw new Error(`no part ${unknown}; there are ${Object.keys(PARTS).join(", ")}`);

const rows = [];
for (const name of named.length === 0 ? Object.keys(PARTS) : named) {
  const workbench = createWorkbench();
  try {
    await PARTS[name](workbench, row, options);
  } finally {
    workbench.close();
  }
}
if (words.includes("--write")) write();
const far = rows.filter((each) => each.far);
if (far.length > 0) {
  console.error(`far over the limit: ${far.map(({ what }) => what).join("; ")}`);
  process.exitCode = 1;
}

function row(what, unit, { ours, theirs }, limit, { atLeast = false } = {}) {
  const ratio = ours / theirs;
  const far = atLeast ? ratio < limit / TOLERANCE : ratio > limit * TOLERANCE;
  const met = atLeast ? ratio >= limit : ratio <= limit;
  const told = {
    figures: `${ours.toFixed(1)} / ${theirs.toFixed(1)} ${unit}`.trim(),
    ratio: `${ratio.toFixed(2)}×`,
  };
  const bound = `${atLeast ? "≥" : "≤"} ${limit}×`;
  rows.push({ what, ...told, bound, met, far });
  const columns = [met ? "ok  " : "OVER", what.padEnd(64), told.figures.padStart(24), told.ratio.padStart(7)];
  console.log(`${columns.join(" ")}  (${bound})`);
}

/** Between the marks of the page. */
function write() {
  const lines = rows.map(
    ({ what, figures, ratio, bound, met }) =>
      `| ${what} | ${figures} | ${ratio} | ${bound} | ${met ? "met" : "**over**"} |`,
  );
  const table = ["| what | measured | ratio | limit | |", "|---|---|---|---|---|", ...lines].join("\n");
  const [before, after] = readFileSync(PAGE, "utf8").split(
    /(?<=<!-- last result -->\n)[\s\S]*(?=<!-- end -->)/,
  );
  if (after === undefined) throw new Error(`${PAGE} has no place for the table`);
  writeFileSync(PAGE, `${before}${table}\n${after}`);
}
