/** A check begins. */
export interface CheckStart {
  name?: string;
  command: string;
  /** Which of the checks it is, from 1 on, where they may not run in their order. */
  place?: number;
  /** The first one of checks that run once more says why. */
  again?: string;
}

/** A check has ended, or was not run. */
export interface CheckEnd {
  name?: string;
  /** Of a hidden check: its name. */
  command: string;
  /** Agents do not see it: they learn only whether it passed. */
  hidden?: true;
  exitCode: number | null;
  signal: string | null;
  timedOut: boolean;
  passed: boolean;
  durationMs: number;
  log: string;
  /** The end of what it printed; all of it is in the log. */
  output: string;
  /** The same word for failures that name the same tests. */
  failing?: string;
  /** Why it has failed though it exited 0. */
  why?: string;
  /** What came of it each time on the same files, where that differs: `passed`, `exit code 1`. */
  flaky?: string[];
  /** Processes that it left running: they were ended. */
  left?: number;
  /** It replaces an earlier result of this iteration at the same place. */
  again?: true;
  /** What a failure does to the next prompt. */
  failAction?: string;
  /**
   * It was not run: its inputs are unchanged since it passed (which counts as passed), or another check had
   * failed before (which does not), or an agent added it and there is no sandbox to run it in (nor does this).
   */
  skipped?: "unchanged" | "after_failure" | "untrusted";
  /** Which of the checks it is, from 1 on, where they may not run in their order. */
  place?: number;
  /** Why the log is incomplete, if it is. */
  logError?: string;
}
