import { existsSync } from "node:fs";
import { join } from "node:path";
import { recipeRow } from "../recipes/registry.js";
import { readJson, writeAlone } from "../records/files.js";
import type { RunFolder } from "../records/runs.js";
import { has } from "../records/shape.js";
import { repositoryRoot, type Start, withholdFilters } from "../workspace/git.js";
import {
  type FindNewPrograms,
  type GitPrograms,
  gitPrograms,
  newPrograms,
} from "../workspace/git-programs.js";
import { takeStart } from "../workspace/start.js";
import type { RunContext } from "./context.js";

/** What a run keeps in mind of git from its start on, also after a resume. */
export interface RunGit {
  /** How the repository stood; undefined: there is none. */
  start: Start | undefined;
  /** What git would run that it did not run then; undefined: nobody commits. */
  newPrograms: FindNewPrograms | undefined;
  /** Looks for filters that an agent has set up: git would run them whenever ralph looks at files. */
  watchFilters(): Promise<void>;
}

export async function gitOfRun({ spec: { workspace, recipe }, folder }: RunContext): Promise<RunGit> {
  const { commits } = await recipeRow(recipe);
  const who = commits?.(recipe);
  const root = repositoryRoot(workspace);
  const look = who && (await rememberPrograms(folder, workspace));
  const watchFilters = async (): Promise<void> => {
    if (look !== undefined) withholdFilters(root ?? workspace, (await look()).settings);
  };
  await watchFilters();
  const start = root === undefined ? undefined : await startOf(root, folder, who === "ralph");
  return { start, newPrograms: look, watchFilters };
}

async function startOf(root: string, { path }: RunFolder, commits: boolean): Promise<Start> {
  const [file, excludes] = [join(path, "git-start.json"), join(path, "git-excludes")];
  const known = readJson(file);
  // What cannot be read is looked at anew.
  if (isStart(known)) return { ...known, excludes };
  const { start, ignored } = await takeStart(root, excludes, commits);
  writeAlone(excludes, ignored, 0o600);
  writeAlone(file, JSON.stringify(start), 0o600);
  return start;
}

const LISTS = ["unmerged", "flagged", "links", "dirtyLinks", "inner", "settings"] as const;

function isStart(value: unknown): value is Start {
  const lists = Object.fromEntries(LISTS.map((name) => [name, "array" as const]));
  const texts = { root: "string", records: "string", attributes: "string", excludes: "string" } as const;
  return has(value, { ...texts, ...lists, operation: "string?" });
}

/** Remembers what git runs in the workspace when a run begins, and tells later what of it is new. */
async function rememberPrograms(folder: RunFolder, workspace: string): Promise<FindNewPrograms> {
  const known = programsBefore(folder);
  const before = known ?? (await gitPrograms(workspace));
  if (known === undefined) writeAlone(programsFile(folder), JSON.stringify(before), 0o600);
  return () => newPrograms(workspace, before);
}

/** undefined: the run did not remember it. Of what cannot be read, all counts as new. */
export function programsBefore(folder: RunFolder): GitPrograms | undefined {
  const file = programsFile(folder);
  if (!existsSync(file)) return undefined;
  const known = readJson(file);
  if (!has(known, { hooks: "string", settings: "object" })) return { hooks: "", settings: {} };
  const { hooks, settings } = known as unknown as GitPrograms;
  return { hooks, settings: { ...settings } };
}

function programsFile({ path }: RunFolder): string {
  return join(path, "git-programs.json");
}
