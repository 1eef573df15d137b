import { existsSync } from "node:fs";
import { join } from "node:path";
import { type AgentReport, finalMessage } from "../agents/report.js";
import { spent } from "../agents/spending.js";
import { elapsed } from "../elapsed.js";
import type { AgentFinished, AgentStarted, AgentStop, LoopEventBody } from "../events.js";
import type { AgentRequest, Remaining } from "../loop/effects.js";
import { findTree, type ProcessTree } from "../process/kill.js";
import type { Chunk } from "../process/output.js";
import { afterDelay } from "../process/run.js";
import { writeFresh } from "../records/files.js";
import { type Log, openLog, type Redact } from "../records/redact.js";

/** What every call has, whether a program, a screen or a function answers: two events and its records. */

const PROMPT_START_CHARS = 200;
const MAX_MESSAGE_CHARS = 20_000;

export function agentStarted(
  agent: string,
  command: string[],
  { iteration, attempt, prompt, agent: role, insteadOf }: AgentRequest,
  allowanceUsd?: number | null,
): AgentStarted {
  return {
    type: "agent.started",
    ...{ iteration, agent, command, attempt, prompt: prompt.slice(0, PROMPT_START_CHARS) },
    ...(role !== undefined && { role }),
    ...(insteadOf !== undefined && { insteadOf }),
    ...(allowanceUsd !== undefined && { allowanceUsd }),
  };
}

/** The facts of a call that had no process and reported no tokens. */
const NOTHING_TOLD = {
  ...{ exitCode: null, signal: null },
  ...{ inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
};

type CallResult = Omit<AgentFinished, "type" | "iteration" | keyof typeof NOTHING_TOLD> &
  Partial<AgentFinished>;

/** Ends a call. The loop gets the whole final message, the event only the end of it. */
export function* agentFinished(iteration: number, call: CallResult): Generator<LoopEventBody, CallResult> {
  const finalMessage = call.finalMessage.slice(-MAX_MESSAGE_CHARS);
  yield { type: "agent.finished", iteration, ...NOTHING_TOLD, ...call, finalMessage };
  return call;
}

export interface CallRecords {
  write(chunk: Chunk): void;
  close(): { log: string; logError?: string };
}

/** Keeps the prompt and all output in the iteration's folder; after a crash, those of the first try stay. */
export function openRecords(folder: string, extension: string, prompt: string, redact: Redact): CallRecords {
  let path = join(folder, `agent.${extension}`);
  for (let number = 2; existsSync(path); number += 1) path = join(folder, `agent.${number}.${extension}`);
  writeFresh(join(folder, "prompt.md"), redact(prompt), 0o600);
  const stdout = openLog(path, redact);
  let stderr: Log | undefined;
  return {
    write({ from, data }) {
      if (from === "stdout") return stdout.write(data);
      stderr ??= openLog(path.replace(/\.\w+$/, ".stderr.log"), redact);
      stderr.write(data);
    },
    close() {
      const logError = stdout.close() ?? stderr?.close();
      return { log: path, ...(logError !== undefined && { logError }) };
    },
  };
}

export interface Supervision {
  iterationTimeoutMs: number | null;
  /** 0: never. */
  inactivityTimeoutMs: number;
  remaining: Remaining;
  isDone?: ((said: string) => boolean) | undefined;
  allowOverage?: boolean | undefined;
  fingerprint(): Promise<string>;
  /** Whether ralph has suspended the agent for a while. */
  isHeld?: (() => boolean) | undefined;
  /** Called on signs of life other than output, even if silence ends nothing. */
  alive?: (() => void) | undefined;
  kill: AbortSignal;
  /** When aborted, a limit that several agents share is used up; the signal's reason is an `AgentStop`. */
  over?: AbortSignal | undefined;
}

export type Supervisor = ReturnType<typeof supervise>;

/** An agent that has given its result has little left to do, and less if it may spend no more. */
const AFTER_RESULT_MS = 15_000;
const OVER_BUDGET_MS = 2000;
/** An agent that continues after words that mean done takes them back: it must stay silent for this long. */
const LAST_WORDS_MS = 1500;
const STILL_THERE = "it did not end after its result";

const EXPLANATIONS: Record<AgentStop, string> = {
  inactivity: "no sign of life within the inactivity timeout",
  iteration_timeout: "the iteration timeout was reached",
  budget_exhausted: "the budget is exhausted",
  timeout: "the time limit was reached",
  interrupted: "interrupted",
  overage: "paid extra usage has begun (--allow-overage would allow it)",
  done: "it says that it is done",
};

/** Everything that can end an agent early. The first reason wins. */
export function supervise(rules: Supervision) {
  const { remaining, kill, over, inactivityTimeoutMs } = rules;
  const controller = new AbortController();
  const stop: AbortSignal = controller.signal;
  let reason: AgentStop | null = null;
  let explanation = "";
  const stopFor = (why: AgentStop, detail: string = EXPLANATIONS[why]): void => {
    if (reason === null) [reason, explanation] = [why, detail];
    controller.abort();
  };
  const onKill = (): void => stopFor("interrupted");
  if (kill.aborted) onKill();
  kill.addEventListener("abort", onKill, { once: true });
  const onOver = (): void => stopFor(over?.reason as AgentStop);
  if (over?.aborted) onOver();
  over?.addEventListener("abort", onOver, { once: true });
  const timers = [
    afterDelay(remaining.timeMs, () => stopFor("timeout")),
    afterDelay(rules.iterationTimeoutMs ?? undefined, () => stopFor("iteration_timeout")),
  ];
  let activity: ReturnType<typeof watchActivity> | undefined;
  let overBudget = false;
  let lastWords: NodeJS.Timeout | undefined;
  let afterResult: NodeJS.Timeout | undefined;
  let seen = "";
  const patience = Math.min(AFTER_RESULT_MS, inactivityTimeoutMs || AFTER_RESULT_MS);
  const expectEnd = ({ ended, closings, steps }: AgentReport): void => {
    // Its subagents may still work: no other output is a reason to wait.
    const now = `${ended} ${closings} ${steps}`;
    if (now === seen) return;
    seen = now;
    clearTimeout(afterResult);
    if (ended) afterResult = setTimeout(() => stopFor("inactivity", STILL_THERE), patience);
  };
  return {
    stop,
    stopFor,
    reason: () => reason,
    explanation: () => explanation,
    started(tree: ProcessTree): void {
      if (inactivityTimeoutMs > 0 || rules.alive)
        activity = watchActivity(rules, tree, () => stopFor("inactivity"));
    },
    /** The agent has written something; `report` is the sum of it all. */
    heard(report: AgentReport): void {
      activity?.touch();
      clearTimeout(lastWords);
      if (rules.isDone?.(finalMessage(report))) lastWords = setTimeout(() => stopFor("done"), LAST_WORDS_MS);
      // Nothing costs more after the answer.
      const hasAnswered = report.ended && report.error === undefined;
      if (report.overage !== undefined && rules.allowOverage === false && !hasAnswered) stopFor("overage");
      expectEnd(report);
      const passed = passedLimit(report, remaining);
      if (passed === undefined || overBudget) return;
      overBudget = true;
      const detail = `the ${passed} limit was passed`;
      timers.push(afterDelay(report.ended ? OVER_BUDGET_MS : 0, () => stopFor("budget_exhausted", detail)));
    },
    /** Nobody watches any more: end an agent that still runs. */
    end(): void {
      kill.removeEventListener("abort", onKill);
      over?.removeEventListener("abort", onOver);
      for (const timer of [...timers, lastWords, afterResult]) clearTimeout(timer);
      activity?.end();
      controller.abort("nothing reads its events any more");
    },
  };
}

function passedLimit(report: AgentReport, { costUsd, tokens }: Remaining): "cost" | "token" | undefined {
  if (costUsd === undefined && tokens === undefined) return undefined;
  const used = spent(report);
  if (costUsd !== undefined && (used.costUsd ?? 0) > costUsd) return "cost";
  return tokens !== undefined && used.inputTokens + used.outputTokens > tokens ? "token" : undefined;
}

const MIN_PERIOD_MS = 100;
const MAX_PERIOD_MS = 30_000;
const PERIODS = 4;
/** An idle process uses a little time, too: less than this share of a core is not work. */
const WORKING_SHARE = 0.01;
const MIN_WORK_MS = 20;

/** Reports an agent without output, changed files or processor time. While it writes, nothing is examined. */
function watchActivity(
  { fingerprint, alive, isHeld, ...rules }: Supervision,
  tree: ProcessTree,
  onSilence: () => void,
): { touch(): void; end(): void } {
  const inactivityTimeoutMs = rules.inactivityTimeoutMs || Number.POSITIVE_INFINITY;
  const every = Math.min(Math.max(inactivityTimeoutMs / PERIODS, MIN_PERIOD_MS), MAX_PERIOD_MS);
  const minWorkMs = Math.max(MIN_WORK_MS, every * WORKING_SHARE);
  let touched = false;
  let ended = false;
  let lastLife = elapsed();
  let before: { cpuMs: number; files: string } | undefined;
  let timer: NodeJS.Timeout;
  const examine = async (): Promise<void> => {
    let isAlive = touched || isHeld?.() === true;
    if (isAlive) before = undefined;
    else {
      const cpuMs = findTree(tree).reduce((sum, entry) => sum + entry.cpuMs, 0);
      const files = await fingerprint();
      if (before !== undefined)
        isAlive = files !== before.files || Math.abs(cpuMs - before.cpuMs) >= minWorkMs;
      before = { cpuMs, files };
    }
    if (isAlive) {
      lastLife = elapsed();
      alive?.();
    }
    touched = false;
    if (ended) return;
    if (elapsed() - lastLife >= inactivityTimeoutMs) onSilence();
    else schedule();
  };
  const schedule = (): void => {
    timer = setTimeout(() => void examine(), every);
  };
  schedule();
  return {
    touch() {
      touched = true;
    },
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}
