import { spawn } from "node:child_process";
import type { Command, Exit } from "./run.js";

/** Hands the terminal over to a program until it ends. Ctrl+C is for the program alone. */
export async function interactive({ file, args, cwd, env }: Omit<Command, "stdin">): Promise<Exit> {
  const begun = performance.now();
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    const child = spawn(file, args, { cwd, env, stdio: "inherit" });
    const ended = await new Promise<Pick<Exit, "exitCode" | "signal" | "spawnError">>((resolve) => {
      child.once("error", (spawnError) => resolve({ exitCode: null, signal: null, spawnError }));
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    return { ...ended, durationMs: performance.now() - begun, timedOut: false };
  } finally {
    process.off("SIGINT", ignore);
  }
}
