import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { recipeRow } from "../recipes/registry.js";
import { writeAlone } from "../records/files.js";
import { has } from "../records/shape.js";
import type { Start } from "../workspace/git.js";
import { repositoryRoot } from "../workspace/git.js";
import { takeStart } from "../workspace/start.js";
import type { RunContext } from "./run-context.js";
import type { RunSpec } from "./spec.js";

/** How the repository of a run stood when the run began, also after a resume; undefined: there is none. */
export async function startOfRun(
  { workspace, recipe }: RunSpec,
  { folder }: RunContext,
): Promise<Start | undefined> {
  const root = repositoryRoot(workspace);
  if (root === undefined) return undefined;
  const [file, excludes] = [join(folder.path, "git-start.json"), join(folder.path, "git-excludes")];
  const known = existsSync(file) ? remembered(readFileSync(file, "utf8")) : undefined;
  if (known !== undefined) return { ...known, excludes };
  const commits = (await recipeRow(recipe)).commits?.(recipe) === "ralph";
  const { start, ignored } = await takeStart(root, excludes, commits);
  writeAlone(excludes, ignored, 0o600);
  writeAlone(file, JSON.stringify(start), 0o600);
  return start;
}

/** What cannot be read is looked at anew. */
function remembered(text: string): Start | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isStart(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const LISTS = ["unmerged", "flagged", "links", "dirtyLinks", "inner", "settings"] as const;

function isStart(value: unknown): value is Start {
  const lists = Object.fromEntries(LISTS.map((name) => [name, "array" as const]));
  const texts = { root: "string", records: "string", attributes: "string", excludes: "string" } as const;
  return has(value, { ...texts, ...lists, operation: "string?" });
}
