import { inspect } from "node:util";
import type { AgentFinished, LoopEventBody } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { afterDelay } from "../process/timer.js";
import type { Redact } from "../records/redact.js";
import { openRecords } from "./records.js";
import { supervise } from "./supervise.js";

/** What a function that plays the agent answers. Anything else is a failed iteration. */
export interface FunctionAnswer {
  /** Its final message: the completion tag is looked for in it. It may be empty. */
  finalOutput: string;
  /** In USD, for `maxCost`. */
  cost?: number | null | undefined;
  /** How many steps it took. */
  steps?: number | null | undefined;
}

/** What a function that plays the agent gets to know beside the prompt. */
export interface FunctionContext {
  /** From 1 on. */
  iteration: number;
  /** The folder to work in. */
  workspace: string;
  /** Aborted when its time is over, or when it has answered. */
  signal: AbortSignal;
}

/** An agent that is a function, asynchronous or not. What it throws is a failed iteration. */
export type FunctionAgent = (
  prompt: string,
  context: FunctionContext,
) => Promise<FunctionAnswer> | FunctionAnswer;

export interface FunctionSetup {
  agent: FunctionAgent;
  name: string;
  workspace: string;
  iterationTimeoutMs: number | null;
  kill: AbortSignal;
  redact: Redact;
  /** Folder for the records of an iteration. */
  folderFor(iteration: number): string;
}

const PROMPT_START_CHARS = 200;
const MAX_MESSAGE_CHARS = 20_000;

/** Asks a function once. It cannot be killed: when its time is over, it is told and not waited for much longer. */
export async function* runFunction(
  setup: FunctionSetup,
  { iteration, attempt, prompt, remaining }: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const start = prompt.slice(0, PROMPT_START_CHARS);
  yield { type: "agent.started", iteration, agent: setup.name, command: [], attempt, prompt: start };
  const records = openRecords(setup.folderFor(iteration), "log", prompt, setup.redact);
  const watch = supervise({ ...setup, remaining, inactivityTimeoutMs: 0, fingerprint: async () => "" });
  const begun = performance.now();
  const answer = await answerOf(setup, prompt, iteration, watch.stop);
  const stopped = watch.reason();
  watch.end();
  records.write({ from: "stdout", data: Buffer.from(answer.finalOutput) });
  const run: AgentRun = {
    finalMessage: answer.finalOutput,
    error: stopped === null ? answer.error : watch.explanation(),
    empty: false,
    stopped,
    costUsd: answer.cost ?? null,
    durationMs: Math.round(performance.now() - begun),
    steps: answer.steps ?? 0,
  };
  const finalMessage = run.finalMessage.slice(-MAX_MESSAGE_CHARS);
  yield { type: "agent.finished", iteration, ...NO_PROCESS, ...run, finalMessage, ...records.close() };
  return run;
}

const NO_PROCESS: Omit<AgentFinished, "type" | "iteration" | "log" | keyof AgentRun> = {
  exitCode: null,
  signal: null,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

interface Answered extends FunctionAnswer {
  /** Why it counts as failed, or null. */
  error: string | null;
}

const NO_ANSWER: Answered = { finalOutput: "", error: "no answer" };

/** A function that stops when it is told can still say what it has spent. */
const GRACE_MS = 1000;

async function answerOf(
  setup: FunctionSetup,
  prompt: string,
  iteration: number,
  signal: AbortSignal,
): Promise<Answered> {
  if (signal.aborted) return NO_ANSWER;
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => {};
  const givenUp = new Promise<Answered>((resolve) => {
    onAbort = () => {
      timer = afterDelay(GRACE_MS, () => resolve(NO_ANSWER));
    };
  });
  signal.addEventListener("abort", onAbort);
  const { agent, workspace } = setup;
  const answer = await Promise.race([call(agent, prompt, { iteration, workspace, signal }), givenUp]);
  signal.removeEventListener("abort", onAbort);
  clearTimeout(timer);
  return answer;
}

async function call(agent: FunctionAgent, prompt: string, context: FunctionContext): Promise<Answered> {
  try {
    return { ...checked(await agent(prompt, context)), error: null };
  } catch (error) {
    return { finalOutput: "", error: wordsOf(error) };
  }
}

/** A cost that is no number would make every limit blind: whoever wrote the function has to know. */
function checked(answer: unknown): FunctionAnswer {
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(`the function answered ${shown(answer)}: expected { finalOutput, cost?, steps? }`);
  }
  const { finalOutput, cost, steps }: { [name in keyof FunctionAnswer]?: unknown } = answer;
  if (typeof finalOutput !== "string") throw wrong("finalOutput", finalOutput, "text");
  if (!isCount(cost)) throw wrong("cost", cost, "a number of USD, 0 or more");
  if (!isCount(steps)) throw wrong("steps", steps, "a number, 0 or more");
  return { finalOutput, cost, steps };
}

function isCount(value: unknown): value is number | null | undefined {
  return value == null || (typeof value === "number" && Number.isFinite(value) && value >= 0);
}

function wrong(field: string, value: unknown, expected: string): TypeError {
  return new TypeError(`the function answered ${field} ${shown(value)}: expected ${expected}`);
}

function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === "string" && error !== "" ? error : `it threw ${shown(error)}`;
}

function shown(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 100 });
}
