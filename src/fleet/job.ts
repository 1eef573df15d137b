import type { LoopEvent, RunFinished } from "../events.js";
import type { RunRequest } from "../run/spec.js";

/** The version of what a job holds. A worker leaves newer ones to others. */
export const JOB_VERSION = 1;

/** A run that waits for a worker, or is at one: plain data, and no secret in it. */
export interface JobData {
  v: number;
  /** Of the run, too. */
  id: string;
  createdAt: string;
  name: string;
  /** Where the code is. */
  remote: string;
  /** The commit that the run starts from. */
  base: string;
  /** The branch of the remote that the run writes, and nobody else. */
  branch: string;
  /** The folder in the repository that it works in. */
  folder: string;
  /** What a worker must offer. */
  tags: string[];
  priority: number;
  /** Who has submitted it, as `user@host`. */
  by: string;
  /** The time of the end after which it goes on; any other end that its journal has is the end of the job. */
  goesOnFrom?: string;
  /** Its origin is the worker's business. */
  request: Omit<RunRequest, "origin">;
}

/** What is kept of a job when it has ended. */
export interface JobEnd {
  /** null: it was cancelled before it had begun. */
  finished: (LoopEvent & RunFinished) | null;
  cancelled: boolean;
  /** Why its last work is not on the branch. */
  unpushed?: string;
}

/** Where a job stands, told by its worker as it goes: enough for lists. */
export interface JobProgress {
  worker: string;
  host: string;
  epoch: number;
  status: string;
  iterations: number;
  costUsd: number | null;
  activeMs: number;
  /** Why it does not go on, where it waits for something. */
  waits?: string;
}

/** What is known of a job as long as its records are kept. */
export interface JobEntry {
  queue: string;
  job: JobData;
  /** It was cancelled while it waited for a worker. */
  cancelled?: true;
}

/** In the environment of all that a claim starts: what is left of it is found by that. */
export const CLAIM_VARIABLE = "RALPH_CLAIM";

export const entryKey = (id: string): string => `run:${id}`;

/** Jobs that ask for the same wait in the same queue, so that no worker sees one that it cannot take. */
export function queueName({ v, tags }: Pick<JobData, "v" | "tags">): string {
  return [`v${v}`, ...[...new Set(tags)].sort()].join("+");
}

/** Whether a worker with these tags takes jobs from that queue. */
export function canTake(queue: string, offered: string[]): boolean {
  const [version = "", ...tags] = queue.split("+");
  return Number(version.slice(1)) <= JOB_VERSION && tags.every((tag) => offered.includes(tag));
}

/** BullMQ takes 1 first and 2,097,152 last; with us the higher number goes first, and 0 is usual. */
export const MOST_PRIORITY = 1_000_000;

export function enginePriority(priority: number): number {
  return MOST_PRIORITY - priority + 1;
}

/** Queues that have had a job, for workers to look into. */
export const QUEUES_KEY = "queues:all";
