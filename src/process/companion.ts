import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { createLineSplitter } from "./output.js";
import type { Command } from "./run.js";
import { which } from "./which.js";

/** A program that answers each line of JSON with another line. */
export interface Companion {
  ask(question: unknown): Promise<unknown>;
  /** Closes its input, and waits until it has exited. */
  end(): Promise<void>;
  /** Resolves when it has exited, for any reason. */
  gone: Promise<void>;
}

/** Starts it in a group of its own, out of reach of Ctrl+C. Its input ends when this process dies. */
export function startCompanion({ file, args, cwd, env }: Omit<Command, "stdin">): Companion {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  const waiting: { resolve(answer: unknown): void; reject(error: Error): void }[] = [];
  let failure: Error | undefined;
  const gone = new Promise<void>((resolve) => {
    const leave = (why: Error): void => {
      failure ??= why;
      for (const { reject } of waiting.splice(0)) reject(failure);
      resolve();
    };
    child.once("error", leave);
    child.once("exit", (code, signal) =>
      leave(new Error(`its helper ended with ${signal ?? `exit code ${code}`}`)),
    );
  });
  /** It keeps this process alive only while a question is open. */
  const hold = (how: "ref" | "unref"): void => {
    for (const part of [child, child.stdin, child.stdout])
      if (part === child || part instanceof Socket) part[how]();
  };
  hold("unref");
  const lines = createLineSplitter();
  child.stdout.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) waiting.shift()?.resolve(JSON.parse(line));
    if (waiting.length === 0) hold("unref");
  });
  // It exited first: its exit answers open questions.
  child.stdin.on("error", () => {});
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        hold("ref");
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(question)}\n`);
      }),
    async end() {
      hold("ref");
      child.stdin.end();
      await gone;
    },
    gone,
  };
}

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
