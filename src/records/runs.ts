import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { orElse, RalphError } from "../errors.js";
import type { LoopEvent } from "../events.js";
import { has, makePrivateFolder, readJson } from "./files.js";
import { hiddenFolder, ralphHome, runNamed } from "./home.js";
import { type LockHolder, lockHolder } from "./lock.js";
import {
  type FollowedEvent,
  followJournal,
  type JournalReading,
  lastEvent,
  readEvents,
  readJournal,
} from "./read.js";
import type { Report } from "./report.js";
import type { RunState, RunStatus } from "./run-state.js";
import { revealedSpec, type SpecRecord, shownSpec } from "./spec.js";

/** One run and its files in `$RALPH_HOME/runs/<id>/`. Nothing is read before it is asked for, and nothing is kept. */
export class RunFolder {
  readonly path: string;
  readonly specFile: string;
  readonly journal: string;
  /** While this file is there, the loop waits before its next iteration. */
  readonly pause: string;
  /** What became of it on a forge. */
  readonly github: string;
  /** While this file is there, a worker of the fleet has the run, and these are copies of its records. */
  readonly elsewhere: string;
  /** Where its hidden checks leave what they printed. */
  readonly hidden: string;

  /** With `lane`, its path is that of the records of a lane; all else is as it is for the run. */
  constructor(
    readonly home: string,
    readonly id: string,
    lane?: string,
  ) {
    const path = join(home, "runs", id);
    this.path = lane === undefined ? path : join(path, "lanes", lane);
    this.specFile = `${path}/spec.json`;
    this.journal = `${path}/journal.ndjson`;
    this.pause = `${path}/paused`;
    this.github = `${path}/github.json`;
    this.elsewhere = `${path}/elsewhere`;
    this.hidden = join(hiddenFolder(home, id), lane ?? "");
  }

  /** What it was started with, as it may be shown. */
  shown(): SpecRecord {
    return shownSpec(this.specFile, this.id);
  }

  /** The same with the secrets of this environment in it. */
  spec(): SpecRecord {
    return revealedSpec(this.shown(), process.env);
  }

  /** What people call it now; its id where it has no name, or a later run has taken it. */
  name(): string {
    try {
      const { name = "" } = this.shown();
      return runNamed(this.home, name) === this.id ? name : this.id;
    } catch {
      return this.id;
    }
  }

  isThere(): boolean {
    return existsSync(this.specFile);
  }

  /** undefined until the run has written its first event. */
  read(): JournalReading | undefined {
    return existsSync(this.journal) ? readJournal(this.journal, this.id) : undefined;
  }

  state(): RunState | undefined {
    return this.read()?.state;
  }

  /** One look at the end of its journal. */
  lastEvent(): LoopEvent | undefined {
    return existsSync(this.journal) ? lastEvent(this.journal) : undefined;
  }

  /** The process that works at it: it holds the lock of the folder, or one of its own where it shares the folder. */
  loop(workspace = this.spec().workspace): LockHolder | undefined {
    const own = lockHolder(this.home, { workspace, sharedBy: this.id });
    if (own !== undefined || !existsSync(workspace)) return own;
    const holder = lockHolder(this.home, { workspace });
    return holder?.run === this.id ? holder : undefined;
  }

  /** A run that is not closed and that no process works at has crashed, unless a worker of the fleet has it. */
  status(recorded = this.state()?.status): RunStatus {
    if (recorded === "finished") return "finished";
    return this.loop() === undefined && !existsSync(this.elsewhere) ? "crashed" : (recorded ?? "running");
  }

  /** Its result so far. `unreadable`: lines of the journal that were left out. */
  async report(): Promise<{ report: Report; unreadable: number }> {
    const { reportOf } = await import("./report.js");
    const shown = this.shown();
    let unreadable = 0;
    const events = readEvents(this.journal, () => {
      unreadable += 1;
    });
    const report = reportOf(this.id, shown, this.status(), events, new Date());
    return { report, unreadable };
  }

  /** Adds what hidden checks ran and printed last. It is for people: nothing that agents read is made of it. */
  revealHidden({ iterations }: Report): void {
    const { hidden = [] } = this.shown();
    const seen = new Set<string>();
    for (const { lane = "", checks } of [...iterations].reverse())
      for (const check of checks.filter(({ hidden: isHidden }) => isHidden)) {
        const log = join(
          this.hidden,
          lane,
          `${hidden.findIndex(({ name }) => name === check.command) + 1}.log`,
        );
        if (!seen.has(log) && existsSync(log))
          Object.assign(check, { log, output: readFileSync(log, "utf8") });
        seen.add(log);
      }
  }

  /**
   * Its events as they are written, from an offset that an earlier one came with. Ends when no process works at the
   * run any more, unless `isOver` says when.
   */
  follow({
    from = 0,
    isOver = () => this.loop() === undefined,
    everyMs,
  }: {
    from?: number;
    isOver?: () => boolean;
    everyMs?: number;
  } = {}): AsyncGenerator<FollowedEvent> {
    return followJournal(this.journal, from, isOver, everyMs);
  }
}

export function runFolder(home: string, id: string): RunFolder {
  return new RunFolder(home, id);
}

/** Takes away what hidden checks of earlier runs in a project have left: it is for people, and not for the next agent. */
export function removeHidden(home: string, project: string): void {
  const folder = hiddenFolder(home);
  for (const id of existsSync(folder) ? readdirSync(folder) : []) {
    const known = orElse(() => runFolder(home, id).shown(), undefined);
    if (known === undefined || (known.origin ?? known.workspace) === project)
      rmSync(join(folder, id), { recursive: true, force: true });
  }
}

/** The folder for the records of a lane. */
export function laneFolder({ home, id }: RunFolder, lane: string): RunFolder {
  const folder = new RunFolder(home, id, lane);
  makePrivateFolder(dirname(folder.path));
  makePrivateFolder(folder.path);
  return folder;
}

/** All runs of a home. */
export function runsIn(home = ralphHome()) {
  return {
    /** The oldest first; with `count`, the newest so many. There may be thousands: only their names are looked at. */
    list(count = Number.POSITIVE_INFINITY): RunFolder[] {
      const found: RunFolder[] = [];
      const folder = join(home, "runs");
      for (const id of existsSync(folder) ? readdirSync(folder).sort().reverse() : []) {
        if (found.length >= count) break;
        const run = runFolder(home, id);
        if (run.isThere()) found.push(run);
      }
      return found.reverse();
    },

    /** By its id, by the beginning of it, by its name, or by that of its worker. */
    find(name: string): RunFolder {
      // A worker keeps the id of its run in its own folder.
      const worker = /^[\w-]+$/.test(name) ? readJson(join(home, "workers", name, "worker.json")) : undefined;
      const id = has(worker, { run: "string" }) ? String(worker["run"]) : (runNamed(home, name) ?? name);
      const found = this.list().filter((run) => run.id.startsWith(id));
      const [first] = found.length === 1 ? found : found.filter((run) => run.id === id);
      if (first !== undefined) return first;
      const [what, code] =
        found.length === 0
          ? [`no run is called ${name}`, "run_unknown"]
          : [`several runs begin with ${name}`, "run_ambiguous"];
      throw new RalphError(what, { code, hint: "ralph runs lists them" });
    },
  };
}

/** Marks everything a run starts, so that what outlived a crash of ralph is found on resume. */
export const RUN_VARIABLE = "RALPH_RUN";

/** Many runs can be started at the same moment: the last digits begin somewhere and count up. */
let lastDigits = Math.floor(Math.random() * 0x1000);

/** Sorts by time, and does not repeat: `20260126-185500-042f9a`. */
export function newRunId(now: Date): string {
  const [date, time] = now.toISOString().split("T") as [string, string];
  const stamp = `${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
  lastDigits = (lastDigits + 1) % 0x1000;
  return `${stamp}-${time.slice(9, 12)}${lastDigits.toString(16).padStart(3, "0")}`;
}

/** A new run never gets the folder of another one. */
export function createRunFolder(home: string, id: string): RunFolder {
  const folder = runFolder(home, id);
  makePrivateFolder(dirname(folder.path));
  mkdirSync(folder.path, { mode: 0o700 });
  return folder;
}

/** Folder for the records of one iteration, made when it is first asked for. */
export function iterationFolder(folder: RunFolder, iteration: number): string {
  const path = join(folder.path, "iterations", String(iteration).padStart(3, "0"));
  // An agent that could plant a link here would say where ralph writes.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
  // Without the folder of the run there are no records: it is not made again.
  for (const part of [dirname(path), path]) if (!existsSync(part)) mkdirSync(part, { mode: 0o700 });
  return path;
}
