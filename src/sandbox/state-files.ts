import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../agents/agent.js";

/** Folders that agents have to write to work at all, and what in them stays as it is. */
export function stateFiles(
  agents: Agent[],
  home: string,
  env: NodeJS.ProcessEnv,
): { writes: string[]; protects: string[] } {
  const all = agents.flatMap(({ needs, setup }) => {
    if (needs === undefined || setup === undefined) return [];
    const { variable, folder } = setup.loginFile;
    const base = env[variable] || join(home, folder);
    const from = (path: string): string => join(base, path);
    return [{ writes: needs.state.map(from), protects: needs.obeys.map(from) }];
  });
  const writes = all.flatMap((one) => one.writes);
  // Only what is there can be let through.
  for (const path of writes) mkdirSync(path, { recursive: true });
  return { writes, protects: all.flatMap((one) => one.protects).filter(isThereOrFirst) };
}

/** The first of the settings is kept away where it is not there; an empty one of the others would be an error. */
function isThereOrFirst(path: string): boolean {
  return existsSync(path) || path.endsWith(".toml");
}
