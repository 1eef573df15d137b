import { openLog } from "../process/log.js";
import { type Exit, run } from "../process/run.js";
import type { Redact } from "../state/redact.js";

export interface Check {
  command: string;
  timeoutMs: number;
}

export interface CheckContext {
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  /** Aborted: the check is killed at once. */
  kill: AbortSignal;
  /** File for all of its output. */
  log: string;
  /** How much of the output to keep, from which end. */
  keep: { chars: number; from: "start" | "end" };
}

export interface CheckResult extends Exit {
  passed: boolean;
  /** What was kept of stdout and stderr together. */
  output: string;
  /** There was more than what was kept. */
  truncated: boolean;
  logError?: string;
}

/** Runs one check as the user would type it. Exit 0 is a pass; everything else is not. */
export async function runCheck(check: Check, context: CheckContext): Promise<CheckResult> {
  const log = openLog(context.log, context.redact);
  const kept = keeper(context.keep);
  const process = run(
    { ...shell(check.command), cwd: context.workspace, env: context.env },
    { stop: context.kill, timeoutMs: check.timeoutMs },
  );
  let step = await process.next();
  for (; !step.done; step = await process.next()) {
    log.write(step.value.data);
    kept.add(step.value.data);
  }
  const logError = log.close();
  return {
    ...step.value,
    passed: step.value.exitCode === 0 && !step.value.timedOut,
    output: context.redact(kept.text()),
    truncated: kept.truncated(),
    ...(logError !== undefined && { logError }),
  };
}

/** stdout and stderr share one pipe, so that their lines keep their order. */
function shell(command: string): { file: string; args: string[] } {
  return { file: "/bin/sh", args: ["-c", `exec 2>&1; ${command}`] };
}

/** Bytes of one end of an output that may be endless; a character has four bytes at the most. */
function keeper({ chars, from }: CheckContext["keep"]) {
  const limit = chars * 4;
  let pieces: Buffer[] = [];
  let size = 0;
  let dropped = false;
  const addStart = (data: Buffer): void => {
    const room = limit - size;
    dropped ||= data.length > room;
    if (room <= 0) return;
    pieces.push(data.subarray(0, room));
    size += Math.min(room, data.length);
  };
  const addEnd = (data: Buffer): void => {
    pieces.push(data);
    size += data.length;
    if (size <= limit * 2) return;
    pieces = [Buffer.concat(pieces).subarray(-limit)];
    size = limit;
    dropped = true;
  };
  const all = (): string => Buffer.concat(pieces).toString("utf8");
  return {
    add: from === "start" ? addStart : addEnd,
    text: (): string => (from === "start" ? all().slice(0, chars) : all().slice(-chars)),
    truncated: (): boolean => dropped || all().length > chars,
  };
}
