import { type Command, type Exit, type RunOptions, run } from "./run.js";

export interface Captured extends Exit {
  ok: boolean;
  stdout: string;
  stderr: string;
}

export interface CaptureOptions extends RunOptions {
  /** The caller needs no more: ralph ends the program after so many bytes, and that is no failure. */
  maxBytes?: number;
  /** `latin1` keeps bytes that are not UTF-8, as in file names. */
  encoding?: "utf8" | "latin1";
}

/** Far more than any program prints whose output ralph reads as a whole. */
const MAX_BYTES = 64 * 1024 * 1024;
const CUT_OFF: Exit = { exitCode: null, signal: "SIGTERM", durationMs: 0, timedOut: false };

export async function capture(command: Command, options: CaptureOptions = {}): Promise<Captured> {
  const { maxBytes = Number.POSITIVE_INFINITY, encoding = "utf8" } = options;
  const pieces = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  const process = run(command, options);
  let step = await process.next();
  for (; !step.done && bytes <= maxBytes; step = await process.next()) {
    bytes += step.value.data.length;
    if (bytes <= MAX_BYTES) pieces[step.value.from].push(step.value.data);
  }
  // Leaving the generator ends the program.
  const exit = step.done ? step.value : (await process.return(CUT_OFF)).value;
  return {
    ...(exit as Exit),
    ok: !step.done || step.value.exitCode === 0,
    stdout: Buffer.concat(pieces.stdout).toString(encoding),
    stderr: Buffer.concat(pieces.stderr).toString(encoding),
  };
}
