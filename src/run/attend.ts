import { formatDuration } from "../duration.js";
import { type Awake, keepAwake } from "../process/awake.js";
import { which } from "../process/which.js";
import { createRedactor } from "../records/redact.js";
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
  { workspace, origin: folder = workspace, worker }: RunSpec,
  { notify: targets, verbose }: Attendance,
): Promise<Attendant> {
  if (targets === undefined) return (view) => view;
  const { notifyingView } = await import("../views/notify.js");
  const { capture } = await import("../process/capture.js");
  const env = withoutRepository(process.env);
  return (view) =>
    notifyingView(view, {
      ...{ targets, verbose, name: worker ?? null, redact: createRedactor(process.env) },
      find: (names) =>
        names.flatMap((name) => {
          const found = which(name, "/", env["PATH"]);
          return found.status === "found" ? [found.path] : [];
        })[0],
      async run(file, args, stdin, timeoutMs) {
        const options = { timeoutMs, graceMs: NOTIFY_GRACE_MS };
        const { ok, timedOut, ...ended } = await capture({ file, args, cwd: folder, env, stdin }, options);
        if (ok) return undefined;
        if (timedOut) return `it took longer than ${formatDuration(timeoutMs)}`;
        const how = ended.spawnError?.message ?? ended.signal ?? `exit ${ended.exitCode}`;
        // What it said last tells most.
        const last = ended.stderr.trimEnd().split("\n").at(-1) ?? "";
        return last === "" ? how : `${how}: ${last}`;
      },
    });
}

const NOTIFY_GRACE_MS = 500;

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
