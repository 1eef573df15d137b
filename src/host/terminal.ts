import type { RunFolder } from "../state/runs.js";
import type { View } from "../views/view.js";
import { type RecordOptions, recordedRun } from "./recorded.js";
import { handleSignals } from "./signals.js";
import type { RunSpec } from "./spec.js";

export interface HostOptions extends Omit<RecordOptions, "signals" | "onStart"> {
  /** Told where the records are. */
  view(folder: RunFolder): View;
}

/** Runs a loop in this process and shows it; signals end it. Returns the exit code. */
export async function hostRun(spec: RunSpec, options: HostOptions): Promise<number> {
  let view: View | undefined;
  const handler = handleSignals(() => {
    view?.note("Received signal, shutting down...");
    view?.note("What is at work may finish; a second signal ends it now.");
  });
  const { kill } = handler.signals;
  const killed = new Promise<void>((resolve) =>
    kill.addEventListener("abort", () => resolve(), { once: true }),
  );
  const events = recordedRun(spec, {
    ...options,
    signals: handler.signals,
    onStart: (folder) => {
      view = options.view(folder);
    },
  });
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value.exitCode;
      const shown = view?.event(step.value);
      if (shown !== undefined) await Promise.race([shown, killed]);
    }
  } finally {
    await events.return(undefined as never);
    handler.release();
    view?.close();
  }
}
