/** What happens to the lanes of a run with several loops; `lane` of the event says to which. */
export interface LaneEvents {
  /** A lane begins, or goes on; before anything of it is made. */
  "lane.started": {
    /** From 0 on; no two lanes at work have the same one. */
    slot: number;
    branch: string;
    /** The top folder of its checkout. */
    worktree: string;
    /** The commit that it began with. */
    base: string;
    title?: string;
  };
  /** A story is not begun yet, because its text names a file that a lane at work has changed. */
  "lane.waiting": {
    for: string;
    file: string;
  };
  /** Its work and that of another lane at work would conflict in these files; none: not any more. */
  "lane.overlaps": {
    with: string;
    files: string[];
  };
  /** The queue did not land its work, and gives it back to its agent. */
  "lane.returned": {
    /** 1 or 2. */
    try: number;
    reason: string;
    message: string;
    /** The commit that the lane has to be merged with. */
    target: string;
    /** The commit that was not landed: its review stands as long as its changes do. */
    tip?: string;
  };
  /** The queue cannot land its work, and no agent can change that. */
  "lane.blocked": {
    message: string;
  };
}

/** What became of a lane. */
export interface LaneResult {
  lane: string;
  title?: string;
  /** `landed`: its work is on the branch of the run; `won`: it is the result of a race. */
  result: "landed" | "won" | "passed" | "blocked" | "failed" | "stopped" | "waiting";
  /** Where that is not its success: why. Also of work that landed and that nothing verified. */
  message?: string;
  branch: string;
  /** null: it is gone, as its work has landed, or was never made. */
  worktree: string | null;
  iterations: number;
  costUsd: number | null;
  /** Of a race: lines that it added and removed. */
  changedLines?: number;
}

/** How a run with several lanes ended. */
export interface LanesEnd {
  /** The branch that holds the result. */
  branch?: string;
  lanes?: LaneResult[];
}

/** How work comes into a branch. */
export interface LandingEvents {
  /** The commit that is to land is made; it is verified now, and then the branch moves from `old` to `new`. */
  "landing.started": LandingMove & {
    /** The checks that verify it. */
    checks: Pick<LandingCheck, "name" | "command">[];
    /** One commit in place of a merge. */
    squash?: true;
  };
  /** Verified, proved and moved. */
  "landing.landed": LandingMove & {
    /** The checks that passed on the commit, twice. */
    checks: LandingCheck[];
    /** Nothing verified it: the user has allowed that. */
    unverified?: true;
    /** The file that says what was verified, or why there is none. */
    receipt?: string;
    unproven?: string;
  };
  /** Nothing has moved. */
  "landing.refused": Partial<LandingMove> & {
    into: string;
    tip: string;
    reason: LandingRefusal;
    message: string;
    files?: string[];
    /** Of one that is flaky: how it ended first, and then. */
    checks?: LandingCheck[];
  };
  /** What was landed is in the branch: the worktree and the branch that it came from are gone. */
  "landing.cleaned": {
    worktree: string | null;
    branch: string;
  };
}

/** A landing: `tip` is the work, `old` and `new` are where the branch `into` stood before and stands then. */
interface LandingMove {
  into: string;
  tip: string;
  old: string;
  new: string;
  /** The stories that it is about. */
  stories?: string[];
  /** The worktree and the branch of the run stay. */
  keep?: true;
}

export interface LandingCheck {
  name?: string;
  command: string;
  passed: boolean;
  durationMs: number;
  log: string;
}

export type LandingRefusal =
  | "conflict"
  /** The checks failed on the merged files, twice. */
  | "red"
  | "flaky"
  /** Work that landed earlier would be gone. */
  | "lost"
  /** Somebody else moved the branch, again and again. */
  | "moved"
  /** The branch is checked out, and that checkout is not free. */
  | "in_the_way"
  /** git cannot. */
  | "failed";
