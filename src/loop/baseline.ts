import type { BaselineCheck, CheckFinished } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { Events, Run } from "./run.js";

/** Runs the checks once before the first iteration, where that was asked for: what fails then is nobody's fault. */
export async function* runBaseline({ recipe, effects, state }: Run): Events<void> {
  if (recipe.baseline === undefined || state.baseline !== undefined || state.iterations > 0) return;
  const results = yield* recipe.baseline({ iteration: 0, ...effects.signals });
  if (results !== undefined && results.length > 0)
    yield { type: "baseline.finished", checks: results.map(checkOf) };
}

function checkOf({ command, passed, output }: CheckFinished): BaselineCheck {
  return { command, before: passed, now: passed, ...(!passed && { output }) };
}

/** Where the checks stand, without what they said. */
export function baselineNow({ baseline }: Pick<RunState, "baseline">): { baseline?: BaselineCheck[] } {
  if (baseline === undefined) return {};
  return { baseline: baseline.map(({ command, before, now }) => ({ command, before, now })) };
}

/** Below the prompt, because every recipe has one. `about`: the only checks that it is about. */
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
    part("These checks failed before this run began. No iteration broke them, and they have to pass:", old),
    part("These checks passed before this run began, and were broken by it:", broken),
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
