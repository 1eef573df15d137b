import { readFileSync } from "node:fs";
import { RalphError } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { entryAt, writeFresh } from "../records/files.js";
import { printAll } from "./output.js";

const TEMPLATE = inPackage("templates/PROMPT.md");

/** `ralph template`: a first prompt for a loop, to pipe or to read. */
export async function template(): Promise<number> {
  await printAll(readFileSync(TEMPLATE, "utf8"));
  return 0;
}

/** `ralph init --prompt`: the same as a file. */
export function writeTemplate(name: string, force: boolean): number {
  const isThere = entryAt(name) !== undefined;
  if (isThere && !force) {
    const what = `${name} already exists (use --force to overwrite)`;
    throw new RalphError(what, { code: "file_exists", exitCode: 1 });
  }
  writeFresh(name, readFileSync(TEMPLATE, "utf8"));
  process.stdout.write(`created ${name}${isThere ? " (overwritten)" : ""}\n`);
  return 0;
}
