import { becameOf } from "../baseline.js";
import type {
  AgentStarted,
  BaselineCheck,
  GateFinished,
  IterationStarted,
  LoopEvent,
  StateChanged,
} from "../events.js";
import type { Formatter } from "./format.js";
import { harmless, harmlessLine } from "./harmless.js";

/** The lines of a pipeline, one block for each try of a state. undefined: the event is shown as elsewhere. */
export function createPipelineLines(format: Formatter): (event: LoopEvent) => string[] | undefined {
  let state: string | undefined;
  let isComplete = false;
  let baseline: BaselineCheck[] = [];
  let became: string | undefined;
  return (event) => {
    baseline = baselineIn(event) ?? baseline;
    if (event.type === "check.finished") became = becameOf(event, baseline);
    if (event.type === "iteration.started") state = event.retries && (event.mode ?? "");
    if (event.type === "state.changed") isComplete = event.to === "COMPLETE";
    if (state === undefined) return undefined;
    if (event.type === "iteration.finished") return closing(isComplete, format);
    return event.type === "gate.finished" ? gateLines(event, became, format) : linesOf(event, state, format);
  };
}

function baselineIn(event: LoopEvent): BaselineCheck[] | undefined {
  if (event.type === "baseline.finished") return event.checks;
  return event.type === "run.resumed" ? event.baseline : undefined;
}

function linesOf(event: LoopEvent, state: string, format: Formatter): string[] | undefined {
  switch (event.type) {
    case "iteration.started":
      return stateLines(event, format);
    case "agent.started":
      return event.attempt === 1 ? [atWork(event, state, format)] : undefined;
    case "check.started":
      return [`Running: ${harmlessLine(event.command)}`];
    case "check.finished":
      return [];
    case "state.changed":
      return event.to === "GUTTER" ? gutterLines(event, format) : [transition(event, format)];
    default:
      return undefined;
  }
}

function closing(isComplete: boolean, { paint, mark }: Formatter): string[] {
  return isComplete ? ["", paint("green", `${mark.ok} PIPELINE COMPLETE`), ""] : [""];
}

function stateLines({ iteration, mode = "", retries }: IterationStarted, { paint }: Formatter): string[] {
  const line = paint("bold", `State: ${harmlessLine(mode)} (retry ${retries?.count}/${retries?.max})`);
  return iteration === 1 ? ["", line] : [line];
}

function atWork({ agent }: AgentStarted, state: string, { paint }: Formatter): string {
  return paint("dim", `[${harmlessLine(agent)} works on ${harmlessLine(state)}]`);
}

function gateLines(
  { passed, output, retries, maxRetries }: GateFinished,
  became: string | undefined,
  format: Formatter,
): string[] {
  const { paint, paragraph, mark } = format;
  const said = harmless(output).replace("✅", mark.ok).replace("❌", mark.error).replace("⚠️", mark.warning);
  const since = became === undefined ? "" : ` (${became})`;
  const verdict = passed ? paint("green", `Gate: PASS${since}`) : paint("red", `Gate: FAIL${since}`);
  const isTriedAgain = !passed && retries > 0 && retries < maxRetries;
  return [
    ...paragraph(`Output: ${said}`),
    verdict,
    ...(isTriedAgain ? [`Retry: ${retries}/${maxRetries}`] : []),
  ];
}

function transition({ from, to }: StateChanged, { mark }: Formatter): string {
  return `Transition: ${harmlessLine(from)} ${mark.to} ${harmlessLine(to)}`;
}

function gutterLines({ from, saved = [] }: StateChanged, { paint, mark }: Formatter): string[] {
  const [log, patch] = saved;
  return [
    paint("red", `${mark.alarm} GUTTER REACHED: Max retries exhausted for state: ${harmlessLine(from)}`),
    ...(log === undefined ? [] : [`Last output saved to: ${log}`]),
    ...(patch === undefined ? [] : [`Changes saved to: ${patch}`]),
  ];
}
