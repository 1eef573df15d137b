import { type Finding, type Reading, readTasks, type Story, type TaskList } from "./tasks.js";
import {
  type Before,
  finding,
  moveFindings,
  type RuleSet,
  type Rules,
  type Snapshot,
} from "./transitions.js";

/** Checks 1, 2 and 2.5 over the text of tasks.json; undefined: there is no such file. */
export function checkTasks(text: string | undefined, rules: Rules): Reading {
  const { tasks, findings } = readTasks(text, rules.name);
  if (tasks === undefined) return { tasks, findings };
  const { mode } = rules;
  const before: Snapshot = new Map(rules.before?.userStories.map((story) => [story.id, story]));
  const held = { ...rules, before };
  const hasReviews = !rules.skipReview;
  const all = [
    ...findings,
    ...(hasReviews ? tasks.userStories.flatMap((story) => stateFindings(story, rules.reviewCap)) : []),
    ...wholeFindings(tasks, before),
    ...(hasReviews && rules.before !== undefined && mode !== undefined ? moveFindings(tasks, held) : []),
    ...commandFindings(tasks, rules.commands),
    ...editFindings(tasks, held),
  ];
  return { tasks, findings: all };
}

/** Check 2: what must hold of the reviews at any time. */
function stateFindings(story: Story, cap: number): Finding[] {
  const { id, passes, reviewStatus, reviewCount, reviewFeedback } = story;
  const isApproved = reviewStatus === "approved";
  const rows: [isBroken: boolean, field: keyof Story, what: string][] = [
    [
      passes && !isApproved,
      "passes",
      `has passes=true but reviewStatus is '${reviewStatus}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
    ],
    [
      !passes && isApproved,
      "reviewStatus",
      "has reviewStatus 'approved' but passes=false: the two are out of sync. A review that approves sets both.",
    ],
    [
      reviewStatus === "changes_requested" && reviewFeedback.trim() === "",
      "reviewFeedback",
      "has reviewStatus 'changes_requested' but its reviewFeedback is empty: feedback required. Write what needs to be fixed and where.",
    ],
    // One above the cap is left for a review of work whose checks failed at the cap; any review may approve.
    [
      reviewCount > cap + 1 && !(passes && isApproved),
      "reviewCount",
      `has reviewCount ${reviewCount}, more than the review cap (${cap}) allows.`,
    ],
  ];
  return rows
    .filter(([isBroken]) => isBroken)
    .map(([, field, what]) => ({ check: 2, story: id, field, message: `Story ${id} ${what}` }));
}

/** What no iteration may do to stories that were there before, with or without reviews. */
function wholeFindings(now: TaskList, before: Snapshot): Finding[] {
  const stories = new Map(now.userStories.map((story) => [story.id, story]));
  return [...before].flatMap(([id, old]) => {
    const story = stories.get(id);
    return story === undefined ? [gone(id)] : weakened(story, old, now, before);
  });
}

function gone(id: string): Finding {
  const what = "was deleted or renumbered. Stories may be added, split and reordered, and none may go.";
  return finding(id, "id", `Story ${id} ${what} Put it back under its id.`);
}

function weakened(story: Story, old: Before, now: TaskList, before: Snapshot): Finding[] {
  const { id, acceptanceCriteria } = story;
  const isUnbegun = old.reviewStatus === null && !old.passes;
  const still = new Set([...acceptanceCriteria, ...(isUnbegun ? movedFrom(story, old, now, before) : [])]);
  const lost = old.acceptanceCriteria?.find((criterion) => !still.has(criterion));
  if (lost === undefined) return [];
  const was = isUnbegun ? "" : `is ${old.reviewStatus ?? "passed"} and `;
  const rule = isUnbegun
    ? "A criterion may only go where it stands in another story that is not done."
    : "Criteria may not be weakened once a story was implemented.";
  const what = `${was}lost an acceptance criterion: "${lost}". ${rule}`;
  return [finding(id, "acceptanceCriteria", `Story ${id} ${what}`)];
}

/**
 * Where the criteria of a story may have gone that nobody had begun: it may be cut into smaller ones, which take them
 * over, and the first of them may be worked on at once. Nothing takes their place where no story is added.
 */
function movedFrom(story: Story, old: Before, { userStories }: TaskList, before: Snapshot): string[] {
  const isSplit = userStories.some(({ id }) => !before.has(id));
  const hasNew = story.acceptanceCriteria.some((criterion) => !old.acceptanceCriteria?.includes(criterion));
  if (!isSplit && hasNew) return [];
  return userStories
    .filter(({ id, passes, reviewStatus }) => id !== story.id && !passes && reviewStatus !== "approved")
    .flatMap(({ acceptanceCriteria }) => acceptanceCriteria);
}

/** An agent that takes a check away would pass it. What an agent added itself may go again. */
function commandFindings({ verifyCommands = [] }: TaskList, commands: string[] = []): Finding[] {
  const lost = commands.find((command) => !verifyCommands.includes(command));
  if (lost === undefined) return [];
  const message = `verifyCommands lost "${lost}". Commands may be added, and none that the run began with may be taken away.`;
  return [{ check: 2.5, field: "verifyCommands", message }];
}

const MAX_EDITED = 3;

/** A review that mends the work would approve what nobody has reviewed. One that asks for changes keeps its word. */
function editFindings({ userStories }: TaskList, { mode, before, edited = [] }: RuleSet): Finding[] {
  const [file] = edited;
  if (mode !== "review" || file === undefined) return [];
  const what = `A review changes tasks.json and progress.txt alone, and this one changed ${some(edited, MAX_EDITED)}.`;
  const approved = userStories.filter(
    ({ id, passes, reviewStatus }) =>
      (passes || reviewStatus === "approved") && before.get(id)?.reviewStatus !== "approved",
  );
  if (approved.length === 0) return [{ check: 2.5, file, message: what }];
  return approved.map(({ id }) =>
    finding(
      id,
      "reviewStatus",
      `Story ${id} is not approved. ${what} Another review looks at it as it is now.`,
    ),
  );
}

/** `a, b, c and 2 more` */
export function some(names: string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return `${names.slice(0, max).join(", ")}${more}`;
}

/** Said where check 2.5 has to be left out. */
export const NO_SNAPSHOT =
  "what this iteration may change is not known (no preIterationSnapshot): transitions are not checked";

export const GIT_CANNOT_TELL =
  "git cannot tell whether everything is committed: git status fails. Mend the repository.";

const MAX_UNCOMMITTED = 5;

const BEFORE_STOPPING = `Before you stop:
1. Update ralph/progress.txt with what was accomplished and what was learned.
2. Consider if any lasting patterns belong in CLAUDE.md or .claude/rules/.
3. Commit ALL changes, including progress.txt and tasks.json updates.
Then stop again.`;

/** Check 3: everything is committed. */
export function checkCommitted(files: string[] | undefined): Finding[] {
  if (files === undefined) return [{ check: 3, message: GIT_CANNOT_TELL }];
  if (files.length === 0) return [];
  const what = `There are uncommitted changes: ${some(files, MAX_UNCOMMITTED)}.`;
  return [{ check: 3, message: `${what}\n${BEFORE_STOPPING}` }];
}
