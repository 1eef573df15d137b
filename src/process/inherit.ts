import { spawn } from "node:child_process";
import { constants } from "node:os";

/** Hands this terminal to a program until it ends. Returns its exit code; a signal is never 0. */
export function runHere(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  // Ctrl+C is for the program.
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: "inherit", env });
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
  }).finally(() => process.off("SIGINT", ignore)) as Promise<number>;
}
