import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { PROGRAM } from "../package-folder.cjs";
import { createLineSplitter } from "../process/lines.js";
import type { Assignment, WindowMessage } from "./assignment.js";
import { openWindow, type Tmux } from "./tmux.js";

export interface Opener {
  /** Gets what the loop says until it is at work. */
  hear(text: string): void;
  /** Aborted: the window is closed again, and the loop removes what it had begun. */
  signal?: AbortSignal;
}

export interface FirstIteration {
  iteration: number;
  maxIterations: number;
}

/** Until then the process in the window has connected; making a worktree may take it much longer. */
const HELLO_MS = 30_000;
/** The path of a socket has to be short. */
const LONGEST_FOLDER = 80;

/**
 * Opens a window with a loop in it. Resolves when the loop is at work; a number is the exit code of a loop that
 * never started, and its window is gone then.
 */
export async function openLoop(
  tmux: Tmux,
  assignment: Assignment,
  opener: Opener,
): Promise<FirstIteration | number> {
  const sockets = tmpdir().length <= LONGEST_FOLDER ? tmpdir() : "/tmp";
  const folder = mkdtempSync(join(sockets, "ralph-"));
  const path = join(folder, "s");
  const conversation = converse(assignment, opener);
  let pane: string | undefined;
  try {
    conversation.server.listen(path);
    await once(conversation.server, "listening");
    pane = await openWindow(tmux, assignment.name, [process.execPath, PROGRAM, "work", path]);
    const result = await conversation.result;
    if (typeof result !== "number") pane = undefined;
    return result;
  } finally {
    conversation.end();
    if (pane !== undefined) await untilClosed(tmux, pane);
    rmSync(folder, { recursive: true, force: true });
  }
}

function converse(assignment: Assignment, { hear, signal }: Opener) {
  const server = createServer();
  const ending = new AbortController();
  const result = new Promise<FirstIteration | number>((resolve, reject) => {
    const timer = setTimeout(() => reject(silent()), HELLO_MS);
    server.once("close", () => clearTimeout(timer));
    server.once("connection", (socket) => {
      clearTimeout(timer);
      const lines = createLineSplitter();
      const take = (line: string): void => {
        const message = JSON.parse(line) as WindowMessage;
        if (message.type === "said") hear(message.text);
        else resolve(message.type === "started" ? message : message.exitCode);
      };
      socket.on("data", (data: Buffer) => lines.push(data).forEach(take));
      socket.on("error", () => {});
      socket.once("close", () => resolve(1));
      ending.signal.addEventListener("abort", () => socket.destroy());
      socket.write(`${JSON.stringify(assignment)}\n`);
    });
    signal?.addEventListener("abort", () => resolve(130), { once: true });
    if (signal?.aborted) resolve(130);
  });
  const end = (): void => {
    ending.abort();
    server.close();
  };
  return { server, result, end };
}

const CLOSE_MS = 20_000;
const POLL_MS = 50;

/** A loop whose opener goes away removes what it has begun, and its window goes with it. */
async function untilClosed(tmux: Tmux, pane: string): Promise<void> {
  const until = performance.now() + CLOSE_MS;
  while (performance.now() < until) {
    const { stdout } = await tmux.run(["list-panes", "-a", "-F", "#{pane_id}"]);
    if (!stdout.split("\n").includes(pane)) return;
    await sleep(POLL_MS);
  }
  await tmux.run(["kill-pane", "-t", pane]);
}

function silent(): RalphError {
  return new RalphError(`nothing was heard from the window within ${HELLO_MS / 1000} s`, {
    code: "worker_silent",
    exitCode: 1,
    hint: "is the machine very busy? Try again",
  });
}
