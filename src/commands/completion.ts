import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { AGENT_NAMES } from "../agents/index.js";
import { inPackage } from "../package-folder.cjs";
import { which } from "../process/which.js";
import { LAST, ralphHome } from "../records/home.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { DEFAULTS } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import type { Settings } from "../settings/schema.js";
import { didYouMean } from "../words.js";
import { failure, printAll } from "./output.js";

/** Each shell and its script, named as the shells look it up in their folders. */
const SCRIPTS: Record<string, string> = { bash: "ralph.bash", zsh: "_ralph", fish: "ralph.fish" };
const SHELLS = Object.keys(SCRIPTS);
const EXPECTED = `expected ${SHELLS.join(", ")}`;

/** `ralph completion SHELL`: the script that makes a shell complete ralph's commands. */
export async function completion(shell: string | undefined): Promise<number> {
  const own = basename(process.env["SHELL"] ?? "");
  const yours = SHELLS.includes(own) ? `yours seems to be ${own}: ralph completion ${own}` : undefined;
  if (shell === undefined)
    throw failure("shell_missing", `no shell was given: ${EXPECTED}`, yours ?? "ralph completion --help");
  if (!SHELLS.includes(shell))
    throw failure("shell_unknown", `unknown shell ${shell}: ${EXPECTED}`, didYouMean(shell, SHELLS));
  return printAll(readFileSync(inPackage(`completions/${SCRIPTS[shell]}`), "utf8"));
}

/** A candidate. For `:file` and `:dir`, the description is the text before the name. */
export interface Candidate {
  value: string;
  description: string;
}

/** Values of arguments and flags, by their names, such as `run` and `agent`. */
export type Sources = Record<string, (word: string) => Promise<Candidate[]>>;

const SOURCES: Sources = {
  agent: () => agents(process.cwd()),
  run: async (word) => runs(word),
  worker: workers,
  loop: async (word) => [...(await workers()), ...runs(word)],
};

/** The scripts of `ralph completion` call this at each Tab. After any failure it offers nothing. */
export async function complete(find: (sources: Sources) => Promise<Candidate[]>): Promise<number> {
  const found = await find(SOURCES).catch((): Candidate[] => []);
  // A line break in a name would become two candidates, or worse on a terminal.
  const printable = found.filter(({ value }) => !/\p{Cc}/u.test(value));
  const line = ({ value, description }: Candidate): string =>
    `${value}\t${description.replace(/[\s\p{Cc}]+/gu, " ")}\n`;
  return printAll(printable.map(line).join(""));
}

const MAX_RUNS = 50;

/** The latest runs, newest first: by id if the word begins one or the run has no name, else by name. */
function runs(word: string): Candidate[] {
  const latest = runsIn().list(MAX_RUNS).reverse();
  const isId = /^\d/.test(word);
  const found = latest.map((run) => ({ value: isId ? run.id : run.name(), description: describeRun(run) }));
  const last = { value: LAST, description: "the latest run" };
  return found.length === 0 || isId ? found : [last, ...found];
}

function describeRun(run: RunFolder): string {
  try {
    const { recipe, workspace } = run.shown();
    const last = run.lastEvent();
    if (last === undefined) return "";
    const recorded = last.type === "run.paused" ? "paused" : "running";
    const status = last.type === "run.finished" ? `finished (${last.reason})` : run.status(recorded);
    return `${recipe.kind} in ${basename(workspace)}: ${status}`;
  } catch {
    return "";
  }
}

async function workers(): Promise<Candidate[]> {
  const { loopRows } = await import("../workers/worker.js");
  const found = loopRows(ralphHome(), () => {}).filter(({ kind }) => kind === "worker");
  return found.map(({ name, status, iteration, maxIterations, workspace }) => ({
    value: name,
    description: `${status} ${iteration}/${maxIterations} in ${basename(workspace)}`,
  }));
}

/** Known agents, those on PATH first, then the profiles in the settings of the folder. */
async function agents(folder: string): Promise<Candidate[]> {
  const { settings } = await loadSettings(folder).catch(() => ({ settings: DEFAULTS as Settings }));
  const own = Object.keys(settings.agents ?? {});
  const known = AGENT_NAMES.filter((name) => !own.includes(name));
  const isHere = (name: string): boolean => which(name, folder).status === "found";
  return [
    ...known.filter(isHere).map((value) => ({ value, description: "on PATH" })),
    ...known.filter((name) => !isHere(name)).map((value) => ({ value, description: "not on PATH" })),
    ...own.map((value) => ({ value, description: "profile in the settings" })),
  ];
}
