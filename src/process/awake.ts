import { spawn } from "node:child_process";
import { which } from "./which.js";

export interface Awake {
  /** The program that keeps the machine awake. */
  program: string;
  release(): void;
}

type Argv = [program: string, ...args: string[]];
const CAFFEINATE: Argv = ["caffeinate", "-i"];
const INHIBIT: Argv = ["systemd-inhibit", "--what=idle:sleep", "--who=ralph", "--why=a loop is running"];
const MAX_CHARS = 1000;

/** The helper reads a pipe of this process, and ends with it. undefined: the system has no such program. */
export function keepAwake(
  onEnd: (why: string) => void,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Awake | undefined {
  const [program, ...args] = platform === "darwin" ? CAFFEINATE : INHIBIT;
  const found = which(program, "/", env["PATH"]);
  if (found.status !== "found") return undefined;
  // A group of its own: Ctrl+C is meant for the loop, which may run on for a while.
  const options = { env, detached: true };
  const child = spawn(found.path, [...args, "cat"], { ...options, stdio: ["pipe", "ignore", "pipe"] });
  let released = false;
  const end = (why: string): void => {
    if (!released) onEnd(why);
  };
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_CHARS);
  });
  child.once("error", ({ message }) => end(message));
  child.once("close", (code, signal) => end(errors.trim().split("\n").at(-1) || (signal ?? `exit ${code}`)));
  child.stdin.on("error", () => {});
  const release = (): void => {
    released = true;
    child.stdin.destroy();
  };
  return { program, release };
}
