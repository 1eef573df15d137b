import { connect, type Socket } from "node:net";
import { createLineSplitter } from "../process/output.js";
import type { WorkerRecord } from "./files.js";

/** What the process in a worker's window gets, beside its environment, from the one that opens the window. */
export interface Assignment extends Omit<WorkerRecord, "run"> {
  name: string;
  argv: string[];
  cwd: string;
  /** The loop's stdin, as the process that opened the window read it. */
  stdin?: string | undefined;
}

/** The reports of the process in the window. */
export type WindowMessage =
  | { type: "said"; text: string }
  | { type: "started"; iteration: number; maxIterations: number }
  | { type: "ended"; exitCode: number };

/** Variables about the terminal belong to the window. */
const OF_THE_WINDOW = ["TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES"];
/** An agent that calls tmux must not reach its own worker's server. */
const NOT_FOR_AGENTS = ["TMUX", "TMUX_PANE"];

/** A process is the loop of one worker at most, from start to end. */
let current: (Assignment & { pane: string }) | undefined;
let opener: Socket | undefined;

/** undefined: this process is not a worker. */
export function assignment(): (Assignment & { pane: string }) | undefined {
  return current;
}

/** Takes folder, environment and command from the opener, who gets errors until the loop has started. */
export async function takeAssignment(path: string): Promise<string[]> {
  const socket = connect(path);
  opener = socket;
  const received = await new Promise<string>((resolve, reject) => {
    const lines = createLineSplitter();
    socket.on("data", (data: Buffer) => {
      for (const line of lines.push(data)) resolve(line);
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the command that opened this window is gone")));
  });
  const { environment, ...given } = JSON.parse(received) as Assignment & {
    environment: Record<string, string>;
  };
  current = { ...given, pane: process.env["TMUX_PANE"] ?? "" };
  for (const name of Object.keys(process.env)) if (!OF_THE_WINDOW.includes(name)) delete process.env[name];
  const kept = Object.entries(environment).filter(
    ([name]) => ![...OF_THE_WINDOW, ...NOT_FOR_AGENTS].includes(name),
  );
  Object.assign(process.env, Object.fromEntries(kept));
  forwardErrors();
  process.chdir(current.cwd);
  process.on("exit", (exitCode) => report({ type: "ended", exitCode }));
  socket.on("error", () => {});
  socket.once("close", () => opener !== undefined && process.kill(process.pid, "SIGTERM"));
  socket.unref();
  return current.argv;
}

/** The loop has started, and no longer needs its opener. */
export function reportStarted(iteration: number, maxIterations: number): void {
  report({ type: "started", iteration, maxIterations });
  opener?.end();
  opener = undefined;
}

function report(message: WindowMessage): void {
  opener?.write(`${JSON.stringify(message)}\n`);
}

function forwardErrors(): void {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = ((text: string | Uint8Array, ...rest: never[]): boolean => {
    // A status line is for the window only.
    if (!text.toString().startsWith("\r")) report({ type: "said", text: text.toString() });
    return write(text, ...rest);
  }) as typeof process.stderr.write;
}
