import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { z } from "zod";
import { elapsed } from "../elapsed.js";
import type { LoopEventBody } from "../events.js";
import type { AgentRequest, AgentRun } from "../loop/effects.js";
import { agentFinished, agentStarted, openRecords, supervise } from "./call.js";
import type { AgentSetup } from "./run-agent.js";

/** The answer of a function that acts as the agent. Any other value is a failed iteration. */
export interface FunctionAnswer {
  /** Its final message, which ralph searches for the completion tag. It may be empty. */
  finalOutput: string;
  /** In USD, for `maxCost`. */
  cost?: number | null | undefined;
  steps?: number | null | undefined;
}

/** What a function that acts as the agent gets beside the prompt. */
export interface FunctionContext {
  /** Counts from 1. */
  iteration: number;
  workspace: string;
  /** Aborted when its time is up, or when it has answered. */
  signal: AbortSignal;
}

/** A function that acts as the agent, asynchronous or not. An exception is a failed iteration. */
export type FunctionAgent = (
  prompt: string,
  context: FunctionContext,
) => Promise<FunctionAnswer> | FunctionAnswer;

interface FunctionSetup
  extends Pick<AgentSetup, "name" | "workspace" | "iterationTimeoutMs" | "kill" | "redact" | "folderFor"> {
  agent: FunctionAgent;
}

/** Calls a function once. ralph cannot kill it: at the end of its time it gets an abort and a moment. */
export async function* runFunction(
  setup: FunctionSetup,
  request: AgentRequest,
): AsyncGenerator<LoopEventBody, AgentRun> {
  const { iteration, prompt, remaining } = request;
  yield agentStarted(setup.name, [], request);
  const records = openRecords(setup.folderFor(iteration), "log", prompt, setup.redact);
  const watch = supervise({ ...setup, remaining, inactivityTimeoutMs: 0, fingerprint: async () => "" });
  const begun = elapsed();
  const { finalOutput, cost, steps, error } = await answerOf(setup, prompt, iteration, watch.stop);
  const stopped = watch.reason();
  watch.end();
  records.write({ from: "stdout", data: Buffer.from(finalOutput) });
  return yield* agentFinished(iteration, {
    finalMessage: finalOutput,
    error: stopped === null ? error : watch.explanation(),
    empty: false,
    stopped,
    costUsd: cost ?? null,
    durationMs: Math.round(elapsed() - begun),
    steps: steps ?? 0,
    ...records.close(),
  });
}

/** `error`: why the answer counts as a failure. */
type JudgedAnswer = FunctionAnswer & { error: string | null };

const NO_ANSWER: JudgedAnswer = { finalOutput: "", error: "no answer" };

/** A function that stops on an abort can still report its cost. */
const GRACE_MS = 1000;

async function answerOf(
  { agent, workspace }: FunctionSetup,
  prompt: string,
  iteration: number,
  signal: AbortSignal,
): Promise<JudgedAnswer> {
  if (signal.aborted) return NO_ANSWER;
  const answered = new AbortController();
  const until = { signal: answered.signal };
  const givenUp = once(signal, "abort", until).then(() => sleep(GRACE_MS, NO_ANSWER, until));
  const call = async (): Promise<JudgedAnswer> => {
    try {
      return { ...checked(await agent(prompt, { iteration, workspace, signal })), error: null };
    } catch (error) {
      const words = error instanceof Error ? error.message || error.name : error;
      const isText = typeof words === "string" && words !== "";
      return { finalOutput: "", error: isText ? words : `it threw ${shown(error)}` };
    }
  };
  const answer = await Promise.race([call(), givenUp]);
  answered.abort();
  givenUp.catch(() => {});
  return answer;
}

const count = (expected: string) => z.number(expected).min(0, expected).nullish();
const ANSWER = z.object(
  {
    finalOutput: z.string("text"),
    cost: count("a number of USD, 0 or more"),
    steps: count("a number, 0 or more"),
  },
  "{ finalOutput, cost?, steps? }",
);

/** A cost that is not a number would disable every limit, so the author of the function must know. */
function checked(answer: FunctionAnswer): FunctionAnswer {
  const { data, error } = ANSWER.safeParse(answer);
  if (data !== undefined) return data;
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  const [name = ""] = path as (keyof FunctionAnswer)[];
  const said = name === "" ? shown(answer) : `${name} ${shown(answer[name])}`;
  throw new TypeError(`the function answered ${said}: expected ${message}`);
}

export function shown(value: unknown): string {
  return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 100 });
}
