import { resolve } from "node:path";

/** Where ralph keeps its records: `$RALPH_HOME`, else `~/.ralph`. */
export function ralphHome(env: NodeJS.ProcessEnv = process.env): string {
  const home = env["RALPH_HOME"];
  return home ? resolve(home) : `${userHome(env)}/.ralph`;
}

export function userHome(env: NodeJS.ProcessEnv): string {
  return env["HOME"] || homeOfAccount();
}

/** Hooks are in a hurry, and hardly ever need the module. */
function homeOfAccount(): string {
  const { homedir }: typeof import("node:os") = require("node:os");
  return homedir();
}
