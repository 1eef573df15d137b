import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent, AgentCommand, Permissions } from "../agents/agent.js";
import { command as plainCommand } from "../agents/command.js";
import { addEvent, emptyReport, finalMessage, type Report, spent } from "../agents/report.js";
import { describeSystemError } from "../errors.js";
import type { AgentStop, LoopEventBody } from "../events.js";
import { createLineSplitter } from "../process/lines.js";
import { type Log, openLog } from "../process/log.js";
import { type Chunk, type Exit, run } from "../process/run.js";
import type { Redact } from "../state/redact.js";
import { withoutEcho } from "../verify/completion.js";
import { type ActivityWatch, watchActivity } from "./activity.js";
import type { AgentRequest, AgentRun, Remaining } from "./effects.js";

export interface AgentSetup {
  agent: Agent;
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
  env: NodeJS.ProcessEnv;
  redact: Redact;
  inactivityTimeoutMs: number;
  iterationTimeoutMs: number | null;
  fingerprint(): Promise<string>;
  /** Aborted: the agent is killed at once. */
  kill: AbortSignal;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
}

const STDERR_TAIL_CHARS = 2000;
const MAX_MESSAGE_CHARS = 20_000;
const PROMPT_START_CHARS = 200;

/** Asks an agent once: starts it, reads it, watches it, and ends it when a limit is passed. */
export async function* runAgent(
  setup: AgentSetup,
  { iteration, attempt, prompt, remaining }: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const folder = setup.folderFor(iteration);
  const invocation = prepare(setup, prompt, folder, remaining);
  const records = openRecords(folder, setup);
  writeFileSync(join(folder, "prompt.md"), setup.redact(prompt));
  yield {
    type: "agent.started",
    iteration,
    agent: setup.agent.name,
    command: [invocation.file, ...invocation.args],
    attempt,
    prompt: prompt.slice(0, PROMPT_START_CHARS),
  };

  const watch = superviseWith(setup, remaining);
  const parse = setup.mode === "stream" ? setup.agent.parse : plainCommand.parse;
  const report = emptyReport();
  const lines = createLineSplitter();
  let stderr = "";
  const { file, args, stdin } = invocation;
  const env = { ...setup.env, ...invocation.env };
  const child = run(
    { file, args, cwd: setup.workspace, env, ...(stdin !== undefined && { stdin }) },
    { stop: watch.stop, onStart: watch.started },
  );
  let step: IteratorResult<Chunk, Exit>;
  try {
    for (step = await child.next(); !step.done; step = await child.next()) {
      watch.touch();
      records.write(step.value);
      if (step.value.from === "stderr") {
        stderr = (stderr + step.value.data.toString("utf8")).slice(-STDERR_TAIL_CHARS);
        continue;
      }
      for (const line of lines.push(step.value.data)) {
        for (const event of parse(line)) {
          addEvent(report, event);
          yield { type: "agent.event", iteration, event };
        }
      }
      watch.spent(report);
    }
    for (const event of lines.end().flatMap(parse)) {
      addEvent(report, event);
      yield { type: "agent.event", iteration, event };
    }
  } finally {
    watch.end();
    await child.return(undefined as never);
  }
  const message = answerOf(setup, invocation, report, prompt);
  const stopped = watch.reason();
  const error = errorOf(setup, step.value, stopped, report, stderr);
  yield {
    type: "agent.finished",
    iteration,
    exitCode: step.value.exitCode,
    signal: step.value.signal,
    durationMs: Math.round(step.value.durationMs),
    ...spent(report),
    error,
    stopped,
    finalMessage: message.slice(-MAX_MESSAGE_CHARS),
    ...records.close(),
  };
  const empty = error === null && !report.answered && message.trim() === "";
  return { finalMessage: message, error, empty, stopped };
}

function prepare(setup: AgentSetup, prompt: string, scratch: string, remaining: Remaining): AgentCommand {
  const invocation = setup.agent.command({ ...setup, prompt, scratch, maxCostUsd: remaining.costUsd });
  for (const [path, content] of Object.entries(invocation.files ?? {}))
    writeFileSync(path, content, { mode: 0o600 });
  return invocation;
}

/** Raw output on disk. An iteration that is run again after a crash keeps the records of the first try. */
function openRecords(folder: string, { mode, agent, redact }: AgentSetup) {
  const extension = mode === "stream" && agent.name !== "command" ? "ndjson" : "log";
  const path = freeName(folder, "agent", extension);
  const stdout = openLog(path, redact);
  let stderr: Log | undefined;
  return {
    write({ from, data }: Chunk): void {
      if (from === "stdout") stdout.write(data);
      else (stderr ??= openLog(path.replace(/\.\w+$/, ".stderr.log"), redact)).write(data);
    },
    close(): { log: string; logError?: string } {
      const logError = stdout.close() ?? stderr?.close();
      return { log: path, ...(logError !== undefined && { logError }) };
    },
  };
}

function freeName(folder: string, name: string, extension: string): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${name}${number === 1 ? "" : `.${number}`}.${extension}`);
    if (!existsSync(path)) return path;
  }
}

/** Everything that can end an agent before it ends by itself. The first reason wins. */
function superviseWith(setup: AgentSetup, remaining: Remaining) {
  const controller = new AbortController();
  let reason: AgentStop | null = null;
  const end = (why: AgentStop): void => {
    reason ??= why;
    controller.abort();
  };
  const onKill = (): void => end("interrupted");
  setup.kill.addEventListener("abort", onKill, { once: true });
  const timers = [
    after(remaining.timeMs, () => end("timeout")),
    after(setup.iterationTimeoutMs ?? undefined, () => end("iteration_timeout")),
  ];
  let activity: ActivityWatch | undefined;
  return {
    stop: controller.signal,
    reason: () => reason,
    started(tree: Parameters<typeof watchActivity>[0]["tree"]): void {
      const { inactivityTimeoutMs: timeoutMs, fingerprint } = setup;
      if (timeoutMs === 0) return;
      activity = watchActivity({ timeoutMs, tree, fingerprint, onSilence: () => end("inactivity") });
    },
    touch: () => activity?.touch(),
    spent(report: Report): void {
      const { costUsd, inputTokens, outputTokens } = spent(report);
      if ((costUsd ?? 0) > (remaining.costUsd ?? Number.POSITIVE_INFINITY)) end("budget_exhausted");
      if (inputTokens + outputTokens > (remaining.tokens ?? Number.POSITIVE_INFINITY))
        end("budget_exhausted");
    },
    end(): void {
      setup.kill.removeEventListener("abort", onKill);
      for (const timer of timers) clearTimeout(timer);
      activity?.end();
    },
  };
}

const MAX_DELAY_MS = 2 ** 31 - 1;

function after(ms: number | undefined, action: () => void): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(action, Math.min(Math.max(ms, 0), MAX_DELAY_MS));
}

function answerOf(
  { agent }: AgentSetup,
  { answerFile }: AgentCommand,
  report: Report,
  prompt: string,
): string {
  if (answerFile !== undefined) return readIfThere(answerFile);
  const message = finalMessage(report);
  return agent.name === "command" ? withoutEcho(message, prompt) : message;
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Exit 0 is not enough: an agent can say that it failed, or have been ended. */
function errorOf(
  setup: AgentSetup,
  exit: Exit,
  stopped: AgentStop | null,
  report: Report,
  stderr: string,
): string | null {
  if (exit.spawnError) return `cannot start ${setup.words[0]}: ${describeSystemError(exit.spawnError)}`;
  if (stopped !== null) return STOPPED[stopped];
  if (report.error !== undefined) return report.error;
  if (exit.exitCode === 0) return null;
  const how = exit.signal === null ? `exit code ${exit.exitCode}` : `killed by ${exit.signal}`;
  const last = setup.redact(stderr).trim().split("\n").at(-1) ?? "";
  return last === "" ? how : `${how}: ${last}`;
}

const STOPPED: Record<AgentStop, string> = {
  inactivity: "no sign of life within the inactivity timeout",
  iteration_timeout: "the iteration timeout was reached",
  budget_exhausted: "the cost or token limit was passed",
  timeout: "the time limit was reached",
  interrupted: "interrupted",
};
