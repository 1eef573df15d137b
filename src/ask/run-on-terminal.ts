import { stripVTControlCharacters } from "node:util";
import type { AgentCommand } from "../agents/agent.js";
import { isOver, limitOnScreen, limitTold, usageLimit } from "../agents/limit.js";
import { emptyReport } from "../agents/report.js";
import type { LoopEventBody, UsageLimit } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { createLineSplitter } from "../process/lines.js";
import { withoutEcho } from "../verify/echo.js";
import { openRecords } from "./records.js";
import {
  type AgentSetup,
  callOf,
  inPlace,
  MAX_MESSAGE_CHARS,
  PROMPT_START_CHARS,
  writeFiles,
} from "./run-agent.js";
import { watchScreen } from "./screen.js";
import { type Supervisor, supervise } from "./supervise.js";
import type { Terminal, TerminalExit, TerminalHost } from "./terminal.js";

export interface TerminalSetup extends AgentSetup {
  terminal: TerminalHost;
  /** `keys`: typed when the agent is ready, in place of its stdin. */
  promptVia: "stdin" | "keys";
  /** Types the prompt when the agent is ready; returns why that cannot be, if so. */
  typePrompt(
    terminal: Pick<Terminal, "screen" | "type">,
    prompt: string,
    stop: AbortSignal,
  ): Promise<string | undefined>;
}

/**
 * Asks a command that has a terminal to itself. What it writes is what it says; it is silent when its screen
 * stands still.
 */
export async function* runOnTerminal(
  setup: TerminalSetup,
  request: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const { iteration, attempt, prompt, remaining } = request;
  const begun = performance.now();
  const scratch = setup.folderFor(iteration);
  const command = commandOf(setup, prompt, scratch);
  yield {
    type: "agent.started",
    iteration,
    agent: setup.name,
    command: [command.file, ...command.args],
    attempt,
    prompt: prompt.slice(0, PROMPT_START_CHARS),
    ...inPlace(request),
  };
  const supervisor = supervise({ ...setup, remaining, inactivityTimeoutMs: 0 });
  const records = openRecords(scratch, "log", prompt, setup.redact);
  const ended = yield* attend(setup, request, command, { supervisor, records });
  supervisor.end();
  const stopped = supervisor.reason();
  const failure = errorOf(setup, ended, supervisor);
  const finalMessage = withoutEcho(ended.said, prompt);
  const limit = limitOf(setup, ended, { error: failure, stopped, finalMessage });
  const error = failure ?? limit?.message ?? null;
  const durationMs = Math.round(performance.now() - begun);
  const answer: AgentRun = {
    finalMessage,
    error,
    // A terminal has nothing to say when its command has not: that is no answer that got lost.
    empty: false,
    stopped,
    costUsd: null,
    durationMs,
    steps: 0,
    ...(limit && { limit }),
  };
  yield {
    type: "agent.finished",
    iteration,
    ...NOTHING_SPENT,
    ...answer,
    exitCode: ended.exitCode,
    signal: null,
    finalMessage: finalMessage.slice(-MAX_MESSAGE_CHARS),
    ...records.close(),
  };
  return answer;
}

const NOTHING_SPENT = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

interface Ended extends TerminalExit {
  /** What it wrote, or what was last to be seen where the prompt was typed. */
  said: string;
  /** Why it could not be asked. */
  failure?: string | undefined;
}

interface Attending {
  supervisor: Supervisor;
  records: ReturnType<typeof openRecords>;
}

/** What is looked at for the done pattern while a command goes on writing. */
const TAIL_CHARS = 64 * 1024;

async function* attend(
  setup: TerminalSetup,
  { iteration, prompt, isDone }: AgentRequest,
  command: ReturnType<typeof commandOf>,
  { supervisor, records }: Attending,
): AsyncGenerator<LoopEventBody, Ended> {
  const { sandbox } = setup;
  const call = { ...callOf(setup, command), isTyped: setup.promptVia === "keys" };
  const { file, args } = (await sandbox?.wrap(call)) ?? command;
  const terminal = await opened(
    setup.terminal.open({ ...command, file, args, keepBackground: setup.keepBackground }),
  );
  if (typeof terminal === "string") return { exitCode: null, said: "", failure: terminal };
  const byKeys = setup.promptVia === "keys";
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= terminal.close();
    return closing;
  };
  const onStop = (): void => void close();
  if (supervisor.stop.aborted) onStop();
  supervisor.stop.addEventListener("abort", onStop, { once: true });

  let seen = "";
  let failure: string | undefined;
  let isAsked = !byKeys;
  let lastWords: string | undefined;
  const finish = (text: string): void => {
    if (lastWords !== undefined || !isDone?.(text)) return;
    // What was judged is what it said, whatever else comes while it is ended.
    lastWords = text;
    supervisor.stopFor("done");
  };
  const look = async (): Promise<string | undefined> => {
    const screen = await terminal.screen();
    // What it shows while it is being ended is not what it said.
    if (screen !== undefined && !supervisor.stop.aborted) seen = screen;
    return screen;
  };
  const stopWatching = watchScreen({
    screen: look,
    timeoutMs: () => (isAsked ? setup.inactivityTimeoutMs : 0),
    onLook: finish,
    onSilence: () => supervisor.stopFor("inactivity"),
  });
  if (byKeys) {
    const watched = { ...terminal, screen: look };
    void setup.typePrompt(watched, prompt, supervisor.stop).then((why) => {
      failure = why;
      if (why !== undefined) onStop();
      isAsked = true;
    });
  }

  const lines = createLineSplitter();
  let written = "";
  function* told(texts: string[]): Generator<LoopEventBody> {
    if (texts.length === 0 || supervisor.stop.aborted) return;
    const text = texts.map(asShown).join("\n");
    written = `${written}${text}\n`.slice(-TAIL_CHARS);
    if (byKeys) return;
    yield { type: "agent.event", iteration, event: { type: "text", text } };
    finish(written);
  }
  try {
    let step = await terminal.output.next();
    for (; !step.done; step = await terminal.output.next()) {
      records.write({ from: "stdout", data: step.value });
      yield* told(lines.push(step.value));
    }
    yield* told(lines.end());
    const said = lastWords ?? (byKeys && seen !== "" ? seen : written);
    if (byKeys && said !== "") yield { type: "agent.event", iteration, event: { type: "text", text: said } };
    return { ...step.value, said, failure };
  } finally {
    stopWatching();
    supervisor.stop.removeEventListener("abort", onStop);
    await close();
    await sandbox?.ended({ exitCode: null, signal: null, durationMs: 0, timedOut: false });
  }
}

async function opened(opening: Promise<Terminal>): Promise<Terminal | string> {
  try {
    return await opening;
  } catch (error) {
    return `no terminal could be had for it: ${(error as Error).message}`;
  }
}

/** What is left of a line on the screen: without colours, and after the last return to its beginning. */
function asShown(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, "");
  return plain.slice(plain.lastIndexOf("\r") + 1);
}

function commandOf(setup: TerminalSetup, prompt: string, scratch: string) {
  const byKeys = setup.promptVia === "keys";
  const [program = "", ...words] = [...setup.words, ...setup.flags];
  const { file, args, env, stdin, files }: AgentCommand = byKeys
    ? { file: program, args: words }
    : setup.agent.command({ ...setup, prompt, scratch, maxCostUsd: undefined });
  writeFiles(files);
  const command = { file, args, cwd: setup.workspace, env: { ...setup.env, ...env } };
  return { ...command, ...(stdin !== undefined && { stdin }) };
}

/** An agent that was typed to tells it on its screen, and does not fail for it. */
function limitOf(
  { promptVia, agent }: TerminalSetup,
  { said }: Ended,
  ending: Pick<AgentRun, "error" | "stopped" | "finalMessage">,
): UsageLimit | undefined {
  const now = new Date();
  const told = promptVia === "keys" ? limitOnScreen(agent, said) : undefined;
  if (told !== undefined && isOver(ending.stopped)) return limitTold(told, now);
  return usageLimit(emptyReport(), { ...ending, stderr: "", isPlain: true }, now);
}

/** A screen that stands still is how a turn ends where the prompt was typed, and a failure elsewhere. */
function errorOf(setup: TerminalSetup, ended: Ended, supervisor: Supervisor): string | null {
  if (ended.failure !== undefined) return ended.failure;
  const reason = supervisor.reason();
  if (reason === "done" || (reason === "inactivity" && setup.promptVia === "keys")) return null;
  if (reason !== null) return supervisor.explanation();
  if (ended.exitCode === 0) return null;
  return ended.exitCode === null ? "its terminal was closed" : `exit code ${ended.exitCode}`;
}
