import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { createLineSplitter } from "./lines.js";
import type { Command } from "./run.js";

/** A program that answers one line of JSON with another, as long as it is needed. */
export interface Companion {
  ask(question: unknown): Promise<unknown>;
  /** Ends its input, and waits until it has gone. */
  end(): Promise<void>;
  /** When it has gone, also by itself. */
  gone: Promise<void>;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Starts it in a group of its own: Ctrl+C is not for it. It sees the end of its input when this process dies. */
export function startCompanion({ file, args, cwd, env }: Omit<Command, "stdin">): Companion {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  const waiting: Waiting[] = [];
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
  /** It keeps this process alive only while somebody waits for it. */
  const hold = (isHeld: boolean): void => {
    const how = isHeld ? "ref" : "unref";
    child[how]();
    for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream[how]();
  };
  hold(false);
  const lines = createLineSplitter();
  child.stdout.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk)) waiting.shift()?.resolve(JSON.parse(line));
    if (waiting.length === 0) hold(false);
  });
  // It ended first: whoever waits is told by its exit.
  child.stdin.on("error", () => {});
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        hold(true);
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(question)}\n`);
      }),
    async end() {
      hold(true);
      child.stdin.end();
      await gone;
    },
    gone,
  };
}
