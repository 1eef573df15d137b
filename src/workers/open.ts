import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { PROGRAM } from "../package-folder.cjs";
import { createLineSplitter } from "../process/lines.js";
import type { Assignment, Told } from "./assignment.js";
import { openWindow, type Tmux } from "./tmux.js";

export interface Opener {
  /** Told what the loop says until it is at work. */
  hear(text: string): void;
  /** Aborted: nobody waits for it any more, and it goes as if it had never been there. */
  signal?: AbortSignal;
}

export interface Opened {
  iteration: number;
  maxIterations: number;
}

/** Until then the process in the window has said hello; making a worktree may take it much longer. */
const HELLO_MS = 30_000;

/**
 * Opens a window with a loop in it. Resolves when the loop is at work; a number is the exit code of one that
 * never was, and its window is gone then.
 */
export async function openLoop(
  tmux: Tmux,
  assignment: Assignment,
  { hear, signal }: Opener,
): Promise<Opened | number> {
  const folder = mkdtempSync(join(folderForSockets(), "ralph-"));
  const path = join(folder, "s");
  const told = listen(path, `${JSON.stringify(assignment)}\n`, hear);
  let pane: string | undefined;
  try {
    await told.listening;
    const command = [process.execPath, PROGRAM, "work", path];
    pane = await openWindow(tmux, { name: assignment.name, command });
    const result = await Promise.race([told.result, aborted(signal)]);
    if (typeof result !== "number") pane = undefined;
    return result;
  } finally {
    told.close();
    if (pane !== undefined) await leave(tmux, pane);
    rmSync(folder, { recursive: true, force: true });
  }
}

function aborted(signal: AbortSignal | undefined): Promise<number> {
  if (signal?.aborted) return Promise.resolve(130);
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(130), { once: true }));
}

const LEAVE_MS = 20_000;
const POLL_MS = 50;

/** Whoever is told that nobody waits for it takes away what it has begun, and its window goes with it. */
async function leave(tmux: Tmux, pane: string): Promise<void> {
  const until = performance.now() + LEAVE_MS;
  while (performance.now() < until) {
    const { stdout } = await tmux.run(["list-panes", "-a", "-F", "#{pane_id}"]);
    if (!stdout.split("\n").includes(pane)) return;
    await sleep(POLL_MS);
  }
  await tmux.run(["kill-pane", "-t", pane]);
}

/** The path of a socket has to be short. */
const LONGEST_FOLDER = 80;

function folderForSockets(): string {
  return tmpdir().length <= LONGEST_FOLDER ? tmpdir() : "/tmp";
}

function listen(path: string, assignment: string, hear: (text: string) => void) {
  const server = createServer();
  const sockets: Socket[] = [];
  const result = new Promise<Opened | number>((resolve, reject) => {
    const timer = setTimeout(() => reject(silent()), HELLO_MS);
    server.once("connection", (socket) => {
      clearTimeout(timer);
      sockets.push(socket);
      const lines = createLineSplitter();
      socket.on("data", (data: Buffer) => {
        for (const line of lines.push(data)) take(JSON.parse(line) as Told, resolve, hear);
      });
      socket.on("error", () => {});
      socket.once("close", () => resolve(1));
      socket.write(assignment);
    });
    server.once("close", () => clearTimeout(timer));
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve());
  });
  return {
    listening,
    result,
    close(): void {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function take(told: Told, resolve: (result: Opened | number) => void, hear: (text: string) => void): void {
  if (told.type === "said") hear(told.text);
  else resolve(told.type === "started" ? told : told.exitCode);
}

function silent(): RalphError {
  return new RalphError(`nothing was heard from the window within ${HELLO_MS / 1000} s`, {
    code: "worker_silent",
    exitCode: 1,
    hint: "is the machine very busy? Try again",
  });
}
