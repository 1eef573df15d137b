import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where ralph keeps its records: `$RALPH_HOME`, else `~/.ralph`. */
export function ralphHome(env: NodeJS.ProcessEnv = process.env): string {
  const home = env["RALPH_HOME"];
  return home ? resolve(home) : join(homedir(), ".ralph");
}
