import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Json, LoopEventBody } from "../../../src/events.js";
import type { Recipe, Verdict } from "../../../src/loop/recipe.js";
import type { StoriesContext, StoriesSpec } from "../../../src/recipes/stories/run.js";
import { storiesRecipe } from "../../../src/recipes/stories/stories.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import { createProject } from "../../kit.js";

const SPEC: StoriesSpec = {
  kind: "stories",
  dir: "ralph",
  skipReview: false,
  reviewCap: 5,
  hasReviewer: false,
  dirty: [],
};

/** A project with these stories, and a recipe over it; what an agent does is done by the test. */
export function setUp(
  list: TaskList,
  more: Partial<StoriesSpec> = {},
  git = false,
  given: Partial<StoriesContext> = {},
) {
  const p = createProject({ git });
  const records = join(p.root, "records");
  mkdirSync(records);
  const folderFor = (iteration: number): string => {
    const folder = join(records, String(iteration));
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  p.write("ralph/tasks.json", JSON.stringify(list));
  p.write("ralph/prd.md", "what we want");
  p.write(
    "ralph/prompt.md",
    ["Iteration $RALPH_ITERATION of $", "{RALPH_MAX_ITERATIONS} for $HOME."].join(""),
  );
  p.write(".gitignore", ".ralph-active\n");
  if (git) p.sh("git add -A && git commit -qm plan");
  const context = {
    workspace: p.dir,
    env: p.env,
    redact: (text: string) => text,
    inRepository: git,
    records,
    folderFor,
    ...given,
  };
  return {
    p,
    records,
    recipe: (): Recipe => storiesRecipe({ ...SPEC, ...more }, context),
    now: (): Story[] => (JSON.parse(p.read("ralph/tasks.json")) as TaskList).userStories,
    put: (after: unknown): void =>
      void p.write("ralph/tasks.json", typeof after === "string" ? after : JSON.stringify(after)),
  };
}

/**
 * The same with the first iteration begun. `ends`: its agent leaves this list, and ralph judges it; `next`: the next
 * iteration begins.
 */
export async function begun(...given: Parameters<typeof setUp>) {
  const all = setUp(...given);
  const recipe = all.recipe();
  const planned = await plan(recipe);
  let iteration = 1;
  let memory: Json | undefined;
  return {
    ...all,
    recipe,
    planned,
    again: all.recipe,
    async ends(after?: unknown, words = "", error: string | null = null) {
      if (after !== undefined) all.put(after);
      const result = await verify(recipe, iteration, words, error);
      memory = result.verdict.memory;
      return result;
    },
    next() {
      iteration += 1;
      return plan(recipe, iteration, memory);
    },
  };
}

export const plan = (recipe: Recipe, iteration = 1, memory?: Json, answered = false) =>
  recipe.plan({ iteration, maxIterations: 9, memory, answered });

export async function verify(recipe: Recipe, iteration = 1, finalMessage = "", error: string | null = null) {
  const { signal } = new AbortController();
  const answer = { finalMessage, error, costUsd: null, durationMs: 1, steps: 0 };
  const steps = recipe.verify(answer, { iteration, stop: signal, kill: signal });
  const events: LoopEventBody[] = [];
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) events.push(step.value);
  const violations = events.flatMap((event) => (event.type === "violation" ? [event.what] : []));
  return { events, verdict: step.value as Verdict, violations };
}
