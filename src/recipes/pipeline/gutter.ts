import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFresh } from "../../records/files.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { GateRun } from "./run-gate.js";
import type { PipelineContext } from "./spec.js";

/** Keeps what somebody needs who has to look into it. Names what was written, from the workspace on. */
export async function saveGutter(
  context: PipelineContext,
  state: string,
  { check: { log, command, exitCode, signal }, line }: Pick<GateRun, "check" | "line">,
): Promise<string[]> {
  const { workspace } = context;
  prepareRuntimeFolder(workspace);
  if (!isOwnFolder(workspace)) return [];
  const output = `${RUNTIME_FOLDER}/gutter-${state}.log`;
  const patch = `${RUNTIME_FOLDER}/gutter-diff.patch`;
  rmSync(join(workspace, output), { recursive: true, force: true });
  if (saysSomething(log)) copyFileSync(log, join(workspace, output));
  else {
    const text = `$ ${command}\n${line}\nIt printed nothing (${signal ?? `exit code ${exitCode}`}).\n`;
    writeFresh(join(workspace, output), context.redact(text));
  }
  rmSync(join(workspace, patch), { recursive: true, force: true });
  const diff = await context.patch();
  if (diff === undefined) return [output];
  writeFresh(join(workspace, patch), context.redact(diff));
  return [output, patch];
}

const BLANK_BYTES = 4096;

/** A log that is larger than this has more in it than blanks. */
function saysSomething(log: string): boolean {
  if (!existsSync(log)) return false;
  return statSync(log).size > BLANK_BYTES || readFileSync(log, "utf8").trim() !== "";
}
