import type { StopReason } from "../../events.js";
import { firstPosition, type PipelinePosition, positionIn } from "../../recipes/pipeline/moves.js";
import { COMPLETE, type PipelineSpec } from "../../recipes/pipeline/spec.js";
import { ownMemory } from "../../recipes/protected.js";
import { ralphHome } from "../../records/home.js";
import type { RunStatus } from "../../records/run-state.js";
import { hasAnswer } from "../../records/words.js";
import { readSpec } from "../../run/spec.js";
import type { Formatter } from "../../views/format.js";
import { harmlessJson, harmlessLine } from "../../views/harmless.js";
import { latestRun } from "../find-run.js";
import { formatterFor, type OutputFlags, printAll } from "../output.js";

/** `ralph pipeline status`: where the pipeline of this folder stands, as its journal tells. */
export async function status(flags: Pick<OutputFlags, "json" | "color" | "emoji">): Promise<number> {
  const home = ralphHome();
  const folder = latestRun(home, process.cwd(), "pipeline");
  const { recipe, createdAt } = readSpec(folder);
  if (recipe.kind !== "pipeline") return 0;
  const state = folder.state();
  const position = positionIn(ownMemory(state?.memory)) ?? firstPosition(recipe.states, new Date(createdAt));
  const shown = {
    v: 1,
    run: folder.id,
    status: folder.status(state?.status),
    reason: state?.reason ?? null,
    specFile: recipe.specFile,
    prpFile: recipe.prpFile,
    state: position.state,
    retries: position.retries,
    maxRetries: recipe.maxGateRetries,
    inGutter: position.inGutter,
    question: hasAnswer(folder) ? null : (state?.question?.text ?? null),
    states: statesOf(recipe, position),
    history: position.history,
  };
  await printAll(flags.json ? `${harmlessJson(shown, 2)}\n` : text(shown, formatterFor(flags)));
  return 0;
}

interface StateShown {
  name: string;
  status: "passed" | "current" | "waiting";
}

function statesOf({ states }: PipelineSpec, { state }: PipelinePosition): StateShown[] {
  const current = state === COMPLETE ? states.length : states.findIndex(({ name }) => name === state);
  return states.map(({ name }, index) => {
    if (index < current) return { name, status: "passed" };
    return { name, status: index === current ? "current" : "waiting" };
  });
}

interface Shown extends Pick<PipelinePosition, "state" | "retries" | "inGutter" | "history"> {
  run: string;
  status: RunStatus;
  /** Why it stopped, where it has. */
  reason: StopReason | null;
  specFile: string;
  maxRetries: number;
  /** What the agent wants to know, until it is answered. */
  question: string | null;
  states: StateShown[];
}

function text(shown: Shown, { mark, paint }: Formatter): string {
  const {
    run,
    status: runs,
    reason,
    specFile,
    state,
    retries,
    maxRetries,
    inGutter,
    states,
    history,
  } = shown;
  const marks = { passed: mark.ok, current: inGutter ? mark.alarm : mark.active, waiting: mark.pending };
  const tries = state === COMPLETE ? "" : ` (retry ${retries}/${maxRetries})`;
  return `${[
    paint("bold", `Pipeline for ${harmlessLine(specFile)}`),
    `Run: ${run} (${runs === "finished" && state !== COMPLETE ? (reason ?? runs) : runs})`,
    `State: ${state}${tries}${inGutter ? ", in the gutter" : ""}`,
    "",
    ...states.map(({ name, status: stands }) => `${marks[stands]} ${name}`),
    "",
    "History:",
    ...history.map((line) => `  ${line}`),
    ...goOn(shown),
  ].join("\n")}\n`;
}

function goOn({ run, status: runs, state, question }: Shown): string[] {
  if (state === COMPLETE || runs === "running" || runs === "waiting") return [];
  if (question === null) return ["", "Go on with: ralph pipeline resume"];
  const answer = `ralph answer ${run} "TEXT", and then: ralph pipeline resume`;
  return ["", `Question: ${harmlessLine(question)}`, `Answer it with: ${answer}`];
}
