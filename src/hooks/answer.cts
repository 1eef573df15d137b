import { readSync, writeSync } from "node:fs";
import {
  answerToTooMuch,
  answerUnread,
  type Hook,
  type HookAnswer,
  MAX_INPUT_BYTES,
  readInput,
} from "./hook.cjs";

/**
 * Answers an agent that runs `ralph hook NAME`: reads its event from stdin, writes the answer to stdout. On
 * an error it writes a note to stderr and an empty answer, because a hook must not break a session. Returns
 * whether the agent has taken the whole answer; if not, the rest is on its way.
 */
export async function answerHook(name: string, hook: Hook): Promise<boolean> {
  let answer: HookAnswer;
  try {
    const text = await readStdin();
    const input = text === undefined ? undefined : readInput(text);
    if (text === undefined) {
      note(`hook ${name}: more than ${MAX_INPUT_BYTES / 1024 / 1024} MB on stdin`);
      answer = answerToTooMuch(name);
    } else if (input === undefined) throw new Error("expected a JSON object on stdin, as agents send it");
    else answer = await hook(input, { env: process.env, note });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    note(`hook ${name}: ${why}`);
    answer = answerUnread(name, `what it was asked could not be judged: ${why}`);
  }
  return answer === undefined || say(`${JSON.stringify(answer)}\n`);
}

/** One line without control characters, whatever it quotes. */
function note(text: string): void {
  process.stderr.write(`ralph: ${text.replace(/\p{Cc}+/gu, " ")}\n`);
}

/** Writes at once, which is faster than a stream; leaves to a stream what the pipe does not take yet. */
function say(text: string): boolean {
  const bytes = Buffer.from(text);
  let written = bytes.length;
  try {
    written = writeSync(1, bytes);
  } catch (error) {
    // An agent that no longer listens is no error.
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") written = 0;
  }
  if (written === bytes.length) return true;
  process.stdout.on("error", () => {});
  process.stdout.write(bytes.subarray(written));
  return false;
}

const CHUNK_BYTES = 64 * 1024;

/** Reads at once, which is faster than a stream, unless the pipe is not ready. undefined: too much. */
async function readStdin(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const isTooMuch = (chunk: Buffer): boolean => {
    chunks.push(chunk);
    size += chunk.length;
    return size > MAX_INPUT_BYTES;
  };
  try {
    for (let read = -1; read !== 0; ) {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      read = readSync(0, buffer, 0, CHUNK_BYTES, null);
      if (isTooMuch(buffer.subarray(0, read))) return undefined;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) if (isTooMuch(chunk)) return undefined;
  }
  return Buffer.concat(chunks).toString("utf8");
}
