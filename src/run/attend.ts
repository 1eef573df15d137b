import { type Awake, keepAwake } from "../process/awake.js";
import { ralphHome } from "../records/home.js";
import { createRedactor } from "../records/redact.js";
import { readRun, runFolder } from "../records/runs.js";
import type { NotifySettings } from "../settings/schema.js";
import type { View } from "../views/view.js";
import { withoutRepository } from "../workspace/git.js";
import type { RunSpec } from "./spec.js";

/** What is done while a run goes on, beside showing it. */
export interface Attendance {
  notify: NotifySettings | undefined;
  keepAwake: boolean;
  /** Whether every step is said. */
  verbose: boolean;
}

type Attendant = (view: View) => View;

/** The views that do it, around the one that shows the run. */
export async function attendantFor(spec: RunSpec, attendance: Attendance | undefined): Promise<Attendant> {
  if (attendance === undefined) return (view) => view;
  const notifying = await notifierFor(spec, attendance);
  return (view) => {
    const told = notifying(view);
    return attendance.keepAwake ? awakeView(told, attendance.verbose) : told;
  };
}

async function notifierFor(
  { id, workspace, origin = workspace, worker }: RunSpec,
  { notify, verbose }: Attendance,
): Promise<Attendant> {
  if (notify === undefined) return (view) => view;
  const { notifyingView } = await import("../views/notify/notifying-view.js");
  const redact = createRedactor(process.env);
  const place = { folder: origin, env: withoutRepository(process.env), redact };
  const costUsd = readRun(runFolder(ralphHome(), id))?.state.costUsd ?? null;
  const about = { name: worker ?? null, costUsd, verbose };
  return (view) => notifyingView(view, { settings: notify, ...about, ...place });
}

/** The same view; the machine does not fall asleep while the loop is at work. A pause lets it. */
function awakeView(view: View, verbose: boolean): View {
  let awake: Awake | undefined;
  const say = (text: string): void => {
    if (verbose) view.note(`[ralph] ${text}`);
  };
  const begin = (): void => {
    if (awake !== undefined) return;
    awake = keepAwake((why) => say(`The machine may fall asleep: ${why}`));
    say(
      awake === undefined
        ? "The machine may fall asleep: neither systemd-inhibit nor caffeinate is there"
        : `Keeping the machine awake with ${awake.program}`,
    );
  };
  const end = (): void => {
    awake?.release();
    awake = undefined;
  };
  return {
    ...view,
    event(event, state) {
      const shown = view.event(event, state);
      if (event.type === "run.started" || event.type === "run.resumed") begin();
      if (event.type === "run.paused" || event.type === "run.finished") end();
      return shown;
    },
    close() {
      end();
      view.close();
    },
  };
}
