import { formatDuration } from "../duration.js";
import type { Limits, LoopEvent } from "../events.js";
import { harmlessLine } from "./harmless.js";
import type { View } from "./view.js";

/** The same view with a `[ralph]` line on stderr for every step. */
export function verboseView(view: View): View {
  let limits: Limits | undefined;
  return {
    ...view,
    event(event, state) {
      if (event.type === "run.started" || event.type === "run.resumed") limits = event.limits ?? limits;
      for (const line of verboseLines(event, limits?.maxIterations ?? 0))
        view.note(`[ralph] ${harmlessLine(line)}`);
      return view.event(event, state);
    },
  };
}

function verboseLines(event: LoopEvent, maxIterations: number): string[] {
  switch (event.type) {
    case "run.started":
      return [`Run ${event.run} in ${event.workspace}`];
    case "run.resumed":
      return [`Resuming after iteration ${event.iterations}`];
    case "iteration.started":
      return [`Iteration ${event.iteration}/${maxIterations} starting`];
    case "agent.started":
      return [`Agent command: ${event.command.join(" ")}`, `Prompt: ${event.prompt.replace(/\n/g, "\\n")}`];
    case "agent.finished":
      return [`Agent exited with ${howItEnded(event)}`];
    case "check.started":
      return [`Running guardrail: ${event.command}`];
    case "check.finished":
      return [`Guardrail exited with ${howItEnded(event)}`];
    case "scm.finished":
      return [`SCM ${event.task}: ${event.passed ? "ok" : "failed"} (${formatDuration(event.durationMs)})`];
    case "limit.waiting":
      return [`Usage limit of ${event.agent}: waiting until ${event.until} (${event.message})`];
    case "violation":
      return [`Violation: ${event.what.replace(/\n/g, "\\n")}`];
    case "locks.removed":
      return [`Removed locks of a dead git: ${event.files.join(", ").replace(/\n/g, "\\n")}`];
    case "iteration.finished":
      return [`Completion check: ${event.reason} (iteration took ${formatDuration(event.durationMs)})`];
    default:
      return [];
  }
}

interface Ended {
  exitCode: number | null;
  signal: string | null;
  durationMs: number;
}

function howItEnded({ exitCode, signal, durationMs }: Ended): string {
  return `${signal === null ? `code ${exitCode}` : `signal ${signal}`} (${formatDuration(durationMs)})`;
}
