import { existsSync } from "node:fs";
import { join } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import type { Chunk } from "../process/output.js";
import { writeFresh } from "../records/files.js";
import { type Log, openLog } from "../records/log.js";
import type { Redact } from "../records/redact.js";

export interface AgentRecords {
  write(chunk: Chunk): void;
  close(): { log: string; logError?: string };
}

/**
 * The prompt and all that the agent wrote, in the iteration's folder. An iteration that is run again after
 * a crash keeps the records of the first try.
 */
export function openRecords(folder: string, extension: string, prompt: string, redact: Redact): AgentRecords {
  const path = freeName(folder, "agent", extension);
  writePrompt(join(folder, "prompt.md"), redact(prompt));
  const stdout = openLog(path, redact);
  let stderr: Log | undefined;
  return {
    write({ from, data }) {
      if (from === "stdout") return stdout.write(data);
      stderr ??= openLog(path.replace(/\.\w+$/, ".stderr.log"), redact);
      stderr.write(data);
    },
    close() {
      const logError = stdout.close() ?? stderr?.close();
      return { log: path, ...(logError !== undefined && { logError }) };
    },
  };
}

function freeName(folder: string, name: string, extension: string): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? "" : `.${number}`}.${extension}`);
    if (!existsSync(path)) return path;
  }
}

function writePrompt(path: string, prompt: string): void {
  try {
    writeFresh(path, prompt, 0o600);
  } catch (error) {
    throw new RalphError(`cannot write ${path}: ${describeSystemError(error)}`, {
      code: "records_unwritable",
      exitCode: 1,
      cause: error,
    });
  }
}
