import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { AGENT_NAMES } from "../agents/index.js";
import { which } from "../process/which.js";
import { ralphHome } from "../records/home.js";
import { type RunFolder, runsIn } from "../records/runs.js";
import { loadSettings, SETTINGS_FILES } from "../settings/load.js";
import { glances } from "../workers/look.js";

/** A word that may be meant. Of `:file` and `:dir`, the description is what stands before the name. */
export interface Candidate {
  value: string;
  description: string;
}

/** Known agents, those on PATH first, then the profiles in the settings of the folder. */
export async function agents(folder: string): Promise<Candidate[]> {
  const own = await profiles(folder).catch((): string[] => []);
  const known = AGENT_NAMES.filter((name) => !own.includes(name));
  const isHere = (name: string): boolean => which(name, folder).status === "found";
  return [
    ...known.filter(isHere).map((value) => ({ value, description: "on PATH" })),
    ...known.filter((name) => !isHere(name)).map((value) => ({ value, description: "not on PATH" })),
    ...own.map((value) => ({ value, description: "profile in the settings" })),
  ];
}

async function profiles(folder: string): Promise<string[]> {
  // A pipe would be waited for.
  const isPlain = (name: string): boolean =>
    statSync(resolve(folder, name), { throwIfNoEntry: false })?.isFile() ?? true;
  if (!SETTINGS_FILES.every(isPlain)) return [];
  const { settings } = await loadSettings(folder);
  return Object.keys(settings.agents ?? {});
}

/** More than anybody reads through. */
const MAX_RUNS = 50;

/** The latest runs, the newest first. */
export async function runs(): Promise<Candidate[]> {
  const latest = runsIn().list(MAX_RUNS).reverse();
  return latest.map((run) => ({ value: run.id, description: describe(run) }));
}

function describe(run: RunFolder): string {
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

/** Every worker. */
export async function workers(): Promise<Candidate[]> {
  const found = glances(ralphHome(), () => {}).filter(({ kind }) => kind === "worker");
  return found.map(({ name, status, iteration, maxIterations, workspace }) => ({
    value: name,
    description: `${status} ${iteration}/${maxIterations} in ${basename(workspace)}`,
  }));
}

/** Every worker, then the latest runs. */
export async function loops(): Promise<Candidate[]> {
  return [...(await workers()), ...(await runs())];
}
