import { join } from "node:path";
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
  if (text === undefined) return undefined;
  const { iteration, mode, before, after } = JSON.parse(text) as Trusted;
  return { iteration, mode, before: sound(before), ...(after && { after: sound(after) }) };
}

/** The file is ralph's own and is replaced as a whole. */
function sound(tasks: TaskList): TaskList {
  return readTasks(JSON.stringify(tasks)).tasks ?? tasks;
}
