import { accessSync, constants } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { makeFolders } from "./files.js";

/** Where ralph keeps its records: `$RALPH_HOME`, else `~/.ralph`. */
export function ralphHome(env: NodeJS.ProcessEnv = process.env): string {
  const home = env["RALPH_HOME"];
  return home ? resolve(home) : join(homedir(), ".ralph");
}

/** The same, ready to be written to. */
export function writableHome(home = ralphHome()): string {
  try {
    makeFolders(home);
    accessSync(home, constants.W_OK);
    return home;
  } catch (error) {
    throw unwritableHome(home, error);
  }
}

export function unwritableHome(home: string, cause: unknown): RalphError {
  return new RalphError(`cannot keep records in ${home}: ${describeSystemError(cause)}`, {
    code: "home_unwritable",
    hint: "make it writable or set RALPH_HOME to another folder",
    cause,
  });
}
