import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { agentFor } from "../../src/agents/index.js";
import type { AgentFinished, IterationFinished, LoopEvent, Outcome } from "../../src/events.js";
import type { AgentRun, Effects } from "../../src/loop/effects.js";
import { loop } from "../../src/loop/loop.js";
import type { Recipe } from "../../src/loop/recipe.js";
import { untilMerged } from "../../src/recipes/protected.js";
import type { Story, TaskList } from "../../src/recipes/stories/tasks.js";
import { initialState } from "../../src/records/run-state.js";
import { forgetStart, rememberStart, type Start } from "../../src/workspace/git.js";
import { takeStart } from "../../src/workspace/start.js";
import { LIMITS } from "../kit.js";
import { story } from "../recipes/stories/samples.js";
import { callOf, NOW } from "./call.js";
import type { Case, Expected, Step } from "./cases.js";
import { changed, commitAll, recipeOf, writeText } from "./recipes.js";

const NEED_FOLDER = new Set([
  "stories",
  "worker",
  "protected",
  "gate",
  "runner",
  "sealed",
  "proof",
  "proof-gate",
]);

/** Plays a case in the loop itself, without a process of an agent, and returns its result. */
export async function judged(one: Case, agentName: string, root: string): Promise<Expected> {
  const isOwn = NEED_FOLDER.has(one.recipe) || one.git.length > 0;
  const folder = isOwn ? mkdtempSync(join(root, "case-")) : root;
  const agent = await agentFor(agentName);
  let asked = 0;
  const effects: Effects = {
    ...STILL,
    clock: clock(),
    async *runAgent({ iteration, prompt }) {
      const steps = one.calls[Math.min(asked, one.calls.length - 1)] ?? [];
      asked += 1;
      const { exitCode, ...run } = callOf(agent, { ...one, prompt }, steps);
      work(folder, steps);
      yield finished(iteration, exitCode, run);
      return run;
    },
  };
  const recipe = recipeOf(one, folder);
  const person = personIn(one, folder, () => asked, recipe);
  const limits = { ...LIMITS, maxIterations: iterations(one), maxFailures: 9, waitForLimits: isWaiting(one) };
  const options = { limits, agent: agentName, credentials: null, workspace: folder };
  const events: LoopEvent[] = [];
  const start = one.git.length === 0 ? undefined : await inRepository(folder, one.git);
  const whole = start === undefined ? recipe : untilMerged(recipe, start);
  const play = loop(whole, { ...effects, isPaused: person }, options, initialState("run"));
  let step = await play.next();
  for (; !step.done; step = await play.next()) events.push(step.value);
  if (start !== undefined) forgetStart(start);
  return verdictOf(step.value, events);
}

/** The repository, then what the user does, and the run begins. */
async function inRepository(folder: string, commands: string[]): Promise<Start> {
  cpSync(diverged(dirname(folder)), folder, { recursive: true });
  for (const command of ["git add -A; git commit -qm plan", ...commands]) sh(folder, command);
  const { start, ignored } = await takeStart(folder, join(folder, ".git/excludes-of-the-start"), false);
  writeFileSync(start.excludes, ignored);
  rememberStart(start);
  return start;
}

/** Two branches that cannot be merged, and one that can. It is made once. */
function diverged(root: string): string {
  const made = join(root, "diverged");
  if (existsSync(made)) return made;
  mkdirSync(made);
  sh(made, "git init -q -b main . && printf 'records/\\n.ralph-active\\n' > .gitignore && echo 1 > f");
  sh(made, "git add -A && git commit -qm 1 && git branch apart && git switch -qc side && echo s > f");
  sh(made, "git commit -qam s && git switch -q apart && git commit -q --allow-empty -m a");
  sh(made, "git switch -q main && echo 2 > f && git commit -qam 2");
  return made;
}

/** What git says of a conflict, and its exit code, are nobody's business here. */
function sh(folder: string, command: string): void {
  spawnSync("bash", ["-c", command], { cwd: folder, env: { ...process.env, ...SOMEBODY }, stdio: "ignore" });
}

const SOMEBODY = {
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@example.invalid",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@example.invalid",
};

/** Calls that were refused for a limit are no iterations. */
function iterations({ calls, recipe }: Case): number {
  const refused = calls.slice(0, -1).filter((steps) => steps.some(({ verb }) => verb === "refused"));
  // The gate that seals the tests is an iteration without a call.
  return calls.length - refused.length + (recipe === "sealed" ? 1 : 0);
}

function isWaiting({ calls }: Case): boolean {
  return calls.some((steps) => steps.some(({ verb }) => verb === "refused"));
}

function verdictOf({ success, message, reason }: Outcome, events: LoopEvent[]): Expected {
  const answer = events.findLast(
    (event): event is LoopEvent & AgentFinished => event.type === "agent.finished",
  );
  const last = events.findLast(
    (event): event is LoopEvent & IterationFinished => event.type === "iteration.finished",
  );
  if (success) return { verdict: "done", because: reason };
  if (answer?.limit !== undefined) return { verdict: "limit", because: answer.limit.resetsAt ?? "no time" };
  const failed = answer?.error !== null || answer.empty;
  const because = `${reason} ${last?.reason ?? ""} ${message ?? ""}`;
  return { verdict: failed ? "error" : "not done", because };
}

/** A world in which nothing happens, and time passes when somebody sleeps. */
const STILL: Omit<Effects, "runAgent" | "clock"> = {
  isPaused: () => false,
  tree: { own: new Set(), read: async () => ({ word: "", content: "same", files: () => new Map() }) },
  changedFiles: async () => null,
  settle: async function* () {
    return { worktree: null };
  },
  signals: { stop: new AbortController().signal, kill: new AbortController().signal },
};

function clock(): Effects["clock"] {
  let passed = 0;
  return {
    now: () => new Date(NOW.getTime() + passed),
    elapsed: () => passed,
    sleep: async (ms) => {
      passed += ms;
    },
  };
}

/** What a person does in a pause after a call: `mine set US-001 {}`. The run is paused as long as there is something to do. */
function personIn(one: Case, folder: string, asked: () => number, recipe: Recipe): () => boolean {
  const waiting = one.calls.map((steps) => steps.filter(({ verb }) => verb === "mine").map(mine));
  return () => {
    const steps = waiting.slice(0, asked()).flatMap((all) => all.splice(0));
    if (steps.length === 0) return false;
    void recipe.release?.();
    work(folder, steps);
    return true;
  };
}

function mine({ text }: Step): Step {
  const [verb = "", ...words] = text.split(" ");
  return { verb, text: words.join(" ") };
}

/** What the agent does to files: `sh git merge side`, `set US-001 {"passes":true}`, `add`, `drop US-002`, `write ralph/prd.md text`. */
function work(folder: string, steps: Step[]): void {
  const file = join(folder, "ralph/tasks.json");
  for (const step of steps.filter(({ verb }) => /^(?:set|add|drop|write|commit|commands|sh)$/.test(verb))) {
    if (step.verb === "commit") {
      commitAll(folder);
      continue;
    }
    if (step.verb === "write" || step.verb === "sh") {
      (step.verb === "sh" ? sh : writeText)(folder, step.text);
      continue;
    }
    const list = JSON.parse(readFileSync(file, "utf8")) as TaskList;
    if (step.verb === "commands") list.verifyCommands = JSON.parse(step.text) as string[];
    writeFileSync(file, JSON.stringify({ ...list, userStories: worked(list.userStories, step) }));
  }
}

function worked(stories: Story[], { verb, text }: Step): Story[] {
  if (verb === "drop") return stories.filter(({ id }) => id !== text);
  if (verb === "add") return [...stories, changed(text, story)];
  return stories.map((one) => (text.startsWith(`${one.id} `) ? changed(text, () => one) : one));
}

function finished(iteration: number, exitCode: number | null, run: AgentRun): AgentFinished {
  const spent = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { type: "agent.finished", iteration, exitCode, signal: null, log: "", ...spent, ...run };
}
