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
