import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import { makePrivateFolder } from "./files.js";
import { ralphHome } from "./ralph-home.cjs";

export { ralphHome };

/** Ralph's home, ready to be written to. */
export function writableHome(home = ralphHome()): string {
  try {
    makePrivateFolder(home);
    for (const { name } of readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
      makePrivateFolder(join(home, name));
    accessSync(home, constants.W_OK);
    return home;
  } catch (error) {
    throw unwritableHome(home, error);
  }
}

/** Folder for named pipes. It is hidden in sandboxes: a pipe is written where no file can be. */
export function pipesFolder(home: string): string {
  const folder = join(home, "pipes");
  makePrivateFolder(folder);
  return folder;
}

/** What hidden checks printed, by run. Sandboxes hide it, and the next run in the project takes it away. */
export function hiddenFolder(home: string, run = ""): string {
  return join(home, "hidden", run);
}

export function unwritableHome(home: string, cause: unknown): RalphError {
  return new RalphError(`cannot keep records in ${home}: ${describeSystemError(cause)}`, {
    code: "home_unwritable",
    hint: "make it writable or set RALPH_HOME to another folder",
    cause,
  });
}
