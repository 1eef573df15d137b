import type { CostKey, CostRow, CostSum } from "../costs.js";
import type { FileChange, LaneResult, Question } from "../events.js";
import type { CheckRow, Look, PageIteration } from "../views/report/shapes.js";

/** What the server of `ralph ui` and its page say to each other. Types alone: the page loads nothing of the server. */

/** Where a run belongs on the overview, the most urgent first. */
export const GROUPS = ["needs you", "working", "waiting", "failed", "done"] as const;
export type Group = (typeof GROUPS)[number];

/** A run, as every list shows it. */
export interface RunRow {
  id: string;
  /** What people call it; its id where it has no name. */
  name: string;
  /** The worker whose loop it is. */
  worker: string | null;
  recipe: string;
  group: Group;
  /** How it stands or ended, in the words of `ralph runs`. */
  result: string;
  isLiving: boolean;
  /** null: its records cannot be read. */
  startedAt: string | null;
  lastAt: string | null;
  activeMs: number;
  iteration: number;
  maxIterations: number;
  /** null: unknown, which is not 0. */
  costUsd: number | null;
  agent: string;
  /** The folder that its user works in. */
  project: string;
  task: string;
  /** What it does now, or why it ended; a line. */
  line: string;
  question: AskedQuestion | null;
  /** Empty: it is one loop. */
  lanes: LaneStanding[];
}

export interface AskedQuestion extends Question {
  /** An answer is for this question alone: a later one has another identity. */
  id: string;
  /** Somebody has answered; the answer waits for the run to go on. */
  answered: boolean;
}

export interface Overview {
  version: string;
  /** Nothing can be changed here. */
  readOnly: boolean;
  /** How many runs there are in each group, whatever is shown of them. */
  counts: Record<Group, number>;
  /** The newest of each group. */
  rows: RunRow[];
  projects: string[];
}

export interface RunPage {
  row: RunRow;
  title: string;
  look: Look;
  message: string | null;
  /** Names and values, as `ralph report` has them. */
  facts: [name: string, value: string][];
  totals: [name: string, value: string][];
  limits: {
    maxIterations: number;
    maxCostUsd: number | null;
    maxTokens: number | null;
    maxTimeMs: number | null;
  };
  iterations: PageIteration[];
  checks: CheckRow[];
  files: FileChange[];
  /** Empty: the run is one loop. */
  lanes: LaneCard[];
  stories: StoryCard[];
  states: StateCard[];
  /** Words that the next iteration gets. */
  steering: string[];
  /** What can be done with it now. */
  actions: Action[];
  /** Lines of the journal that cannot be read. */
  unreadable: number;
  records: string;
}

export interface LaneStanding {
  lane: string;
  /** What becomes of it now, or has become of it. */
  standing: string;
  look: Look;
}

export interface LaneCard extends Omit<LaneResult, "worktree">, LaneStanding {
  /** Its work waits for its turn in the landing queue, or is about to land. */
  isQueued: boolean;
  /** With which other lanes its work would conflict. */
  overlaps: string[];
}

export interface StoryCard {
  story: string;
  title: string;
  state: string;
  reviews: number;
  atCap: boolean;
  iterations: number;
  costUsd: number | null;
  dependsOn: string[];
}

/** A state of a pipeline, and the iterations that worked on it. */
export interface StateCard {
  name: string;
  goal: string;
  gate: string;
  look: Look;
  iterations: number[];
}

export type Action = "answer" | "steer" | "pause" | "resume" | "raise" | "kill" | "land" | "pr";

/** An event of the journal, as people read it. */
export interface Entry {
  /** Which line of the journal it is, from 0 on. */
  line: number;
  /** Where the next one begins. */
  next: number;
  ts: string;
  iteration: number;
  kind: "text" | "tool" | "output" | "todo" | "note" | "check" | "iteration" | "end";
  look?: Look;
  text: string;
  /** What can be unfolded; with the colours that a program printed. */
  more?: string;
  /** Of a tool and of its output. */
  id?: string;
  /** A piece that continues the text before it. */
  delta?: true;
  message?: string;
  subagent?: true;
  lane?: string;
}

/** A part of a journal: its lines from `first` on. */
export interface EntryPage {
  first: number;
  /** The line after the last one. */
  end: number;
  /** How many lines there are. */
  total: number;
  /** Where the line after this page begins. */
  next: number;
  entries: Entry[];
  /** Where each iteration begins. */
  iterations: { iteration: number; line: number; lane?: string }[];
}

export interface DiffPage {
  /** The commit that was checked out when it was made. */
  commit: string | null;
  /** What happened to each file, as git has it. */
  pieces: { id: string; patch: string }[];
  /** Why there is nothing to show. */
  why?: string;
}

export interface Costs {
  since: string;
  by: CostKey;
  rows: CostRow[];
  total: CostSum;
}

/** A part of a file of the records, as text, beside the names of the others. */
export interface RecordPage {
  files: { name: string; bytes: number }[];
  name: string;
  bytes: number;
  /** Where the part begins. */
  from: number;
  output: string;
}
