import { statSync } from "node:fs";
import { RalphError } from "./errors.js";

/** A pipe in the place of a file would be waited for, and nothing could end that. */
export function refuseSpecialFile(path: string, name = path): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.isFile() || stat.isDirectory()) return;
  throw new RalphError(`cannot read ${name}: it is not a plain file`, {
    code: "not_a_file",
    hint: "put a file in its place, or remove it",
  });
}
