import { formatDuration } from "../duration.js";
import type { Signals } from "../loop/effects.js";
import { type Awake, keepAwake } from "../process/companion.js";
import { which } from "../process/which.js";
import { advanceRun } from "../records/lanes.js";
import { createRedactor } from "../records/redact.js";
import type { RunState } from "../records/run-state.js";
import type { RunFolder } from "../records/runs.js";
import type { View } from "../views/view.js";
import { withoutRepository } from "../workspace/git.js";
import { recordedRun } from "./recorded.js";
import { handleSignals } from "./signals.js";
import type { Host, PreparedRun } from "./spec.js";

/** How to show a run, and what the host gives it. */
export interface ShowOptions extends Omit<Host, "signals" | "onStart"> {
  view(folder: RunFolder): View;
  /** Follows the events besides the view: notifies people, keeps the machine awake. */
  attendance?: { keepAwake: boolean; verbose: boolean } | undefined;
}

/** Runs a loop in this process and shows it until it ends. Returns the exit code. */
export async function hostRun(prepared: PreparedRun, showing: ShowOptions, given?: Signals): Promise<number> {
  let view: View | undefined;
  // Its own fold over the written events: the state of the loop holds secrets.
  let state: RunState | undefined;
  const handler = given
    ? undefined
    : handleSignals(() => {
        view?.note("Received signal, shutting down...");
        view?.note("The current step may finish; a second signal ends it now.");
      });
  const signals = given ?? (handler?.signals as Signals);
  const { keepAwake: isKept = false, verbose = false } = showing.attendance ?? {};
  const notifying = showing.attendance && (await notifierFor(prepared, verbose));
  const killed = new Promise<void>((resolve) =>
    signals.kill.addEventListener("abort", () => resolve(), { once: true }),
  );
  const events = recordedRun(prepared, {
    ...showing,
    signals,
    onStart(folder, start) {
      state = start;
      const shown = showing.view(folder);
      const notified = notifying?.(shown) ?? shown;
      view = isKept ? awakeView(notified, verbose) : notified;
    },
  });
  try {
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value.exitCode;
      const shown = state && view?.event(step.value, advanceRun(state, step.value));
      if (shown !== undefined) await Promise.race([shown, killed]);
    }
  } finally {
    await events.return(undefined as never);
    view?.close();
    handler?.release();
  }
}

const NOTIFY_GRACE_MS = 500;

async function notifierFor(
  { spec, settings: { notify: targets } }: PreparedRun,
  verbose: boolean,
): Promise<((view: View) => View) | undefined> {
  if (targets === undefined) return undefined;
  const { notifyingView } = await import("../views/notify.js");
  const { capture } = await import("../process/run.js");
  const { workspace, origin: cwd = workspace, worker: name = null } = spec;
  const env = withoutRepository(process.env);
  const find = (names: string[]): string | undefined =>
    names
      .map((one) => which(one, "/", env["PATH"]))
      .flatMap((found) => (found.status === "found" ? [found.path] : []))[0];
  const run = async (file: string, args: string[], stdin: string, timeoutMs: number) => {
    const options = { timeoutMs, graceMs: NOTIFY_GRACE_MS };
    const { ok, timedOut, ...ended } = await capture({ file, args, cwd, env, stdin }, options);
    if (ok) return undefined;
    if (timedOut) return `it took more than ${formatDuration(timeoutMs)}`;
    const how = ended.spawnError?.message ?? ended.signal ?? `exit ${ended.exitCode}`;
    // The end of the message says most.
    const last = ended.stderr.trimEnd().split("\n").at(-1) ?? "";
    return last === "" ? how : `${how}: ${last}`;
  };
  const redact = createRedactor(process.env);
  return (view) => notifyingView(view, { targets, verbose, name, redact, find, run });
}

/** No machine falls asleep so soon, and a short run does not wait for the helper to start. */
const AWAKE_AFTER_MS = 1000;

/** The same view, which keeps the machine awake while the loop runs, but not in a pause. */
function awakeView(view: View, verbose: boolean): View {
  let awake: Awake | undefined;
  let timer: NodeJS.Timeout | undefined;
  const say = (text: string): void => {
    if (verbose) view.note(`[ralph] ${text}`);
  };
  const mayFall = (why: string): void => say(`The machine may fall asleep: ${why}`);
  const begin = (): void => {
    awake ??= keepAwake(mayFall);
    if (awake === undefined) mayFall("neither systemd-inhibit nor caffeinate is there");
    else say(`Keeping the machine awake with ${awake.program}`);
  };
  const end = (): void => {
    clearTimeout(timer);
    awake?.release();
    awake = undefined;
  };
  return {
    ...view,
    event(event, state) {
      const { type } = event;
      if (type === "run.started" || type === "run.resumed") timer = setTimeout(begin, AWAKE_AFTER_MS).unref();
      if (type === "run.paused" || type === "run.finished") end();
      return view.event(event, state);
    },
    close() {
      end();
      view.close();
    },
  };
}
