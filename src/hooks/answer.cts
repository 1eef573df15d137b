import { fstatSync, readlinkSync, writeSync } from "node:fs";
import {
  answerToTooMuch,
  answerUnread,
  type Hook,
  type HookAnswer,
  MAX_INPUT_BYTES,
  readInput,
} from "./hook.cjs";
import { readStdin } from "./stdin.cjs";

/**
 * Answers an agent that runs `ralph hook NAME`: what it sends comes in on stdin, what it is told goes out on
 * stdout. Whatever is wrong is noted and nothing is said: a hook must not break the session that it looks at.
 */
export async function answerHook(name: string, hook: Hook): Promise<void> {
  if (isTyped()) note("a hook reads JSON from stdin; Ctrl+D ends it");
  const answer = await answerOf(name, hook).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    note(`hook ${name}: ${why}`);
    return answerUnread(name, `what it was asked could not be judged: ${why}`);
  });
  if (answer) say(`${JSON.stringify(answer)}\n`);
}

/** Said at once, which is quicker than a stream; what a pipe does not take yet is left to one. */
function say(text: string): void {
  const bytes = Buffer.from(text);
  const left = bytes.subarray(written(bytes));
  if (left.length === 0) return;
  process.stdout.on("error", () => {});
  process.stdout.write(left);
}

function written(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    const isFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
    // An agent that does not listen any more is no reason to complain.
    return isFull ? 0 : bytes.length;
  }
}

/** Asking the stream right away would load all that terminals need. */
function isTyped(): boolean {
  return isDevice() && process.stdin.isTTY;
}

/** Linux names a device in its place; elsewhere the longer way has to be gone. */
function isDevice(): boolean {
  try {
    return readlinkSync("/proc/self/fd/0").startsWith("/dev/");
  } catch {
    return fstatSync(0).isCharacterDevice();
  }
}

async function answerOf(name: string, hook: Hook): Promise<HookAnswer> {
  const text = await readStdin(MAX_INPUT_BYTES);
  if (text === undefined) return tooMuch(name);
  const input = readInput(text);
  if (input === undefined) throw new Error("expected a JSON object on stdin, as agents send it");
  return hook(input, { env: process.env, note });
}

function tooMuch(name: string): HookAnswer {
  note(`hook ${name}: more than ${MAX_INPUT_BYTES / 1024 / 1024} MB on stdin`);
  return answerToTooMuch(name);
}

/** One line that does not steer the terminal, whatever is quoted in it. */
function note(text: string): void {
  process.stderr.write(`ralph: ${text.replace(/\p{Cc}+/gu, " ")}\n`);
}
