import { connect, type Socket } from "node:net";
import { createLineSplitter } from "../process/lines.js";
import type { TmuxPlace } from "./record.js";

/** What the process in a worker's window is told by whoever opened it. */
export interface Assignment {
  name: string;
  /** The command of ralph that it is to be. */
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  /** Variables of `--env`, to be kept for the next time. */
  ownEnv: Record<string, string>;
  tags: string[];
  tmux: TmuxPlace;
}

/** What the process tells back. */
export type Told =
  | { type: "said"; text: string }
  | { type: "started"; iteration: number; maxIterations: number }
  | { type: "ended"; exitCode: number };

/** A process is the loop of at most one worker, from its start to its end. */
let current: (Assignment & { pane: string }) | undefined;
let opener: Socket | undefined;

/** undefined: this process is no worker. */
export function assignment(): (Assignment & { pane: string }) | undefined {
  return current;
}

/**
 * Becomes what the opener of the window wants: its folder, its environment, its command. Until the loop has
 * started, what goes wrong is told to the opener, and an opener that goes away ends it.
 */
export async function takeAssignment(path: string): Promise<string[]> {
  const socket = connect(path);
  opener = socket;
  const received = await firstLine(socket);
  current = { ...(JSON.parse(received) as Assignment), pane: process.env["TMUX_PANE"] ?? "" };
  replaceEnvironment(current.env);
  forwardErrors();
  process.chdir(current.cwd);
  process.on("exit", (exitCode) => tell({ type: "ended", exitCode }));
  socket.on("error", () => {});
  socket.once("close", () => opener !== undefined && process.kill(process.pid, "SIGTERM"));
  socket.unref();
  return current.argv;
}

/** The loop is at work: from here on it lives for itself. */
export function tellStarted(iteration: number, maxIterations: number): void {
  tell({ type: "started", iteration, maxIterations });
  opener?.end();
  opener = undefined;
}

function tell(told: Told): void {
  opener?.write(`${JSON.stringify(told)}\n`);
}

function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createLineSplitter();
    socket.on("data", (data: Buffer) => {
      const [line] = lines.push(data);
      if (line !== undefined) resolve(line);
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("whoever opened this window is gone")));
  });
}

/** What tells a program about the terminal it runs in belongs to the window. */
const OF_THE_WINDOW = ["TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES"];
/** An agent that calls tmux must not reach the server that its own worker lives in. */
const NOT_FOR_AGENTS = ["TMUX", "TMUX_PANE"];

function replaceEnvironment(env: Record<string, string>): void {
  for (const name of Object.keys(process.env)) if (!OF_THE_WINDOW.includes(name)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) {
    if (![...OF_THE_WINDOW, ...NOT_FOR_AGENTS].includes(name)) process.env[name] = value;
  }
}

function forwardErrors(): void {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = ((text: string | Uint8Array, ...rest: never[]): boolean => {
    // A status line is for those who look at the window.
    if (!text.toString().startsWith("\r")) tell({ type: "said", text: text.toString() });
    return write(text, ...rest);
  }) as typeof process.stderr.write;
}
