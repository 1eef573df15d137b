import { stripVTControlCharacters } from "node:util";
import type { AgentCommand } from "../agents/agent.js";
import { isOver, limitOnScreen, usageLimit } from "../agents/limit.js";
import { emptyReport } from "../agents/report.js";
import { elapsed } from "../elapsed.js";
import type { LoopEventBody, UsageLimit } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { createLineSplitter } from "../process/output.js";
import type { Command } from "../process/run.js";
import { withoutEcho } from "../verify/done.js";
import {
  agentFinished,
  agentStarted,
  type CallRecords,
  openRecords,
  type Supervisor,
  supervise,
} from "./call.js";
import { type AgentSetup, callOf, writeFiles } from "./run-agent.js";

/** Opens a terminal for a command, such as a window of tmux. */
export interface TerminalHost {
  /** Rejects if there is no terminal. */
  open(command: TerminalCommand): Promise<Terminal>;
}

/** The command reads `stdin` instead of the keyboard. */
export interface TerminalCommand extends Command {
  /** Do not end what it leaves running. */
  keepBackground?: boolean | undefined;
}

export interface Terminal {
  /** What the command writes, as it comes; ends with the command. */
  output: AsyncGenerator<Buffer, TerminalExit>;
  /** The visible text; undefined once the terminal is gone. */
  screen(): Promise<string | undefined>;
  type(text: string): Promise<void>;
  /** Closes the terminal and ends every process that is still on it. */
  close(): Promise<void>;
}

/** As a shell reports it: 128 and the number of a signal. null: it ended with its terminal. */
export interface TerminalExit {
  exitCode: number | null;
}

export interface TerminalSetup extends AgentSetup {
  terminal: TerminalHost;
  /** `keys`: ralph types the prompt when the agent is ready, instead of writing it to stdin. */
  promptVia: "stdin" | "keys";
  /** Types the prompt when the agent is ready; returns why that is impossible, if it is. */
  typePrompt(
    terminal: Pick<Terminal, "screen" | "type">,
    prompt: string,
    stop: AbortSignal,
  ): Promise<string | undefined>;
}

/** Runs a command in its own terminal: its output is its answer, an unchanged screen is silence. */
export async function* runOnTerminal(
  setup: TerminalSetup,
  request: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const { iteration, prompt, remaining } = request;
  const begun = elapsed();
  const scratch = setup.folderFor(iteration);
  const command = commandOf(setup, prompt, scratch);
  yield agentStarted(setup.name, [command.file, ...command.args], request);
  const supervisor = supervise({ ...setup, remaining, inactivityTimeoutMs: 0 });
  const records = openRecords(scratch, "log", prompt, setup.redact);
  const end = yield* attend(setup, request, command, { supervisor, records });
  supervisor.end();
  const stopped = supervisor.reason();
  const failure = errorOf(setup, end, supervisor);
  const finalMessage = withoutEcho(end.said, prompt);
  const limit = limitOf(setup, end, { error: failure, stopped, finalMessage });
  return yield* agentFinished(iteration, {
    exitCode: end.exitCode,
    finalMessage,
    error: failure ?? limit?.message ?? null,
    // A terminal without output is no lost answer: the command had nothing to say.
    empty: false,
    stopped,
    costUsd: null,
    durationMs: Math.round(elapsed() - begun),
    steps: 0,
    ...(limit && { limit }),
    ...records.close(),
  });
}

function commandOf(setup: TerminalSetup, prompt: string, scratch: string): Command {
  const [program = "", ...words] = [...setup.words, ...setup.flags];
  const { file, args, env, stdin, files }: AgentCommand =
    setup.promptVia === "keys"
      ? { file: program, args: words }
      : setup.agent.command({ ...setup, prompt, scratch, maxCostUsd: undefined });
  writeFiles(files);
  const all = { ...setup.env, ...env };
  return { file, args, cwd: setup.workspace, env: all, ...(stdin !== undefined && { stdin }) };
}

interface TerminalEnd extends TerminalExit {
  /** What it wrote; if ralph typed the prompt, the last screen. */
  said: string;
  failure?: string | undefined;
}

/** How much recent output ralph searches for the done pattern. */
const TAIL_CHARS = 64 * 1024;

async function* attend(
  setup: TerminalSetup,
  { iteration, prompt, isDone }: AgentRequest,
  command: Command,
  { supervisor, records }: { supervisor: Supervisor; records: CallRecords },
): AsyncGenerator<LoopEventBody, TerminalEnd> {
  const { sandbox, keepBackground } = setup;
  const { stop } = supervisor;
  const byKeys = setup.promptVia === "keys";
  const inside = (await sandbox?.wrap({ ...callOf(setup, command), isTyped: byKeys })) ?? command;
  const terminal = await setup.terminal
    .open({ ...command, file: inside.file, args: inside.args, keepBackground })
    .catch((error: Error) => `ralph could not open a terminal for it: ${error.message}`);
  if (typeof terminal === "string") return { exitCode: null, said: "", failure: terminal };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= terminal.close();
    return closing;
  };
  const onStop = (): void => void close();
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });

  let seen = "";
  let written = "";
  let failure: string | undefined;
  let isAsked = !byKeys;
  let lastWords: string | undefined;
  const endIfDone = (text: string): void => {
    if (lastWords !== undefined || !isDone?.(text)) return;
    // ralph judged these words; ignore what comes while it ends the agent.
    lastWords = text;
    supervisor.stopFor("done");
  };
  const screen = async (): Promise<string | undefined> => {
    const shown = await terminal.screen();
    // What the screen shows while ralph ends the agent is not the answer.
    if (shown !== undefined && !stop.aborted) seen = shown;
    return shown;
  };
  const silence = (): number => (isAsked ? setup.inactivityTimeoutMs : 0);
  const stopWatching = watchScreen(screen, silence, endIfDone, () => supervisor.stopFor("inactivity"));
  if (byKeys) {
    void setup.typePrompt({ ...terminal, screen }, prompt, stop).then((why) => {
      failure = why;
      if (why !== undefined) onStop();
      isAsked = true;
    });
  }
  const lines = createLineSplitter();
  function* said(texts: string[]): Generator<LoopEventBody> {
    if (texts.length === 0 || stop.aborted) return;
    const text = texts.map(asShown).join("\n");
    written = `${written}${text}\n`.slice(-TAIL_CHARS);
    if (byKeys) return;
    yield { type: "agent.event", iteration, event: { type: "text", text } };
    endIfDone(written);
  }
  try {
    let step = await terminal.output.next();
    for (; !step.done; step = await terminal.output.next()) {
      records.write({ from: "stdout", data: step.value });
      yield* said(lines.push(step.value));
    }
    yield* said(lines.end());
    const text = lastWords ?? (byKeys && seen !== "" ? seen : written);
    if (byKeys && text !== "") yield { type: "agent.event", iteration, event: { type: "text", text } };
    return { ...step.value, said: text, failure };
  } finally {
    stopWatching();
    stop.removeEventListener("abort", onStop);
    await close();
    await sandbox?.ended({ exitCode: null, signal: null, durationMs: 0, timedOut: false });
  }
}

/** The visible part of a line: without colours, and from the last carriage return on. */
function asShown(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, "");
  return plain.slice(plain.lastIndexOf("\r") + 1);
}

/** An agent with a typed prompt shows a limit on its screen, without failing. */
function limitOf(
  { promptVia, agent }: TerminalSetup,
  { said }: TerminalEnd,
  ending: Pick<AgentRun, "error" | "stopped" | "finalMessage">,
): UsageLimit | undefined {
  const now = new Date();
  const isShown = promptVia === "keys" && isOver(ending.stopped);
  const shown = isShown ? limitOnScreen(agent, said, now) : undefined;
  return shown ?? usageLimit(emptyReport(), { ...ending, stderr: "", isPlain: true }, now);
}

/** A screen that stops changing ends the turn if ralph typed the prompt; otherwise it is a failure. */
function errorOf(setup: TerminalSetup, end: TerminalEnd, supervisor: Supervisor): string | null {
  if (end.failure !== undefined) return end.failure;
  const reason = supervisor.reason();
  if (reason === "done" || (reason === "inactivity" && setup.promptVia === "keys")) return null;
  if (reason !== null) return supervisor.explanation();
  if (end.exitCode === 0) return null;
  return end.exitCode === null ? "its terminal closed" : `exit code ${end.exitCode}`;
}

const EVERY_MS = 2000;
const LINES = 20;

/** Reads the screen every two seconds; if its last lines do not change for the timeout, the agent is idle. */
function watchScreen(
  screen: Terminal["screen"],
  /** How long the screen may stay unchanged; 0: forever. */
  timeoutMs: () => number,
  onScreen: (screen: string) => void,
  onSilence: () => void,
): () => void {
  let before: string | undefined;
  let stableMs = 0;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const read = async (): Promise<void> => {
    const seen = await screen();
    if (ended) return;
    if (seen !== undefined) onScreen(seen);
    const now = seen && stripVTControlCharacters(seen).trimEnd().split("\n").slice(-LINES).join("\n");
    stableMs = now !== undefined && now === before ? stableMs + EVERY_MS : 0;
    before = now;
    if (timeoutMs() > 0 && stableMs >= timeoutMs()) onSilence();
    else timer = setTimeout(() => void read(), EVERY_MS);
  };
  void read();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
