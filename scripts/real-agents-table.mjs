// The table of docs/internals/real-agents.md: what was proven with which agent.
import { fileURLToPath } from "node:url";
import { AGENTS } from "./real-agents.mjs";

export const TABLE_FILE = fileURLToPath(new URL("../docs/internals/real-agents.md", import.meta.url));

const NAMES = Object.keys(AGENTS);
const SECTIONS = ["recipes", "faults", "hooks", "signals", "sandbox"];
const TABLE = /^\| *\|.*\n(?:\|.*\n)+/m;
const YES = "yes";
const NO = "–";

/** The page with what a report of vitest tells about these agents; the columns of others stay as they are. */
export function withColumns(page, report, names) {
  const before = rowsIn(page);
  const rows = casesIn(report).map(({ title, cells }) => {
    const kept = before.get(title) ?? [];
    return [
      title,
      ...NAMES.map((name, at) => (names.includes(name) ? (cells.get(name) ?? NO) : (kept[at] ?? ""))),
    ];
  });
  const kept = headIn(page);
  const head = ["", ...NAMES.map((name, at) => (names.includes(name) ? titleOf(name) : (kept[at] ?? "")))];
  return page.replace(TABLE, () => `${line(head)}|${"---|".repeat(head.length)}\n${rows.map(line).join("")}`);
}

/** What of the page is not so, in lines. */
export function differences(page, report, names) {
  const [is, should] = [page, withColumns(page, report, names)].map((text) => text.split("\n"));
  const gone = is.filter((text) => !should.includes(text)).map((text) => `- ${text}`);
  return [...gone, ...should.filter((text) => !is.includes(text)).map((text) => `+ ${text}`)];
}

/** Every case once, with what each agent made of it. */
function casesIn({ testResults }) {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const byTitle = new Map();
  for (const { ancestorTitles, title, status, meta } of all) {
    const entry = byTitle.get(title) ?? { section: ancestorTitles[0], title, cells: new Map() };
    if (status === "passed") entry.cells.set(meta.agent, meta.told ?? YES);
    byTitle.set(title, entry);
  }
  const placeOf = ({ section }) => SECTIONS.indexOf(section);
  return [...byTitle.values()].sort((a, b) => placeOf(a) - placeOf(b));
}

function titleOf(name) {
  return `\`${name}\` ${AGENTS[name].version}`;
}

function line(cells) {
  return `|${cells.map((cell) => (cell === "" ? " |" : ` ${cell} |`)).join("")}\n`;
}

function headIn(page) {
  return linesIn(page)[0]?.slice(1) ?? [];
}

function rowsIn(page) {
  const rows = linesIn(page).slice(2);
  return new Map(rows.map(([title, ...cells]) => [title, cells]));
}

function linesIn(page) {
  const [table = ""] = TABLE.exec(page) ?? [];
  const lines = table.trim().split("\n");
  return lines.map((text) =>
    text
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
