import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { AGENT_NAMES } from "../agents/index.js";
import { RalphError } from "../errors.js";
import { didYouMean } from "../nearest.js";
import { inPackage } from "../package-folder.cjs";
import { which } from "../process/which.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { loadSettings, SETTINGS_FILES } from "../settings/load.js";

/** Each shell and its script; the names are those that the shells look for in their own folders. */
const SCRIPTS: Record<string, string> = { bash: "ralph.bash", zsh: "_ralph", fish: "ralph.fish" };
const SHELLS = Object.keys(SCRIPTS);
const EXPECTED = `expected ${SHELLS.join(", ")}`;

/** `ralph completion SHELL`: the script that makes a shell complete ralph's commands. */
export async function completion(shell: string | undefined): Promise<number> {
  if (shell === undefined) {
    const own = basename(process.env["SHELL"] ?? "");
    const hint = SHELLS.includes(own)
      ? `yours seems to be ${own}: ralph completion ${own}`
      : "ralph completion --help";
    throw new RalphError(`no shell was given: ${EXPECTED}`, { code: "shell_missing", hint });
  }
  if (!SHELLS.includes(shell))
    throw new RalphError(`unknown shell ${shell}: ${EXPECTED}`, {
      code: "shell_unknown",
      hint: didYouMean(shell, SHELLS),
    });
  process.stdout.write(readFileSync(inPackage(`completions/${SCRIPTS[shell]}`), "utf8"));
  return 0;
}

/** A word that may be meant. Of `:file` and `:dir`, the description is what stands before the name. */
export interface Candidate {
  value: string;
  description: string;
}

/** Finds the values of arguments and flags by what these are called, such as `run` and `agent`. */
export type Sources = Record<string, () => Promise<Candidate[]>>;

const SOURCES: Sources = {
  agent: () => agents(process.cwd()),
  run: async () => runs(),
  worker: workers,
  loop: async () => [...(await workers()), ...runs()],
};

/** Asked by the scripts of `ralph completion` at each Tab. Whatever is wrong, there is just nothing to offer. */
export async function complete(find: (sources: Sources) => Promise<Candidate[]>): Promise<number> {
  process.stdout.on("error", () => {});
  const found = await find(SOURCES).catch((): Candidate[] => []);
  // A line break in a name would become two candidates, or worse on a terminal.
  const printable = found.filter(({ value }) => !/\p{Cc}/u.test(value));
  const line = ({ value, description }: Candidate): string =>
    `${value}\t${description.replace(/[\s\p{Cc}]+/gu, " ")}\n`;
  process.stdout.write(printable.map(line).join(""));
  return 0;
}

/** More than anybody reads through. */
const MAX_RUNS = 50;

/** The latest runs, the newest first. */
function runs(): Candidate[] {
  const latest = runsIn().list(MAX_RUNS).reverse();
  return latest.map((run) => ({ value: run.id, description: describeRun(run) }));
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
  const own = await profiles(folder).catch((): string[] => []);
  const known = AGENT_NAMES.filter((name) => !own.includes(name)).map((value) => {
    const isHere = which(value, folder).status === "found";
    return { value, description: isHere ? "on PATH" : "not on PATH" };
  });
  return [
    ...known.filter(({ description }) => description === "on PATH"),
    ...known.filter(({ description }) => description !== "on PATH"),
    ...own.map((value) => ({ value, description: "profile in the settings" })),
  ];
}

async function profiles(folder: string): Promise<string[]> {
  // A pipe would be waited for.
  const arePlain = SETTINGS_FILES.every(
    (name) => statSync(resolve(folder, name), { throwIfNoEntry: false })?.isFile() ?? true,
  );
  if (!arePlain) return [];
  const { settings } = await loadSettings(folder);
  return Object.keys(settings.agents ?? {});
}
