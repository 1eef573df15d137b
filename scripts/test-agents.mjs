// `npm run test:agents -- claude codex`: proves ralph with real agents and a scripted model. What cannot be had on
// this machine is named and left out; with CI set, that is a failure.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AGENTS, chosenAgents, installedAgent } from "./real-agents.mjs";
import { differences, TABLE_FILE, withColumns } from "./real-agents-table.mjs";
import { isCi, missingNeeds } from "./test-needs.mjs";

const WRITE = "--write-table";
const NEEDED = ["git", "procps", "tmux", "bubblewrap", "socat", "ripgrep"];
const VITEST = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const words = process.argv.slice(2);

process.exitCode = await main();

async function main() {
  const asked = namesIn(words);
  if (asked === undefined) return 2;
  const programs = Object.fromEntries((await Promise.all(asked.map(programOf))).flat());
  const isShort = Object.keys(programs).length < asked.length;
  if (isShort && isCi(process.env)) return told("with CI set, that is a failure", 1);
  if (Object.keys(programs).length === 0) return told("no agent is left to test with", 1);
  const missing = missingNeeds().filter((need) => NEEDED.includes(need.package));
  if (missing.length > 0) return told(`${missing.map((need) => need.package).join(", ")} is missing`, 1);
  return prove(programs);
}

function namesIn(all) {
  try {
    return chosenAgents(all.filter((word) => word !== WRITE));
  } catch (error) {
    return told(error.message);
  }
}

async function programOf(name) {
  const { version, older } = AGENTS[name];
  try {
    const releases = older === undefined ? [version] : [version, older];
    const programs = await Promise.all(releases.map((release) => installedAgent(name, { release })));
    console.error(`test:agents: ${name} ${releases.join(" and ")}`);
    return [[name, programs]];
  } catch (error) {
    console.error(`test:agents: ${name} cannot be had here; left out: ${error.message}`);
    return [];
  }
}

function prove(programs) {
  const folder = mkdtempSync(join(tmpdir(), "ralph-test-agents-"));
  const report = join(folder, "report.json");
  try {
    const status = vitest(programs, report);
    return status === 0 ? compare(JSON.parse(readFileSync(report, "utf8")), Object.keys(programs)) : status;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function vitest(programs, report) {
  const args = ["--config", "vitest.agents.config.mjs", "--reporter=default", "--reporter=json"];
  const env = { ...process.env, REAL_AGENTS: JSON.stringify(programs) };
  const command = [process.execPath, VITEST, "run", ...args, `--outputFile.json=${report}`];
  const [file, ...rest] = [...inOwnNetwork(), ...command];
  return spawnSync(file, rest, { stdio: "inherit", env }).status ?? 1;
}

/** Where bubblewrap can, the agents have no network but loopback. */
function inOwnNetwork() {
  const rights = process.getuid?.() === 0 ? ["--cap-add", "ALL"] : [];
  const inside = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", ...rights, "--"];
  const [file, ...args] = [...inside, "true"];
  if (spawnSync(file, args, { stdio: "ignore" }).status === 0) return inside;
  console.error("test:agents: no network of its own here; agents are kept to loopback by a proxy alone");
  return [];
}

/** The table in the documentation is what was proven, and nothing else. */
function compare(report, names) {
  const page = readFileSync(TABLE_FILE, "utf8");
  if (words.includes(WRITE)) writeFileSync(TABLE_FILE, withColumns(page, report, names));
  const found = words.includes(WRITE) ? [] : differences(page, report, names);
  for (const line of found) console.error(`test:agents: ${line}`);
  return found.length === 0
    ? 0
    : told(`docs/internals/real-agents.md tells something else; ${WRITE} writes it anew`, 1);
}

function told(message, code) {
  console.error(`test:agents: ${message}`);
  return code;
}
