import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Agent, AgentCommand, LoopHooks, Permissions } from "../agents/agent.js";
import { command as plainCommand } from "../agents/command.js";
import { addEvent, emptyReport, type Report } from "../agents/report.js";
import { charged } from "../agents/spending.js";
import type { AgentEvent, LoopEventBody } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { createLineSplitter } from "../process/lines.js";
import type { Chunk } from "../process/output.js";
import { type Command, type Exit, run } from "../process/run.js";
import { writeFresh } from "../records/files.js";
import type { Redact } from "../records/redact.js";
import type { Call, Sandbox } from "../sandbox/sandbox.js";
import { runInside } from "../sandbox/sandbox.js";
import { conclude, ownWords } from "./conclude.js";
import { eventsIn } from "./events-in.js";
import { createDeltaJoiner } from "./join-deltas.js";
import { type AgentRecords, openRecords } from "./records.js";
import { type Supervisor, supervise } from "./supervise.js";

export interface AgentSetup {
  agent: Agent;
  /** What the user calls it. */
  name: string;
  /** The program and what the user wrote after it. */
  words: string[];
  flags: string[];
  model: string | undefined;
  permissions: Permissions;
  /** What the agent's probe printed. */
  help: string;
  mode: "stream" | "text";
  workspace: string;
  inRepository: boolean;
  /** Where git keeps its records, for an agent that is asked to commit. */
  gitFolders?: string[] | undefined;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  inactivityTimeoutMs: number;
  iterationTimeoutMs: number | null;
  allowOverage: boolean;
  fingerprint(): Promise<string>;
  /** Aborted: the agent is killed at once. */
  kill: AbortSignal;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
  /** What it leaves running is left alone; otherwise it is ended before its work is judged. */
  keepBackground?: boolean | undefined;
  /** Where the loop answers the agent's hooks. */
  hooks?: LoopHooks | undefined;
  /** What it is shut into. */
  sandbox?: Sandbox | undefined;
}

const STDERR_TAIL_CHARS = 8000;
/** Some say why they failed first, and then dump all that they know. */
const LATELY_CHARS = 256_000;
export const MAX_MESSAGE_CHARS = 20_000;
export const PROMPT_START_CHARS = 200;

/** Asks an agent once: starts it, reads it, watches it, and ends it when a limit is passed. */
export async function* runAgent(
  setup: AgentSetup,
  { iteration, attempt, prompt, remaining, isDone, pricePerToken, ...asked }: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const folder = setup.folderFor(iteration);
  const invocation = setup.agent.command({
    ...setup,
    prompt,
    scratch: folder,
    maxCostUsd: remaining.costUsd,
  });
  const tellsCost = setup.agent.reports.includes("cost");
  const allowanceUsd = tellsCost ? (remaining.costUsd ?? null) : undefined;
  yield {
    type: "agent.started",
    iteration,
    agent: setup.name,
    command: [invocation.file, ...invocation.args],
    attempt,
    prompt: prompt.slice(0, PROMPT_START_CHARS),
    ...inPlace(asked),
    ...(allowanceUsd !== undefined && { allowanceUsd }),
  };
  const supervisor = supervise({ ...setup, remaining, isDone });
  const child = start(setup, invocation, supervisor);
  const record = (): AgentRecords => openRecords(folder, extensionOf(setup), prompt, setup.redact);
  const { exit, report, stderr, lately, ...written } = yield* read(setup, iteration, {
    child,
    record,
    supervisor,
  });
  const message = answerOf(setup, invocation, report, prompt);
  const stopped = supervisor.reason();
  const { limit, ...concluded } = conclude({
    ...setup,
    report,
    exit,
    stopped: stopped === null ? null : { reason: stopped, explanation: supervisor.explanation() },
    message,
    stderr: setup.redact(stderr),
    lately: setup.redact(lately),
    now: new Date(),
  });
  const spending = charged(report, { allowanceUsd, pricePerToken });
  yield {
    type: "agent.finished",
    iteration,
    exitCode: exit.exitCode,
    signal: exit.signal,
    durationMs: Math.round(exit.durationMs),
    ...spending,
    steps: report.steps,
    ...concluded,
    stopped,
    ...(exit.left !== undefined && { left: exit.left }),
    finalMessage: message.slice(-MAX_MESSAGE_CHARS),
    ...written,
    ...(limit && { limit }),
  };
  const durationMs = Math.round(exit.durationMs);
  return {
    finalMessage: message,
    ...concluded,
    stopped,
    costUsd: spending.costUsd,
    durationMs,
    steps: report.steps,
    ...(limit && { limit }),
  };
}

/** Who it is among the agents of the run, where it is not the first. */
export function inPlace({ agent: role, insteadOf }: Pick<AgentRequest, "agent" | "insteadOf">) {
  return { ...(role !== undefined && { role }), ...(insteadOf !== undefined && { insteadOf }) };
}

function start(
  setup: AgentSetup,
  invocation: AgentCommand,
  supervisor: Supervisor,
): AsyncGenerator<Chunk, Exit> {
  const { file, args, stdin, files, answerFile } = invocation;
  // An answer of an earlier call must not be taken for one of this call.
  if (answerFile !== undefined) rmSync(answerFile, { force: true });
  writeFiles(files);
  const env = { ...setup.env, ...invocation.env };
  const command = { file, args, cwd: setup.workspace, env, ...(stdin !== undefined && { stdin }) };
  const { sandbox, keepBackground } = setup;
  const options = { stop: supervisor.stop, onStart: supervisor.started, leavesNothing: !keepBackground };
  if (sandbox === undefined) return run(command, options);
  return runInside(sandbox, callOf(setup, command, answerFile), options);
}

/** What an agent's command needs inside. A file for its answer has to be there to be let through. */
export function callOf({ agent, hooks }: AgentSetup, command: Command, answerFile?: string): Call {
  if (answerFile !== undefined) writeFresh(answerFile, "", 0o600);
  return {
    command,
    agent: agent.name,
    ports: hooks?.hooks.slice(0, 1).map(({ url }) => Number(new URL(url).port)),
    ...(answerFile !== undefined && { writes: [answerFile] }),
  };
}

export function writeFiles(files: AgentCommand["files"] = {}): void {
  for (const [path, content] of Object.entries(files)) writeFresh(path, content, 0o600);
}

interface Reading {
  child: AsyncGenerator<Chunk, Exit>;
  record: () => AgentRecords;
  supervisor: Supervisor;
}

interface Heard extends ReturnType<AgentRecords["close"]> {
  exit: Exit;
  report: Report;
  stderr: string;
  /** What it said there since it last used a tool. */
  lately: string;
}

/** Reads the agent to its end: raw bytes go to disk, lines become events. */
async function* read(
  { agent, mode }: AgentSetup,
  iteration: number,
  { child, record, supervisor }: Reading,
): AsyncGenerator<LoopEventBody, Heard> {
  const parse = mode === "stream" ? agent.parse : plainCommand.parse;
  const report = emptyReport();
  const lines = createLineSplitter();
  const whole = createDeltaJoiner();
  let stderr = "";
  let lately = "";
  function* heardIn(texts: string[]): Generator<LoopEventBody> {
    for (const event of eventsIn(texts, parse)) {
      addEvent(report, event);
      if (event.type === "tool_start" || event.type === "tool_end") lately = "";
      yield* told(whole.add(event));
    }
  }
  function* told(events: Iterable<AgentEvent>): Generator<LoopEventBody> {
    for (const event of events) yield { type: "agent.event", iteration, event };
  }
  try {
    const first = child.next();
    // The agent starts meanwhile: both take their time.
    const records = record();
    let step = await first;
    for (; !step.done; step = await child.next()) {
      const { from, data } = step.value;
      records.write(step.value);
      if (from === "stderr") {
        stderr = tailOf(stderr, data, STDERR_TAIL_CHARS);
        lately = tailOf(lately, data, LATELY_CHARS);
      } else yield* heardIn(lines.push(data));
      supervisor.heard(report);
    }
    yield* heardIn(lines.end());
    yield* told(whole.end());
    return { exit: step.value, report, stderr, lately, ...records.close() };
  } finally {
    supervisor.end();
    await child.return(undefined as never);
  }
}

function tailOf(text: string, more: Chunk["data"], chars: number): string {
  return (text + more).slice(-chars);
}

function extensionOf({ mode, agent }: AgentSetup): string {
  return mode === "stream" && agent.name !== "command" ? "ndjson" : "log";
}

function answerOf(
  { agent }: AgentSetup,
  { answerFile }: AgentCommand,
  report: Report,
  prompt: string,
): string {
  if (answerFile !== undefined) return existsSync(answerFile) ? readFileSync(answerFile, "utf8") : "";
  return ownWords(agent, report, prompt);
}
