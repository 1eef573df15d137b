import { witnessOf } from "../baseline.js";
import type { BaselineCheck } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Events, Run } from "./run.js";

/** Runs the checks once before the first iteration, if asked to: what fails then is not the agent's fault. */
export async function* runBaseline({ recipe, effects, state }: Run): Events<void> {
  if (recipe.baseline === undefined || state.baseline !== undefined || state.iterations > 0) return;
  const results = yield* recipe.baseline({ iteration: 0, ...effects.signals });
  if (results !== undefined && results.length > 0)
    yield {
      type: "baseline.finished",
      checks: results.map(({ command, passed, output }) => {
        const both = { before: passed, now: passed };
        return { command, ...both, witness: witnessOf(both), ...(!passed && { output }) };
      }),
    };
}

/** The state of each check, without its output. */
export function baselineNow({ baseline }: Pick<RunState, "baseline">): { baseline?: BaselineCheck[] } {
  if (baseline === undefined) return {};
  const now = baseline.map((check) => {
    const { command, before, now } = check;
    return { command, before, now, witness: witnessOf(check) };
  });
  return { baseline: now };
}

/** Appends the baseline to the prompt of any recipe. `about`: names of the checks to include, else all. */
export function withBaseline(
  prompt: string,
  { baseline = [] }: Pick<RunState, "baseline">,
  about?: string[],
): string {
  const failing = baseline.filter(({ command, now }) => !now && (about?.includes(command) ?? true));
  const old = failing.filter(({ before }) => !before);
  const broken = failing.filter(({ before }) => before);
  return [
    prompt,
    part("These checks failed before this run began, and they must pass:", old),
    part("These checks passed before this run began; this run broke them:", broken),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

function part(title: string, checks: BaselineCheck[]): string {
  return checks.length === 0 ? "" : [title, ...checks.map(item)].join("\n");
}

function item({ command, output = "" }: BaselineCheck): string {
  const said = output.trim();
  const lines = said === "" ? [] : ["  It said then:", ...said.split("\n").map((line) => `      ${line}`)];
  return [`- ${command.replaceAll("\n", "\n  ")}`, ...lines].join("\n");
}
