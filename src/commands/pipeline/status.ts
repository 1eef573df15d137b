import { firstPosition, positionIn } from "../../recipes/pipeline/moves.js";
import { COMPLETE } from "../../recipes/pipeline/spec.js";
import { ownMemory } from "../../recipes/protected.js";
import { ralphHome } from "../../records/home.js";
import { hasAnswer } from "../../records/words.js";
import { readSpec } from "../../run/spec.js";
import type { Formatter } from "../../views/format.js";
import { harmlessJson, harmlessLine } from "../../views/harmless.js";
import { latestRun } from "../find-run.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";

/** `ralph pipeline status`: where the pipeline of this folder stands, as its journal tells. */
export async function status(flags: Pick<OutputFlags, "json" | "color" | "emoji">): Promise<number> {
  const shown = pipelineOf(latestRun(ralphHome(), process.cwd(), "pipeline"));
  if (shown === undefined) return 0;
  const lines = flags.json ? [harmlessJson(shown, 2)] : linesOf(shown, formatterFor(flags));
  await printAll(`${lines.join("\n")}\n`);
  return 0;
}

function pipelineOf(folder: ReturnType<typeof latestRun>) {
  const { recipe, createdAt } = readSpec(folder);
  if (recipe.kind !== "pipeline") return undefined;
  const run = folder.state();
  const { state, retries, inGutter, history } =
    positionIn(ownMemory(run?.memory)) ?? firstPosition(recipe.states, new Date(createdAt));
  const names = recipe.states.map(({ name }) => name);
  const current = state === COMPLETE ? names.length : names.indexOf(state);
  const statusOf = (index: number) =>
    index < current ? "passed" : index === current ? "current" : "waiting";
  return {
    v: 1,
    run: folder.id,
    status: folder.status(run?.status),
    /** Why it stopped, where it has. */
    reason: run?.reason ?? null,
    specFile: recipe.specFile,
    prpFile: recipe.prpFile,
    state,
    retries,
    maxRetries: recipe.maxGateRetries,
    inGutter,
    /** What the agent wants to know, until it is answered. */
    question: hasAnswer(folder) ? null : (run?.question?.text ?? null),
    states: names.map((name, index) => ({ name, status: statusOf(index) }) as const),
    history,
  };
}

type Shown = NonNullable<ReturnType<typeof pipelineOf>>;

function linesOf(shown: Shown, { mark, paint }: Formatter): string[] {
  const { state, inGutter } = shown;
  const marks = { passed: mark.ok, current: inGutter ? mark.alarm : mark.active, waiting: mark.pending };
  const tries = state === COMPLETE ? "" : ` (retry ${shown.retries}/${shown.maxRetries})`;
  const ended = shown.status === "finished" && state !== COMPLETE ? shown.reason : null;
  return [
    paint("bold", `Pipeline for ${harmlessLine(shown.specFile)}`),
    `Run: ${shown.run} (${ended ?? shown.status})`,
    `State: ${state}${tries}${inGutter ? ", in the gutter" : ""}`,
    "",
    ...shown.states.map(({ name, status: stands }) => `${marks[stands]} ${name}`),
    "",
    "History:",
    ...shown.history.map((line) => `  ${line}`),
    ...goOn(shown),
  ];
}

function goOn({ run, status: runs, state, question }: Shown): string[] {
  if (state === COMPLETE || runs === "running" || runs === "waiting") return [];
  if (question === null) return ["", "Go on with: ralph pipeline resume"];
  const answer = `ralph answer ${run} "TEXT", and then: ralph pipeline resume`;
  return ["", `Question: ${harmlessLine(question)}`, `Answer it with: ${answer}`];
}
