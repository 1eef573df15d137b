import { type Command, type Exit, type RunOptions, run } from "./run.js";

export interface Captured extends Exit {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Far more than any program says whose answer ralph reads as a whole. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Runs a program to its end and returns what it said. */
export async function capture(command: Command, options: RunOptions = {}): Promise<Captured> {
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  const process = run(command, options);
  let step = await process.next();
  for (; !step.done; step = await process.next()) {
    bytes += step.value.data.length;
    if (bytes <= MAX_BYTES) pieces[step.value.from].push(step.value.data);
  }
  return {
    ...step.value,
    ok: step.value.exitCode === 0,
    stdout: Buffer.concat(pieces.stdout).toString("utf8"),
    stderr: Buffer.concat(pieces.stderr).toString("utf8"),
  };
}
