import type { Limits, LoopEvent, Question, UsageLimit } from "../../src/events.js";
import type { AgentRequest, AgentRun, Effects } from "../../src/loop/effects.js";
import { loop } from "../../src/loop/loop.js";
import type { Recipe, Verdict } from "../../src/loop/recipe.js";
import { initialState, type RunState } from "../../src/records/run-state.js";
import { LIMITS } from "../kit.js";

export const FAILED: Verdict = {
  ...{ passed: false, reason: "npm test failed", claimedDone: false, failure: "same" },
};
export const NOT_YET: Verdict = { passed: true, reason: "not yet", claimedDone: false };
export const DONE: Verdict = { passed: true, reason: "completed", claimedDone: true, stop: "completed" };

export const MINUTE = 60_000;
export const START = Date.UTC(2026, 10, 15, 12);

interface Answer extends Partial<AgentRun> {
  limit?: UsageLimit;
  tokens?: number;
  takesMs?: number;
}

interface Controls {
  stop: AbortController;
  kill: AbortController;
  pause(paused: boolean): void;
  now: number;
}

export interface World {
  limits?: Partial<Limits>;
  others?: Record<string, string>;
  /** What the agent of the run answers, one after the other; the last one again and again. */
  answers?: Answer[];
  /** The same for other agents, by their roles. */
  agents?: Record<string, Answer[]>;
  verdicts?: (Verdict | undefined)[];
  trees?: string[];
  /** The same where checks change files: at the start, then before and after each verification. */
  everyTree?: string[];
  state?: RunState;
  plan?: Recipe["plan"];
  verify?: Recipe["verify"];
  handOver?: Effects["handOver"];
  /** Said in every iteration. */
  steering?: string;
  /** Called with the number of each agent call, before it answers. */
  onAgent?: (call: number, controls: Controls) => void;
  /** Called at every sleep. */
  onSleep?: (controls: Controls) => void;
}

/** The loop with scripted agents, in a world without processes, files or time. */
function createWorld(world: World) {
  let elapsed = world.state?.lastSeenAt ? Date.parse(world.state.lastSeenAt) - START : 0;
  let [paused, trees, verified] = [false, 0, 0];
  const [stop, kill] = [new AbortController(), new AbortController()];
  const requests: AgentRequest[] = [];
  const questions: (Question | undefined)[] = [];
  const calls: Record<string, number> = {};
  const controls = (): Controls => {
    return { stop, kill, pause: (value) => (paused = value), now: START + elapsed };
  };
  const effects: Effects = {
    clock: {
      now: () => new Date(START + elapsed),
      elapsed: () => elapsed,
      sleep: async (ms) => {
        elapsed += ms;
        world.onSleep?.(controls());
      },
    },
    isPaused: () => paused,
    ...(world.handOver && { handOver: world.handOver }),
    steering: () => (world.steering === undefined ? undefined : { text: world.steering, taken: () => {} }),
    signals: { stop: stop.signal, kill: kill.signal },
    changedFiles: async () => null,
    settle: async function* () {
      return { worktree: null };
    },
    tree: {
      own: new Set(),
      read: async () => ({
        word: "",
        content: world.everyTree?.[trees++] ?? nth(world.trees ?? ["t"], Math.ceil(trees++ / 2)),
        files: () => new Map(),
      }),
    },
    async *runAgent(request) {
      requests.push(request);
      world.onAgent?.(requests.length, controls());
      const role = request.agent ?? "agent";
      calls[role] = (calls[role] ?? 0) + 1;
      const script = world.agents?.[role] ?? (role === "agent" ? world.answers : undefined) ?? [{}];
      const { takesMs = 0, tokens = 0, ...answer } = nth(script, calls[role] - 1);
      const { iteration, attempt, insteadOf } = request;
      yield {
        ...{ type: "agent.started", iteration, agent: role, command: [], attempt, prompt: "" },
        ...(request.agent && { role }),
        ...(insteadOf && { insteadOf }),
      };
      elapsed += takesMs;
      const ended: AgentRun = {
        ...{ finalMessage: "", error: answer.limit?.message ?? null, empty: false, stopped: null },
        ...{ costUsd: 0, durationMs: takesMs, steps: 1, ...answer },
      };
      const spent = { inputTokens: tokens, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
      yield { type: "agent.finished", iteration, exitCode: 0, signal: null, log: "", ...spent, ...ended };
      return ended;
    },
  };
  const recipe: Recipe = {
    name: "test",
    verifies: true,
    plan: world.plan ?? (async () => ({ prompt: "p" })),
    verify:
      world.verify ??
      async function* ({ asked }) {
        questions.push(asked);
        return nth(world.verdicts ?? [NOT_YET], verified++);
      },
  };
  const { others = {}, state = initialState("run") } = world;
  const options = { limits: { ...LIMITS, ...world.limits }, agent: "agent", credentials: null };
  const events = loop(recipe, effects, { ...options, workspace: "/w", others }, state);
  return { events, requests, questions, state, elapsed: () => elapsed };
}

export async function play(world: World) {
  const { events: generator, requests, questions, state, elapsed } = createWorld(world);
  const events: LoopEvent[] = [];
  let step = await generator.next();
  for (; !step.done; step = await generator.next()) events.push(step.value);
  return {
    ...{ outcome: step.value, events, state, requests, questions },
    types: events.map(({ type }) => type),
    prompts: requests.map(({ prompt }) => prompt),
    asked: requests.map(({ iteration, agent = "agent" }) => `${iteration} ${agent}`),
    waits: events.flatMap((event) => (event.type === "limit.waiting" ? [event] : [])),
    backoffs: events.flatMap((event) => (event.type === "backoff.started" ? [event.seconds] : [])),
    minutes: elapsed() / MINUTE,
  };
}

function nth<T>(list: T[], index: number): T {
  return list[Math.min(index, list.length - 1)] as T;
}
