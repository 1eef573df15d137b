import type { Chunk } from "../process/output.js";
import { type Exit, type RunOptions, run } from "../process/run.js";
import type { Call, Sandbox } from "./sandbox.js";

/** Runs a command inside, as `run` does outside. */
export async function* runInside(
  sandbox: Sandbox,
  call: Call,
  options: RunOptions,
): AsyncGenerator<Chunk, Exit> {
  const command = await sandbox.wrap(call);
  let exit: Exit = { exitCode: null, signal: "SIGTERM", durationMs: 0, timedOut: false };
  try {
    exit = yield* run(command, options);
  } finally {
    exit = await sandbox.ended(exit);
  }
  return exit;
}
