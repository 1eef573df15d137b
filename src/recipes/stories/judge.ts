import { join } from "node:path";
import { uncommittedFiles } from "../../workspace/uncommitted.js";
import type { Finding } from "./finding.js";
import { checkCommitted, checkTasks } from "./rules.js";
import { snapshotOf } from "./snapshot.js";
import type { StoriesContext, StoriesSpec } from "./stories.js";
import { readIfFile, storyFiles } from "./story-files.js";
import type { Mode, TaskList } from "./tasks.js";

/** What the stories are held against: where they stood, and whose turn it is. */
export interface Held {
  mode: Mode | null;
  before: TaskList;
  /** Verify commands that the run began with. */
  commands: string[];
  failing: string[];
}

export interface Judged {
  /** undefined: what is there is no list of stories. */
  tasks: TaskList | undefined;
  /** As it stands in the file. */
  text: string | undefined;
  findings: Finding[];
}

/** Looks at tasks.json as it is now. */
export function judgeTasks(
  spec: StoriesSpec,
  { workspace }: Pick<StoriesContext, "workspace">,
  held: Held,
): Judged {
  const name = storyFiles(spec.dir).tasks;
  const text = readIfFile(join(workspace, name));
  const { tasks, findings } = checkTasks(text, { ...spec, ...held, name, before: snapshotOf(held.before) });
  return { tasks, text, findings: [...findings, ...commandFindings(tasks, held.commands)] };
}

/** Whoever takes a check away would pass it. What an agent added itself may go again. */
function commandFindings(now: TaskList | undefined, commands: string[]): Finding[] {
  const lost = commands.filter((command) => !now?.verifyCommands?.includes(command));
  if (now === undefined || lost.length === 0) return [];
  return [
    {
      check: 2.5,
      field: "verifyCommands",
      message: `verifyCommands lost "${lost[0]}". Commands may be added, and none that the run began with may be taken away.`,
    },
  ];
}

/** What the agent has not committed. What the user had not committed before it began is left to the user. */
export async function uncommitted(
  spec: StoriesSpec,
  { workspace, inRepository }: Pick<StoriesContext, "workspace" | "inRepository">,
): Promise<string[] | undefined> {
  if (!inRepository) return [];
  const files = await uncommittedFiles(workspace);
  return files?.filter((file) => !spec.dirty.includes(file));
}

/** Why the agent may not stop yet, all of it in one text. */
export async function whyNot(
  spec: StoriesSpec,
  context: StoriesContext,
  held: Held,
): Promise<string | undefined> {
  const { findings } = judgeTasks(spec, context, held);
  const all = [...findings, ...checkCommitted(await uncommitted(spec, context))];
  return all.length === 0 ? undefined : all.map(({ message }) => message).join("\n\n");
}
