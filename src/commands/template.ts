import { readFileSync, writeFileSync } from "node:fs";
import { RalphError, systemErrorCode } from "../errors.js";
import { inPackage } from "../package-folder.cjs";
import { writeFresh } from "../records/files.js";
import { printAll } from "./output.js";

const TEMPLATE = inPackage("templates/PROMPT.md");

/** `ralph template`: a first prompt for a loop, to pipe or to read. */
export async function template(): Promise<number> {
  await printAll(readFileSync(TEMPLATE, "utf8"));
  return 0;
}

/** `ralph init --prompt`: the same as a file. */
export function writeTemplate(name: string, force: boolean): number {
  const content = readFileSync(TEMPLATE, "utf8");
  if (writeNew(name, content)) {
    process.stdout.write(`created ${name}\n`);
    return 0;
  }
  if (!force) {
    throw new RalphError(`${name} already exists (use --force to overwrite)`, {
      code: "file_exists",
      exitCode: 1,
    });
  }
  writeFresh(name, content);
  process.stdout.write(`created ${name} (overwritten)\n`);
  return 0;
}

/** false: something is there already. */
function writeNew(name: string, content: string): boolean {
  try {
    writeFileSync(name, content, { flag: "wx" });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}
