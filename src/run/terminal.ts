import type { Signals } from "../loop/effects.js";
import { advance, type RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import type { View } from "../views/view.js";
import { type Attendance, attendantFor } from "./attend.js";
import { type RecordOptions, recordedRun } from "./recorded.js";
import { handleSignals } from "./signals.js";
import type { RunSpec } from "./spec.js";

export interface HostOptions extends Omit<RecordOptions, "signals" | "onStart"> {
  /** Told where the records are. */
  view(folder: RunFolder): View;
  /** What else is done while it runs, beside showing it. */
  attendance?: Attendance | undefined;
}

/** Runs a loop in this process and shows it; signals end it. Returns the exit code. */
export async function hostRun(spec: RunSpec, options: HostOptions): Promise<number> {
  let view: View | undefined;
  const handler = handleSignals(() => {
    view?.note("Received signal, shutting down...");
    view?.note("What is at work may finish; a second signal ends it now.");
  });
  const noted = {
    ...options,
    view: (folder: RunFolder): View => {
      view = options.view(folder);
      return view;
    },
  };
  try {
    return await showRun(spec, noted, handler.signals);
  } finally {
    handler.release();
  }
}

/** Runs a loop and shows it, until it has ended or the signals end it. */
export async function showRun(spec: RunSpec, options: HostOptions, signals: Signals): Promise<number> {
  let view: View | undefined;
  // A fold of its own over what was written down: the loop's has secrets in it.
  let state: RunState | undefined;
  const attended = await attendantFor(spec, options.attendance);
  const { kill } = signals;
  const killed = new Promise<void>((resolve) =>
    kill.addEventListener("abort", () => resolve(), { once: true }),
  );
  const events = recordedRun(spec, {
    ...options,
    signals,
    onStart: (folder, start) => {
      state = start;
      view = attended(options.view(folder));
    },
  });
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value.exitCode;
      const shown = state && view?.event(step.value, advance(state, step.value));
      if (shown !== undefined) await Promise.race([shown, killed]);
    }
  } finally {
    await events.return(undefined as never);
    view?.close();
  }
}
