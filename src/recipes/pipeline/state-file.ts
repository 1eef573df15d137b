import { join } from "node:path";
import { writeAlone } from "../../records/files.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import type { Standing } from "./standing.js";

const STATE_FILE = `${RUNTIME_FOLDER}/state.md`;

/** For people: what is read from it is never believed. */
export function writeStateFile(workspace: string, standing: Standing): void {
  prepareRuntimeFolder(workspace);
  if (!isOwnFolder(workspace)) return;
  const path = join(workspace, STATE_FILE);
  try {
    writeAlone(path, stateText(standing));
  } catch {
    // An agent can have put a folder in its place; nothing depends on it.
  }
}

export function stateText({ state, retries, history }: Standing): string {
  return `# RALPH State

current_state: ${state}
retry_count: ${retries}
history:
${history.map((line) => `  - ${line}\n`).join("")}`;
}
