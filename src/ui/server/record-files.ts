import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { RunFolder } from "../../records/runs.js";
import type { RecordPage } from "../api.js";
import { filesOf, iterationPath } from "./run-page.js";

const PART_BYTES = 256 * 1024;

/** Only a name that the folder itself lists is opened. Without an iteration: the names in the folder of the run. */
export function recordPage(
  run: RunFolder,
  iteration: number | undefined,
  name: string,
  { from: given, lane }: { from?: string; lane?: string | undefined },
): RecordPage | undefined {
  const folder = iteration === undefined ? run.path : iterationPath(run, iteration, lane);
  const files = iteration === undefined ? plainFiles(folder) : filesOf(run, iteration, lane);
  if (name === "") return { files, name, bytes: 0, from: 0, output: "" };
  const found = files.find((file) => file.name === name);
  if (found === undefined) return undefined;
  // Of a long file the end tells most.
  const last = Math.max(0, found.bytes - PART_BYTES);
  const from = given === undefined ? last : Math.min(Math.max(0, Number(given) || 0), last);
  return { files, name, bytes: found.bytes, from, output: partOf(join(folder, name), from) };
}

function plainFiles(folder: string): RecordPage["files"] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ name }) => ({ name, bytes: statSync(join(folder, name)).size }));
}

function partOf(path: string, from: number): string {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(PART_BYTES);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, PART_BYTES, from));
  } finally {
    closeSync(file);
  }
}
