import type { Finding } from "./finding.js";
import { type Reading, readTasks } from "./list-check.js";
import { reviewFindings } from "./review-check.js";
import type { Snapshot } from "./snapshot.js";
import type { Mode, ReviewRules, TaskList } from "./tasks.js";
import { transitionFindings } from "./transition-check.js";
import { gone, wholeFindings } from "./whole-check.js";

/** What the text of tasks.json is held against. */
export interface Rules extends ReviewRules {
  /** What the file is called in messages. */
  name?: string;
  /** What the iteration is for, and where the stories stood before it. Without both, check 2.5 is left out. */
  mode?: Mode | null | undefined;
  before?: Snapshot | undefined;
  /** Verify commands that failed when they were last run. */
  failing?: string[];
}

/** Checks 1, 2 and 2.5 over the text of tasks.json; undefined: there is no such file. */
export function checkTasks(text: string | undefined, { name, ...rules }: Rules): Reading {
  const { tasks, findings } = readTasks(text, name);
  if (tasks === undefined) return { findings: withDeleted(findings, rules.before) };
  return { tasks, findings: [...findings, ...stateFindings(tasks, rules)] };
}

/** A story that was deleted while another one waits for it: that is told, and not only that it is missing. */
function withDeleted(findings: Finding[], before: Snapshot | undefined): Finding[] {
  const missed = [...(before?.keys() ?? [])].filter((id) =>
    findings.some(({ message }) => message.includes(`dependsOn names ${id},`)),
  );
  return [...missed.map(gone), ...findings];
}

function stateFindings(
  tasks: TaskList,
  rules: ReviewRules & Pick<Rules, "mode" | "before" | "failing">,
): Finding[] {
  const { skipReview, mode, before } = rules;
  const whole = before === undefined ? [] : wholeFindings(tasks, before);
  if (skipReview) return whole;
  const state = reviewFindings(tasks, rules);
  if (before === undefined || mode === undefined) return [...state, ...whole];
  return [...state, ...whole, ...transitionFindings(tasks, { ...rules, mode, before })];
}

/** Told by whoever has to leave check 2.5 out. */
export const NO_SNAPSHOT =
  "what this iteration may change is not known (no preIterationSnapshot): transitions are not checked";

export const GIT_CANNOT_TELL =
  "git cannot tell whether everything is committed: git status fails. Mend the repository.";

const MAX_NAMED = 5;

/** Check 3: everything is committed. */
export function checkCommitted(files: string[] | undefined): Finding[] {
  if (files === undefined) return [{ check: 3, message: GIT_CANNOT_TELL }];
  if (files.length === 0) return [];
  const more = files.length - MAX_NAMED;
  const named = files.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [{ check: 3, message: `There are uncommitted changes: ${named}.\n${BEFORE_STOPPING}` }];
}

const BEFORE_STOPPING = `Before you stop:
1. Update ralph/progress.txt with what was accomplished and what was learned.
2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/.
3. Commit ALL changes, including progress.txt and tasks.json updates.
Then stop again.`;
