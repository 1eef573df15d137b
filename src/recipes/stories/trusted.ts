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
  before: TaskList;
  /** Left out until the iteration was verified. */
  after?: TaskList;
}

const FILE = "stories.json";

export function writeTrusted(records: string, trusted: Trusted): void {
  writeAtomic(join(records, FILE), `${JSON.stringify(trusted)}\n`);
}

/** undefined before the first iteration. */
export function readTrusted(records: string): Trusted | undefined {
  const text = readIfFile(join(records, FILE));
  return text === undefined ? undefined : parsed(text, join(records, FILE));
}

function parsed(text: string, path: string): Trusted {
  try {
    const { iteration, mode, before, after } = JSON.parse(text) as Trusted;
    return { iteration, mode, before: sound(before), ...(after && { after: sound(after) }) };
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
