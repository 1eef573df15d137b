import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFresh } from "../../state/files.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { PipelineContext } from "./pipeline.js";

/** Keeps what somebody needs who has to look into it. Names what was written, from the workspace on. */
export async function saveGutter(context: PipelineContext, state: string, log: string): Promise<string[]> {
  const { workspace } = context;
  prepareRuntimeFolder(workspace);
  if (!isOwnFolder(workspace)) return [];
  const output = `${RUNTIME_FOLDER}/gutter-${state}.log`;
  const patch = `${RUNTIME_FOLDER}/gutter-diff.patch`;
  rmSync(join(workspace, output), { recursive: true, force: true });
  if (existsSync(log)) copyFileSync(log, join(workspace, output));
  rmSync(join(workspace, patch), { recursive: true, force: true });
  const diff = await context.patch();
  if (diff === undefined) return [output];
  writeFresh(join(workspace, patch), context.redact(diff));
  return [output, patch];
}
