import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";

/** Where ralph keeps its records: `$RALPH_HOME`, else `~/.ralph`. */
export function ralphHome(env: NodeJS.ProcessEnv = process.env): string {
  const home = env["RALPH_HOME"];
  return home ? resolve(home) : join(homedir(), ".ralph");
}

/** The same, ready to be written to. */
export function writableHome(home = ralphHome()): string {
  try {
    mkdirSync(home, { recursive: true });
    accessSync(home, constants.W_OK);
    return home;
  } catch (error) {
    throw new RalphError(`cannot keep records in ${home}: ${describeSystemError(error)}`, {
      code: "home_unwritable",
      hint: "make it writable or set RALPH_HOME to another folder",
      cause: error,
    });
  }
}
