import { closeSync, constants, openSync, readdirSync, readSync, realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { orElse } from "../../errors.js";
import { RunFolder } from "../../records/runs.js";
import type { RecordPage } from "../api.js";

const PART_BYTES = 256 * 1024;

/** The folder of an iteration, or that of the run. The records of a lane are in a folder of its own. */
function folderOf({ home, id }: RunFolder, iteration: number | undefined, lane: string | undefined): string {
  const { path } = new RunFolder(home, id, lane);
  return iteration === undefined ? path : join(path, "iterations", String(iteration).padStart(3, "0"));
}

/** Plain files of its records alone: an agent could have planted a link. */
function filesOf(run: RunFolder, iteration?: number, lane?: string): RecordPage["files"] {
  const folder = folderOf(run, iteration, lane);
  // A link on the way leads elsewhere.
  const isOwn = () => relative(realpathSync(run.home), realpathSync(folder)) === relative(run.home, folder);
  if (!orElse(isOwn, false)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const sized = entries.map(({ name }) => ({ name, bytes: statSync(join(folder, name)).size }));
  return sized.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Only a name that the folder itself lists is opened. Without an iteration: the names in the folder of the run. */
export function recordPage(
  run: RunFolder,
  iteration: number | undefined,
  name: string,
  { from: given, lane }: { from?: string; lane?: string },
): RecordPage | undefined {
  const files = filesOf(run, iteration, lane);
  if (name === "" && (files.length === 0 || iteration === undefined))
    return { files, name, bytes: 0, from: 0, output: "" };
  const found = files.find((file) => (name === "" ? isPrompt(file.name) : file.name === name));
  const { name: shown, bytes } = found ?? (name === "" ? files[0] : undefined) ?? {};
  if (shown === undefined || bytes === undefined) return undefined;
  // Of a long file the end tells most, but of a prompt.
  const last = Math.max(0, bytes - PART_BYTES);
  const start = Number(given ?? (isPrompt(shown) ? 0 : last));
  const from = Math.min(Math.max(0, Math.trunc(start) || 0), last);
  const output = partOf(join(folderOf(run, iteration, lane), shown), from);
  return { files, name: shown, bytes, from, output };
}

function isPrompt(name: string): boolean {
  return name.startsWith("prompt");
}

function partOf(path: string, from: number): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const buffer = Buffer.alloc(PART_BYTES);
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, PART_BYTES, from));
  } finally {
    closeSync(file);
  }
}
