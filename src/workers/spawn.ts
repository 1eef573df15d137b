import { statSync } from "node:fs";
import { resolve } from "node:path";
import { describeSystemError, RalphError } from "../errors.js";
import type { Assignment } from "./assignment.js";
import { checkName } from "./folder.js";
import { type Opened, type Opener, openLoop } from "./open.js";
import { reserveName } from "./reserve.js";
import { requireTmux, tmuxAt, tmuxPlace } from "./tmux.js";

/** Flags that make a worker of a command. */
export interface WorkerFlags {
  name: string;
  tag?: string[];
  env?: string[];
  cwd?: string;
  session?: string;
  tmuxSocket?: string;
}

export interface Spawned extends Opened {
  session: string;
}

/** All or nothing: a worker that does not come to be leaves nothing behind. A number is its exit code. */
export async function spawnWorker(
  home: string,
  flags: WorkerFlags,
  argv: string[],
  opener: Opener,
): Promise<Spawned | number> {
  const assignment = assignmentFor(home, flags, argv);
  requireTmux();
  const reservation = reserveName(home, assignment.name);
  try {
    const opened = await openLoop(tmuxAt(home, assignment.tmux), assignment, opener);
    if (typeof opened === "number") reservation.giveBack();
    else reservation.keep();
    return typeof opened === "number" ? opened : { ...opened, session: assignment.tmux.session };
  } catch (error) {
    reservation.giveBack();
    throw error;
  }
}

function assignmentFor(home: string, flags: WorkerFlags, argv: string[]): Assignment {
  const ownEnv = Object.fromEntries((flags.env ?? []).map(variable));
  return {
    name: checkName(flags.name),
    argv,
    cwd: folderIn(flags.cwd ?? "."),
    env: { ...currentEnvironment(), ...ownEnv },
    ownEnv,
    tags: flags.tag ?? [],
    tmux: checkedPlace(home, flags),
  };
}

export function currentEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function variable(given: string): [string, string] {
  const at = given.indexOf("=");
  const name = given.slice(0, Math.max(at, 0));
  if (/^[A-Za-z_]\w*$/.test(name)) return [name, given.slice(at + 1)];
  throw new RalphError(`--env ${at === -1 ? given : name}: expected NAME=VALUE`, { code: "flag_invalid" });
}

function folderIn(given: string): string {
  const path = resolve(given);
  try {
    if (statSync(path).isDirectory()) return path;
  } catch (error) {
    throw new RalphError(`--cwd ${given}: ${describeSystemError(error)}`, {
      code: "flag_invalid",
      cause: error,
    });
  }
  throw new RalphError(`--cwd ${given}: it is no folder`, { code: "flag_invalid" });
}

/** tmux takes `.` and `:` in the name of a session for something else. */
function checkedPlace(home: string, flags: WorkerFlags) {
  const { session, tmuxSocket } = flags;
  if (session !== undefined && !/^[\w-]+$/.test(session)) {
    throw new RalphError(`--session ${JSON.stringify(session)}: expected letters, digits, - and _`, {
      code: "flag_invalid",
    });
  }
  if (tmuxSocket === "") throw new RalphError('--tmux-socket "": expected a name', { code: "flag_invalid" });
  return tmuxPlace(home, flags);
}
