import { join } from "node:path";
import { RalphError } from "../../errors.js";
import { writeAtomic } from "../../state/files.js";
import { readTasks } from "./list-check.js";
import { readIfFile } from "./story-files.js";
import type { Mode, TaskList } from "./tasks.js";

/** Where the stories stand, out of the agent's reach: in the records of the run. */
export interface Trusted {
  /** The iteration that was begun last. */
  iteration: number;
  mode: Mode;
  /** Verify commands that the run began with. */
  commands: string[];
  before: TaskList;
  /** Left out until the iteration was verified. */
  after?: TaskList;
}

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
  const text = readIfFile(join(records, FILE), Number.POSITIVE_INFINITY);
  return text === undefined ? undefined : parsed(text, join(records, FILE));
}

function parsed(text: string, path: string): Trusted {
  try {
    const { iteration, mode, before: was, after, ...more } = JSON.parse(text) as Trusted;
    const before = sound(was);
    const commands = more.commands ?? before.verifyCommands ?? [];
    return { iteration, mode, commands, before, ...(after && { after: sound(after) }) };
  } catch (error) {
    throw new RalphError(`the record of the stories cannot be read: ${path}`, {
      code: "stories_damaged",
      hint: "start a new run with ralph stories run",
      cause: error,
    });
  }
}

/** The file is ralph's own and is replaced as a whole. */
function sound(tasks: TaskList): TaskList {
  const found = readTasks(JSON.stringify(tasks)).tasks;
  if (found === undefined) throw new Error("no list of stories");
  return found;
}
