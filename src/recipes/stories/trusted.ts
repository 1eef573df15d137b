import { join } from "node:path";
import { z } from "zod";
import { RalphError } from "../../errors.js";
import { writeAtomic } from "../../records/files.js";
import { textAt } from "../../workspace/content.js";
import { readTasks, type TaskList } from "./tasks.js";

const List = z.unknown().transform((value, context): TaskList => {
  const { tasks } = readTasks(JSON.stringify(value));
  if (tasks === undefined) context.addIssue({ code: "custom", message: "no list of stories" });
  return tasks ?? z.NEVER;
});

const Stamps = z.record(z.string(), z.string());

/** The files of the stories when no agent was at work: what differs when the run goes on is a person's doing. */
const Rest = z.object({
  /** The text of tasks.json. */
  tasks: z.string().optional(),
  /** A word for the content of each other file. */
  others: Stamps,
});

/** Where the stories stand, out of the agent's reach: in the records of the run. */
const Trusted = z.object({
  /** The iteration that was begun last. */
  iteration: z.number(),
  mode: z.enum(["implement", "review", "review-fix"]),
  /** Verify commands that the run began with. */
  commands: z.array(z.string()).optional(),
  before: List,
  /** Left out until the iteration was verified. */
  after: List.optional(),
  /** Left out while an agent is at work. */
  rest: Rest.optional(),
  /** The commit, and what was not committed, when the iteration began. */
  work: z.object({ head: z.string().optional(), dirty: Stamps }).optional(),
  /** What agents left uncommitted, by path. */
  blamed: z.array(z.string()).default([]),
  /** Files that verify commands were seen to write. */
  byChecks: z.array(z.string()).default([]),
});

export type Rest = z.infer<typeof Rest>;
export type Trusted = z.infer<typeof Trusted> & { commands: string[] };

export interface TrustedStore {
  /** undefined before the first iteration. */
  read(): Trusted | undefined;
  /** Whether it was left by an earlier process, and nothing was written since. */
  isLeftBehind(): boolean;
  write(trusted: Trusted): void;
}

const FILE = "stories.json";

/** The file is for a later process: this one believes its own memory. */
export function trustedStore(records: string): TrustedStore {
  let known = readTrusted(records);
  let isLeftBehind = known !== undefined;
  return {
    read: () => known,
    isLeftBehind: () => isLeftBehind,
    write(trusted) {
      known = trusted;
      isLeftBehind = false;
      writeAtomic(join(records, FILE), `${JSON.stringify(trusted)}\n`);
    },
  };
}

export function readTrusted(records: string): Trusted | undefined {
  const path = join(records, FILE);
  const text = textAt(path, Number.POSITIVE_INFINITY);
  if (text === undefined) return undefined;
  try {
    const trusted = Trusted.parse(JSON.parse(text));
    return { ...trusted, commands: trusted.commands ?? trusted.before.verifyCommands ?? [] };
  } catch (error) {
    throw new RalphError(`the record of the stories cannot be read: ${path}`, {
      code: "stories_damaged",
      hint: "start a new run with ralph stories run",
      cause: error,
    });
  }
}
