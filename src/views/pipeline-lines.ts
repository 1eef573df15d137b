import { becameOf } from "../baseline.js";
import type { GateFinished, LoopEvent, StateChanged } from "../events.js";
import type { RunState } from "../records/run-state.js";
import type { ConsoleFormatter } from "./agent-lines.js";
import { harmless, harmlessLine } from "./harmless.js";

/** The lines of a pipeline, one block for each try of a state. undefined: the event is shown as elsewhere. */
export function pipelineLines(
  event: LoopEvent,
  state: Readonly<RunState>,
  format: ConsoleFormatter,
): string[] | undefined {
  const { paint, mark } = format;
  const mode = harmlessLine(state.iteration?.mode ?? "");
  switch (event.type) {
    case "iteration.started": {
      const { count, max } = event.retries ?? { count: 0, max: 0 };
      const line = paint("bold", `State: ${mode} (retry ${count}/${max})`);
      return event.iteration === 1 ? ["", line] : [line];
    }
    case "agent.started":
      if (event.attempt > 1) return undefined;
      return [paint("dim", `[${harmlessLine(event.agent)} works on ${mode}]`)];
    case "check.started":
      return [`Running: ${harmlessLine(event.command)}`];
    case "check.finished":
      return [];
    case "gate.finished":
      return gateLines(event, state, format);
    case "state.changed":
      if (event.to === "GUTTER") return gutterLines(event, format);
      return [`Transition: ${harmlessLine(event.from)} ${mark.to} ${harmlessLine(event.to)}`];
    case "iteration.finished": {
      const isComplete = state.iteration?.states.at(-1)?.to === "COMPLETE";
      return isComplete ? ["", paint("green", `${mark.ok} PIPELINE COMPLETE`), ""] : [""];
    }
    default:
      return undefined;
  }
}

function gateLines(
  { passed, output, retries, maxRetries }: GateFinished,
  { iteration, baseline = [] }: Readonly<RunState>,
  { paint, paragraph, mark }: ConsoleFormatter,
): string[] {
  const check = iteration?.checks.at(-1);
  const became = check && becameOf(check, baseline);
  const since = became === undefined ? "" : ` (${became})`;
  const said = harmless(output).replace("✅", mark.ok).replace("❌", mark.error).replace("⚠️", mark.warning);
  const isTriedAgain = !passed && retries > 0 && retries < maxRetries;
  return [
    ...paragraph(`Output: ${said}`),
    passed ? paint("green", `Gate: PASS${since}`) : paint("red", `Gate: FAIL${since}`),
    ...(isTriedAgain ? [`Retry: ${retries}/${maxRetries}`] : []),
  ];
}

function gutterLines({ from, saved = [] }: StateChanged, { paint, mark }: ConsoleFormatter): string[] {
  const [log, patch] = saved;
  return [
    paint("red", `${mark.alarm} GUTTER REACHED: Max retries exhausted for state: ${harmlessLine(from)}`),
    ...(log === undefined ? [] : [`Last output saved to: ${log}`]),
    ...(patch === undefined ? [] : [`Changes saved to: ${patch}`]),
  ];
}
