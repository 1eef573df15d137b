import { fstatSync, readlinkSync, readSync, writeSync } from "node:fs";
import { answerToTooMuch, answerUnread, type Hook, MAX_INPUT_BYTES, readInput } from "./hook.cjs";

/**
 * Answers an agent that runs `ralph hook NAME`: its event comes in on stdin, the answer goes out on stdout. What goes
 * wrong is noted on stderr, and the answer is empty: a hook must not break a session.
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

async function answerOf(name: string, hook: Hook): ReturnType<Hook> {
  const text = await readStdin();
  if (text === undefined) {
    note(`hook ${name}: more than ${MAX_INPUT_BYTES / 1024 / 1024} MB on stdin`);
    return answerToTooMuch(name);
  }
  const input = readInput(text);
  if (input === undefined) throw new Error("expected a JSON object on stdin, as agents send it");
  return hook(input, { env: process.env, note });
}

/** One line that does not steer the terminal, whatever is quoted in it. */
function note(text: string): void {
  process.stderr.write(`ralph: ${text.replace(/\p{Cc}+/gu, " ")}\n`);
}

/** Asking the stream right away would load all that terminals need. Linux names a device in its path. */
function isTyped(): boolean {
  let isDevice: boolean;
  try {
    isDevice = readlinkSync("/proc/self/fd/0").startsWith("/dev/");
  } catch {
    isDevice = fstatSync(0).isCharacterDevice();
  }
  return isDevice && process.stdin.isTTY;
}

/** Written at once, which is quicker than a stream; what a pipe does not take yet is left to one. */
function say(text: string): void {
  const bytes = Buffer.from(text);
  let written = bytes.length;
  try {
    written = writeSync(1, bytes);
  } catch (error) {
    // An agent that does not listen any more is no reason to complain.
    if (codeOf(error) === "EAGAIN") written = 0;
  }
  if (written === bytes.length) return;
  process.stdout.on("error", () => {});
  process.stdout.write(bytes.subarray(written));
}

const CHUNK_BYTES = 64 * 1024;

/** undefined: there is more than a hook reads. */
async function readStdin(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdinChunks()) {
    size += chunk.length;
    if (size > MAX_INPUT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Read at once, which is quicker than a stream; a pipe that is not ready is left to one. */
async function* stdinChunks(): AsyncGenerator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    try {
      const read = readSync(0, buffer, 0, CHUNK_BYTES, null);
      if (read === 0) return;
      yield buffer.subarray(0, read);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      return yield* process.stdin as AsyncIterable<Buffer>;
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
