import { spawn } from "node:child_process";
import type { Command } from "./run.js";

const MOST_CHARS = 8000;

/** Starts a program that outlives this process and its terminal. The caller can read its first output. */
export function startDetached({ file, args, cwd, env }: Command) {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let end: { exitCode: number | null; said: string } | undefined;
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-MOST_CHARS);
  });
  child.once("error", (error) => {
    end = { exitCode: null, said: error.message };
  });
  child.once("close", (exitCode) => {
    end ??= { exitCode, said };
  });
  child.unref();
  return { ended: () => end };
}
