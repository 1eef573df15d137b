import { existsSync, readFileSync, rmSync } from "node:fs";
import type { Agent, AgentCommand, AskOptions } from "../agents/agent.js";
import { command as plainCommand } from "../agents/command.js";
import { addEvent, emptyReport } from "../agents/report.js";
import { charged } from "../agents/spending.js";
import type { AgentEvent, LoopEventBody, TextEvent } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { type Chunk, createLineSplitter } from "../process/output.js";
import { type Command, type Exit, run } from "../process/run.js";
import { writeFresh } from "../records/files.js";
import type { Redact } from "../records/redact.js";
import { runInside, type Sandbox, type SandboxCall } from "../sandbox/sandbox.js";
import {
  agentFinished,
  agentStarted,
  type CallRecords,
  openRecords,
  type Supervision,
  type Supervisor,
  supervise,
} from "./call.js";
import { type CallEnd, conclude, ownWords } from "./conclude.js";
import type { Hold } from "./hold.js";

type OfTheRun = Omit<AskOptions, "prompt" | "scratch" | "maxCostUsd"> &
  Omit<Supervision, "remaining" | "isDone" | "isHeld">;

export interface AgentSetup extends OfTheRun {
  agent: Agent;
  name: string;
  workspace: string;
  env: NodeJS.ProcessEnv;
  redact: Redact;
  allowOverage: boolean;
  folderFor(iteration: number): string;
  /** Do not end what the agent leaves running; by default ralph ends it before it judges the work. */
  keepBackground?: boolean | undefined;
  sandbox?: Sandbox | undefined;
  /** What it shares with agents of other lanes. */
  hold?: Hold | undefined;
}

export async function* runAgent(
  setup: AgentSetup,
  request: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const { agent } = setup;
  const { iteration, prompt, remaining, pricePerToken } = request;
  const scratch = setup.folderFor(iteration);
  const invocation = agent.command({ ...setup, prompt, scratch, maxCostUsd: remaining.costUsd });
  const allowanceUsd = agent.reports.includes("cost") ? (remaining.costUsd ?? null) : undefined;
  yield agentStarted(setup.name, [invocation.file, ...invocation.args], request, allowanceUsd);
  const { hold } = setup;
  const call = await hold?.enter();
  const supervisor = supervise({ ...setup, remaining, isDone: request.isDone, isHeld: hold?.isHeld });
  const child = start(
    setup,
    invocation,
    (tree) => {
      call?.started(tree);
      supervisor.started(tree);
    },
    supervisor.stop,
  );
  const { exit, report, stderr, ...written } = yield* read(setup, request, scratch, child, supervisor, call);
  const reason = supervisor.reason();
  const stopped = reason === null ? null : { reason, explanation: supervisor.explanation() };
  const { answerFile } = invocation;
  const answer = answerFile && existsSync(answerFile) ? readFileSync(answerFile, "utf8") : "";
  const finalMessage = answerFile === undefined ? ownWords(agent, report, prompt) : answer;
  const end = { report, exit, stopped, message: finalMessage, stderr, now: new Date() };
  return yield* agentFinished(iteration, {
    exitCode: exit.exitCode,
    signal: exit.signal,
    durationMs: Math.round(exit.durationMs),
    ...charged(report, { allowanceUsd, pricePerToken }),
    steps: report.steps,
    ...conclude({ ...setup, ...end }),
    stopped: reason,
    ...(exit.left !== undefined && { left: exit.left }),
    finalMessage,
    ...written,
  });
}

/** Reads a process to its end: raw bytes go to disk, lines become events. */
async function* read(
  { agent, mode, redact }: AgentSetup,
  { iteration, prompt }: AgentRequest,
  folder: string,
  child: AsyncGenerator<Chunk, Exit>,
  supervisor: Supervisor,
  call: Awaited<ReturnType<Hold["enter"]>> | undefined,
): AsyncGenerator<
  LoopEventBody,
  ReturnType<CallRecords["close"]> & Pick<CallEnd, "report" | "stderr"> & { exit: Exit }
> {
  const reader = createReader(mode === "stream" ? agent.parse : plainCommand.parse);
  try {
    const first = child.next();
    // The agent starts while this opens the records.
    const extension = mode === "stream" && agent.name !== "command" ? "ndjson" : "log";
    const records = openRecords(folder, extension, prompt, redact);
    let step = await first;
    for (; !step.done; step = await child.next()) {
      records.write(step.value);
      for (const event of reader.push(step.value)) yield { type: "agent.event", iteration, event };
      supervisor.heard(reader.report);
    }
    for (const event of reader.end()) yield { type: "agent.event", iteration, event };
    const { report, stderr } = reader;
    return { exit: step.value, report, stderr: redact(stderr()), ...records.close() };
  } finally {
    supervisor.end();
    await child.return(undefined as never);
    call?.leave();
  }
}

function start(
  setup: AgentSetup,
  { file, args, stdin, files, answerFile, env }: AgentCommand,
  onStart: Supervisor["started"],
  stop: AbortSignal,
): AsyncGenerator<Chunk, Exit> {
  // The answer of an earlier call must not count for this one.
  if (answerFile !== undefined) rmSync(answerFile, { force: true });
  writeFiles(files);
  const { sandbox, workspace: cwd } = setup;
  const command = { file, args, cwd, env: { ...setup.env, ...env }, ...(stdin !== undefined && { stdin }) };
  const options = { stop, onStart, leavesNothing: !setup.keepBackground };
  if (sandbox === undefined) return run(command, options);
  return runInside(sandbox, callOf(setup, command, answerFile), options);
}

/** What a command needs inside a sandbox. The file for its answer must exist, or the sandbox hides it. */
export function callOf({ agent, hooks }: AgentSetup, command: Command, answerFile?: string): SandboxCall {
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

/** Some agents say first why they failed, and then dump everything they know. */
const STDERR_CHARS = 256_000;

/** Reads what an agent writes: bytes become lines, lines become events, and events add up to `report`. */
export function createReader(parse: Agent["parse"]) {
  const lines = createLineSplitter();
  const report = emptyReport();
  let stderr = "";
  /** Joins pieces of text into whole lines: redaction misses a secret that is cut in two. */
  let held: TextEvent | undefined;
  let events: AgentEvent[] = [];
  const letGo = (): void => {
    if (held !== undefined && held.text !== "") events.push(held);
    held = undefined;
  };
  const addPiece = (piece: TextEvent): void => {
    if (held?.message !== piece.message) letGo();
    const text = (held?.text ?? "") + piece.text;
    const cut = endOfLines(text);
    if (cut > 0) events.push({ ...piece, text: text.slice(0, cut) });
    held = { ...piece, text: text.slice(cut) };
  };
  const read = (texts: string[]): AgentEvent[] => {
    events = [];
    for (const event of eventsIn(texts, parse)) {
      addEvent(report, event);
      if (event.type === "text" && event.delta) addPiece(event);
      else {
        letGo();
        events.push(event);
      }
      if (event.type === "tool_start" || event.type === "tool_end") stderr = "";
    }
    return events;
  };
  return {
    report,
    stderr: () => stderr,
    push({ from, data }: Chunk): AgentEvent[] {
      if (from === "stdout") return read(lines.push(data));
      stderr = (stderr + data).slice(-STDERR_CHARS);
      return [];
    },
    end(): AgentEvent[] {
      read(lines.end());
      letGo();
      return events;
    },
  };
}

/** Lines of plain text that arrive together become one event: there can be millions of them. */
function eventsIn(lines: string[], parse: Agent["parse"]): AgentEvent[] {
  const events: AgentEvent[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) events.push({ type: "text", text: texts.join("\n") });
    texts = [];
  };
  for (const line of lines) {
    for (const event of parse(line)) {
      if (event.type === "text" && !event.delta && !event.subagent && event.message === undefined) {
        texts.push(event.text);
        continue;
      }
      flush();
      events.push(event);
    }
  }
  flush();
  return events;
}

/** How much of an unfinished line to hold back, and how much to keep when that is exceeded. */
const HOLD_CHARS = 64 * 1024;
const OVERLAP_CHARS = 4 * 1024;

/** Where the last whole line ends; in a line without an end, the last gap between words. */
function endOfLines(text: string): number {
  const lines = text.lastIndexOf("\n") + 1;
  if (text.length - lines <= HOLD_CHARS) return lines;
  const most = text.length - OVERLAP_CHARS;
  const word = text.lastIndexOf(" ", most) + 1;
  return word > lines ? word : most;
}
