import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentFinished, AgentStarted, LoopEventBody } from "../events.js";
import type { AgentRequest } from "../loop/effects.js";
import type { Chunk } from "../process/output.js";
import { writeFresh } from "../records/files.js";
import { type Log, openLog, type Redact } from "../records/redact.js";

/** What every call has, whether a program, a screen or a function answers: two events and its records. */

const PROMPT_START_CHARS = 200;
const MAX_MESSAGE_CHARS = 20_000;

export function agentStarted(
  agent: string,
  command: string[],
  { iteration, attempt, prompt, agent: role, insteadOf }: AgentRequest,
  allowanceUsd?: number | null,
): AgentStarted {
  return {
    type: "agent.started",
    ...{ iteration, agent, command, attempt, prompt: prompt.slice(0, PROMPT_START_CHARS) },
    ...(role !== undefined && { role }),
    ...(insteadOf !== undefined && { insteadOf }),
    ...(allowanceUsd !== undefined && { allowanceUsd }),
  };
}

/** The facts of a call that had no process and reported no tokens. */
const NOTHING_TOLD = {
  ...{ exitCode: null, signal: null },
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
};

type CallResult = Omit<AgentFinished, "type" | "iteration" | keyof typeof NOTHING_TOLD> &
  Partial<AgentFinished>;

/** Ends a call. The loop gets the whole final message, the event only the end of it. */
export function* agentFinished(iteration: number, call: CallResult): Generator<LoopEventBody, CallResult> {
  const finalMessage = call.finalMessage.slice(-MAX_MESSAGE_CHARS);
  yield { type: "agent.finished", iteration, ...NOTHING_TOLD, ...call, finalMessage };
  return call;
}

export interface CallRecords {
  write(chunk: Chunk): void;
  close(): { log: string; logError?: string };
}

/** Keeps the prompt and all output in the iteration's folder; after a crash, those of the first try stay. */
export function openRecords(folder: string, extension: string, prompt: string, redact: Redact): CallRecords {
  let path = join(folder, `agent.${extension}`);
  for (let number = 2; existsSync(path); number += 1) path = join(folder, `agent.${number}.${extension}`);
  writeFresh(join(folder, "prompt.md"), redact(prompt), 0o600);
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
