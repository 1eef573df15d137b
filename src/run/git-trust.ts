import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { recipeRow } from "../recipes/registry.js";
import { writeAlone } from "../records/files.js";
import type { RunFolder } from "../records/runs.js";
import { repositoryRoot, withholdFilters } from "../workspace/git.js";
import {
  type GitPrograms,
  gitPrograms,
  type LookAtPrograms,
  newPrograms,
} from "../workspace/git-programs.js";
import type { RunContext } from "./run-context.js";
import type { RunSpec } from "./spec.js";

/** undefined: neither the run nor the archive of its stories commits in the user's name. */
export async function programsOf(
  { recipe, workspace }: RunSpec,
  { folder }: RunContext,
): Promise<LookAtPrograms | undefined> {
  const { commits } = await recipeRow(recipe);
  return commits?.(recipe) === undefined ? undefined : rememberPrograms(folder, workspace);
}

/** Looks for filters that an agent has set up: git would run them whenever ralph looks at files. */
export async function filterWatch(spec: RunSpec, context: RunContext): Promise<() => Promise<void>> {
  const look = await programsOf(spec, context);
  const root = repositoryRoot(spec.workspace) ?? spec.workspace;
  const watch = async (): Promise<void> => {
    if (look !== undefined) withholdFilters(root, (await look()).settings);
  };
  await watch();
  return watch;
}

/** Remembers what git runs in the workspace when a run begins, and tells later what of it is new. */
async function rememberPrograms(folder: RunFolder, workspace: string): Promise<LookAtPrograms> {
  const before = programsBefore(folder) ?? (await gitPrograms(workspace));
  if (!existsSync(fileOf(folder))) writeAlone(fileOf(folder), JSON.stringify(before), 0o600);
  return () => newPrograms(workspace, before);
}

/** undefined: the run did not remember it. */
export function programsBefore(folder: RunFolder): GitPrograms | undefined {
  const file = fileOf(folder);
  return existsSync(file) ? remembered(readFileSync(file, "utf8")) : undefined;
}

/** Of what cannot be read, all counts as new. */
function remembered(text: string): GitPrograms {
  try {
    const { hooks, settings } = JSON.parse(text) as Partial<GitPrograms>;
    return { hooks: String(hooks), settings: { ...settings } };
  } catch {
    return { hooks: "", settings: {} };
  }
}

function fileOf({ path }: RunFolder): string {
  return join(path, "git-programs.json");
}
