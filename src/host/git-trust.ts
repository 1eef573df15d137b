import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomic } from "../state/files.js";
import type { RunFolder } from "../state/runs.js";
import {
  type GitPrograms,
  gitPrograms,
  type LookAtPrograms,
  newPrograms,
} from "../workspace/git-programs.js";

const Remembered = z.object({ hooks: z.string(), settings: z.record(z.string(), z.string()) });

/** Remembers what git runs in the workspace when a run begins, and tells later what of it is new. */
export async function rememberPrograms(folder: RunFolder, workspace: string): Promise<LookAtPrograms> {
  const before = programsBefore(folder) ?? (await gitPrograms(workspace));
  if (!existsSync(fileOf(folder))) writeAtomic(fileOf(folder), JSON.stringify(before));
  return () => newPrograms(workspace, before);
}

/** undefined: the run did not remember it. */
export function programsBefore(folder: RunFolder): GitPrograms | undefined {
  const file = fileOf(folder);
  return existsSync(file) ? Remembered.parse(JSON.parse(readFileSync(file, "utf8"))) : undefined;
}

function fileOf({ path }: RunFolder): string {
  return join(path, "git-programs.json");
}
