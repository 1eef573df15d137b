import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Recipe } from "../../src/loop/recipe.js";
import { asChecks } from "../../src/recipes/checks.js";
import { pipelineRecipe } from "../../src/recipes/pipeline/pipeline.js";
import type { PipelineSpec, PipelineState } from "../../src/recipes/pipeline/spec.js";
import { withProtection, withWitness } from "../../src/recipes/protected.js";
import { storiesRecipe } from "../../src/recipes/stories/stories.js";
import type { Story } from "../../src/recipes/stories/tasks.js";
import type { TaskContext } from "../../src/recipes/task/run-style.js";
import { repeatRecipe, taskRecipe } from "../../src/recipes/task/task.js";
import { createHidden } from "../../src/verify/hidden.js";
import { createProtection } from "../../src/verify/protected/protection.js";
import { story, tasks } from "../recipes/stories/samples.js";
import type { Case } from "./cases.js";

/** The words that mean done where a case has a pattern. */
const PATTERN = "ALL TESTS ARE GREEN";

/** The recipe of a case over a folder of its own. */
export function recipeOf(one: Case, folder: string): Recipe {
  const context = { workspace: folder, env: process.env, redact: (text: string): string => text };
  switch (one.recipe) {
    case "prompt":
      return promptOf(one, context);
    case "pattern":
      return promptOf(one, context, PATTERN);
    case "worker":
      writeFileSync(join(folder, "PROMPT.md"), one.prompt);
      return repeatRecipe({
        kind: "repeat",
        promptFile: join(folder, "PROMPT.md"),
        donePattern: PATTERN,
      });
    case "checks":
      return checksOf(one, context, "COMPLETE");
    case "checks-alone":
      return checksOf(one, context, null);
    case "stories":
      return storiesOf(one, context);
    case "proof":
      return proofOf(one, context);
    case "proof-gate":
      return pipelineOf([{ ...STATE, command: one.check, runsTests: false }], {
        ...context,
        ...proofIn(one, context),
      });
    case "protected":
      return protectedOf(one, context);
    case "gate":
      return printing(pipelineOf([STATE], context), context);
    case "runner":
      return printing(runnerOf(context), context);
    case "sealed":
      return sealedOf(one, context);
    default:
      throw new Error(`${one.file}: ${one.name}: no such recipe: ${one.recipe}`);
  }
}

/** `ralph loop` with all that a green result can be asked to prove. */
function proofOf(one: Case, context: Context): Recipe {
  const { prompt, check, retry, witness } = one;
  const checks = asChecks([check], 10_000).map((one) => ({
    ...one,
    ...(retry && { flaky: "retry" as const }),
  }));
  const spec = { kind: "checks" as const, task: prompt, checks, completionTag: "COMPLETE" };
  const recipe = taskRecipe(spec, { ...taskIn(context), ...proofIn(one, context) });
  return witness ? withWitness(recipe) : recipe;
}

function proofIn({ hidden, confirm }: Case, { workspace }: Context) {
  const given = hidden.map((command, at) => ({ name: `hidden check ${at + 1}`, command, timeoutMs: 10_000 }));
  return { hiddenChecks: createHidden(given, workspace).checks, confirm };
}

/** `tests` is protected in a repository of its own, which has one commit; the check is the case's own. */
function protectedOf({ prompt, check }: Case, { workspace, ...more }: Context): Recipe {
  const project = join(workspace, "project");
  const make = `mkdir -p project/tests && cd project && git init -q && git config user.name a
    git config user.email a@example.invalid && echo good > tests/a && printf 'node_modules\n*.pyc\n' > .gitignore
    git add -A && git commit -qm first`;
  execFileSync("sh", ["-c", make], { cwd: workspace });
  const protection = createProtection(["tests/**"], { workspace: project, ...recordsIn(workspace) });
  const checks = [{ command: check, failAction: "APPEND", timeoutMs: 9000 } as const];
  const recipe = taskRecipe(
    {
      ...{ kind: "prompt", prompt, completionResponse: "DONE", checks },
      includeIterationCountInPrompt: false,
    },
    { ...taskIn({ ...more, workspace: project }), spoiled: protection.spoiled },
  );
  return withProtection(recipe, protection, ["tests/**"]);
}

type Context = Pick<TaskContext, "workspace" | "env" | "redact">;

function promptOf({ prompt, checks }: Case, context: Context, donePattern?: string): Recipe {
  const failing = { command: "false", failAction: "APPEND", timeoutMs: 9000 } as const;
  return taskRecipe(
    {
      kind: "prompt",
      prompt,
      completionResponse: "DONE",
      ...(donePattern !== undefined && { donePattern }),
      checks: checks === "fail" ? [failing] : [],
      includeIterationCountInPrompt: false,
    },
    taskIn(context),
  );
}

/** A check that passes is a process for each case, and none for the streams of the other agents: it would say the same. */
const passedOnce = new WeakSet<Case>();

function checksOf(one: Case, context: Context, completionTag: string | null): Recipe {
  const passing = passedOnce.has(one) ? [] : ["true"];
  passedOnce.add(one);
  const checks = asChecks(one.checks === "pass" ? passing : ["false"], 9000);
  return taskRecipe({ kind: "checks", task: one.prompt, checks, completionTag }, taskIn(context));
}

const OUTPUT = "output.txt";
const STATE: PipelineState = {
  ...{ name: "IMPLEMENT", goal: "", command: `cat ${OUTPUT}`, exitCode: 0, onFail: "", onPass: "COMPLETE" },
  ...{ agent: "before", timeoutMs: 9000, runsTests: true },
};
const PIPELINE: PipelineSpec = {
  ...{ kind: "pipeline", specFile: "s", prpFile: "p", maxGateRetries: 1, states: [STATE], dirty: [] },
};

function pipelineOf(states: PipelineState[], context: Context): Recipe {
  const more = { ...recordsIn(context.workspace), base: undefined, hidden: [], newPrograms: undefined };
  return pipelineRecipe({ ...PIPELINE, states }, { ...context, ...more });
}

/** A loop whose only check is that of a runner of tests. */
function runnerOf(context: Context): Recipe {
  return taskRecipe(
    {
      kind: "checks",
      task: "t",
      checks: asChecks([`cat ${OUTPUT} # pytest`], 9000),
      completionTag: null,
    },
    taskIn(context),
  );
}

/** What is run exits with 0 and prints what the case says. */
function printing(recipe: Recipe, { workspace }: Context): Recipe {
  return {
    ...recipe,
    async *verify(answer, verify) {
      writeFileSync(join(workspace, OUTPUT), answer.finalMessage);
      return yield* recipe.verify(answer, verify);
    },
  };
}

/** A pipeline whose tests have passed their gate; then the agent works. */
function sealedOf({ left }: Case, context: Context): Recipe {
  writeText(context.workspace, "tests/test_a.py def test_a():\n    assert f()\n");
  for (const file of left) writeText(context.workspace, file);
  const seals = {
    ...STATE,
    name: "CHECK_TESTS",
    command: "true # ralph gate check-tests p",
    onPass: "IMPLEMENT",
  };
  const tests: PipelineState = { ...seals, agent: "never", runsTests: false };
  return pipelineOf([tests, { ...STATE, command: "echo 3 passed" }], context);
}

function taskIn(context: Context): TaskContext {
  const nothing = { base: undefined, hidden: [], newPrograms: undefined, kill: new AbortController().signal };
  const askForCommitMessage = async () => ({ text: "" });
  return { ...context, ...recordsIn(context.workspace), ...nothing, askForCommitMessage };
}

function recordsIn(workspace: string) {
  const records = join(workspace, "records");
  mkdirSync(records, { recursive: true });
  const folderFor = (iteration: number): string => {
    const folder = join(records, String(iteration));
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  return { records, folderFor };
}

function storiesOf(one: Case, context: Context): Recipe {
  const { stories, checks, left, git, skipReview, repository } = one;
  const { workspace } = context;
  mkdirSync(join(workspace, "ralph"));
  const list = stories.map((text) => changed(text, story));
  const verifyCommands = [...(checks === "fail" ? ["false"] : []), ...one.commands];
  writeFileSync(join(workspace, "ralph/tasks.json"), JSON.stringify({ ...tasks(...list), verifyCommands }));
  writeFileSync(join(workspace, "ralph/prd.md"), "what we want");
  writeFileSync(join(workspace, "ralph/prompt.md"), "Do the next story.");
  for (const file of left) writeText(workspace, file);
  if (repository) {
    writeFileSync(join(workspace, ".gitignore"), ".ralph-active\nrecords\n");
    execFileSync("git", ["init", "-q"], { cwd: workspace });
    commitAll(workspace);
  }
  const spec = { kind: "stories", dir: "ralph", reviewCap: 5, hasReviewer: false, skipReview } as const;
  const { baseline: _, ...recipe } = storiesRecipe(
    { ...spec, dirty: [] },
    {
      ...{ ...context, ...proofIn(one, context), ...recordsIn(workspace) },
      inRepository: repository || git.length > 0,
    },
  );
  return recipe;
}

const SOMEBODY = ["-c", "user.name=t", "-c", "user.email=t@localhost"];

export function commitAll(folder: string): void {
  execFileSync("git", ["add", "-A"], { cwd: folder });
  execFileSync("git", [...SOMEBODY, "commit", "-q", "--allow-empty", "-m", "work"], { cwd: folder });
}

/** `ralph/prd.md the content` */
export function writeText(folder: string, text: string): void {
  const [path = "", ...content] = text.split(" ");
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content.join(" "));
}

/** `US-001 {"passes":true}` */
export function changed(text: string, from: (id: string) => Story): Story {
  const [id = "", ...json] = text.split(" ");
  return { ...from(id), ...(JSON.parse(json.join(" ") || "{}") as Partial<Story>) };
}
