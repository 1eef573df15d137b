import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckFinished } from "../../src/events.js";
import type { ChecksSpec } from "../../src/recipes/checks/checks.js";
import { judge, verdictOf } from "../../src/recipes/checks/verdict.js";
import type { PipelineSpec } from "../../src/recipes/pipeline/pipeline.js";
import type { PipelineState } from "../../src/recipes/pipeline/pipeline-state.js";
import { whyNot } from "../../src/recipes/pipeline/run-gate.js";
import { NOT_SEALED } from "../../src/recipes/pipeline/sealed.js";
import { promptRecipe } from "../../src/recipes/prompt/prompt.js";
import { repeatRecipe } from "../../src/recipes/prompt/repeat.js";
import type { Recipe } from "../../src/recipes/recipe.js";
import { storiesRecipe } from "../../src/recipes/stories/stories.js";
import type { Story } from "../../src/recipes/stories/tasks.js";
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
      return checksOf(one, "COMPLETE");
    case "checks-alone":
      return checksOf(one, null);
    case "stories":
      return storiesOf(one, context);
    case "gate":
      return gateOf(context);
    default:
      throw new Error(`${one.file}: ${one.name}: no such recipe: ${one.recipe}`);
  }
}

type Context = Pick<Parameters<typeof promptRecipe>[1], "workspace" | "env" | "redact">;

function promptOf({ prompt, checks }: Case, context: Context, donePattern?: string): Recipe {
  const failing = { command: "false", failAction: "APPEND", timeoutMs: 9000 } as const;
  return promptRecipe(
    {
      kind: "prompt",
      prompt,
      completionResponse: "DONE",
      ...(donePattern !== undefined && { donePattern }),
      guardrails: checks === "fail" ? [failing] : [],
      outputTruncateChars: 1000,
      includeIterationCountInPrompt: false,
    },
    { ...context, askForCommitMessage: async () => "" },
  );
}

/** The judgement of `ralph loop`, over checks that have run already. */
function checksOf({ prompt, checks }: Case, completionTag: string | null): Recipe {
  const spec: ChecksSpec = { kind: "checks", task: prompt, checks: ["c"], checkTimeoutMs: 9, completionTag };
  const passed = checks === "pass";
  return {
    name: "checks",
    verifies: true,
    plan: async () => ({ prompt }),
    async *verify(answer, { iteration }) {
      return verdictOf(judge(answer, [checked(iteration, passed)], spec));
    },
  };
}

function checked(iteration: number, passed: boolean): CheckFinished {
  const ran = { exitCode: passed ? 0 : 1, signal: null, timedOut: false, durationMs: 1, log: "", output: "" };
  return { type: "check.finished", iteration, command: "c", passed, ...ran };
}

const STATE: PipelineState = {
  ...{ name: "IMPLEMENT", goal: "", command: "npm test", exitCode: 0, onFail: "", onPass: "COMPLETE" },
  ...{ agent: "never", timeoutMs: 9000, runsTests: true },
};
const PIPELINE: PipelineSpec = {
  ...{ kind: "pipeline", specFile: "s", prpFile: "p", maxGateRetries: 1, states: [STATE], dirty: [] },
};

/** The judgement of a gate whose command has exited 0 and printed what the case says. */
function gateOf(context: Context): Recipe {
  const gate = { spec: PIPELINE, state: STATE, hasTests: false, sealed: NOT_SEALED };
  return {
    name: "pipeline",
    verifies: true,
    plan: async () => ({ prompt: "" }),
    async *verify({ finalMessage }) {
      const why = await whyNot(gate, context, finalMessage);
      if (why !== undefined) return { passed: false, reason: why, claimedDone: false };
      return { passed: true, reason: "the gate passed", claimedDone: false, stop: "completed" };
    },
  };
}

function storiesOf({ stories, checks, left }: Case, context: Context): Recipe {
  const { workspace } = context;
  mkdirSync(join(workspace, "ralph"));
  const list = stories.map((text) => changed(text, story));
  const verifyCommands = checks === "fail" ? ["false"] : [];
  writeFileSync(join(workspace, "ralph/tasks.json"), JSON.stringify({ ...tasks(...list), verifyCommands }));
  writeFileSync(join(workspace, "ralph/prd.md"), "what we want");
  writeFileSync(join(workspace, "ralph/prompt.md"), "Do the next story.");
  for (const file of left) writeText(workspace, file);
  const folderFor = (iteration: number): string => {
    const records = join(workspace, "records", String(iteration));
    mkdirSync(records, { recursive: true });
    return records;
  };
  const spec = { kind: "stories", dir: "ralph", reviewCap: 5, hasReviewer: false, dirty: [] } as const;
  return storiesRecipe(
    { ...spec, dirty: [], skipReview: false },
    { ...context, inRepository: false, records: join(workspace, "records"), folderFor },
  );
}

/** `ralph/prd.md the content` */
export function writeText(folder: string, text: string): void {
  const [path = "", ...content] = text.split(" ");
  writeFileSync(join(folder, path), content.join(" "));
}

/** `US-001 {"passes":true}` */
export function changed(text: string, from: (id: string) => Story): Story {
  const [id = "", ...json] = text.split(" ");
  return { ...from(id), ...(JSON.parse(json.join(" ") || "{}") as Partial<Story>) };
}
