import { describe, expect, it } from "vitest";
import { checkCommitted, checkTasks, type Rules } from "../../../src/recipes/stories/rules.js";
import type { Mode } from "../../../src/recipes/stories/state.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

const RULES: Rules = { skipReview: false, reviewCap: 5 };

function messages(list: unknown, rules: Partial<Rules> = {}): string[] {
  const text = typeof list === "string" ? list : JSON.stringify(list);
  return checkTasks(text, { ...RULES, ...rules }).findings.map(({ message }) => message);
}

describe("check 1, the list", () => {
  const list = (more: object): object => ({ ...tasks(story()), ...more });
  const one = (more: object): object => list({ userStories: [{ ...story(), ...more }] });
  const waits = (...pairs: [id: string, ...dependsOn: string[]][]): TaskList =>
    tasks(...pairs.map(([id, ...dependsOn]) => story(id, { dependsOn })));

  it.each<[unknown, string]>([
    ['{\n  "project": oops', "ralph/tasks.json is not valid JSON: unexpected oops at line 2, column 14."],
    ["[]", "ralph/tasks.json must be an object with userStories."],
    [list({ userStories: [] }), "userStories is empty: there is no story to work on."],
    [list({ verifyCommands: [" "] }), "verifyCommands must be a list of commands"],
    [one({ passes: "true" }), 'passes must be true or false, but is "true".'],
    [one({ acceptanceCriteria: [] }), "acceptanceCriteria must be a non-empty list of strings"],
    [one({ reviewStatus: "done" }), 'reviewStatus must be null or one of "needs_review"'],
    [one({ reviewCount: -1 }), "reviewCount must be a non-negative integer, but is -1."],
    [tasks(story(), story()), "Story US-001: id is used more than once."],
    [waits(["A", "B"]), "Story A: dependsOn names B, which is not a story."],
    [waits(["X", "A"], ["A", "B"], ["B", "A"]), "dependsOn has a cycle: A → B → A."],
    [one({ ...APPROVED, notes: " " }), "Story US-001 has passes=true but its notes are empty."],
  ])("%j: %s", (wrong, message) => {
    expect(messages(wrong)).toEqual([expect.stringContaining(message)]);
  });

  it.each(["project", "branchName", "description", "userStories"])("%s is missing", (field) => {
    expect(messages(list({ [field]: undefined }))).toEqual([
      expect.stringContaining(`ralph/tasks.json: ${field} is missing: it must be`),
    ]);
  });

  it.each([
    ...["id", "title", "passes", "priority", "acceptanceCriteria"],
    ...["reviewStatus", "reviewCount", "reviewFeedback"],
  ])("%s of a story is missing", (field) => {
    const who = field === "id" ? "Story number 1" : "Story US-001";
    expect(messages(one({ [field]: undefined }))).toEqual([
      expect.stringContaining(`${who}: ${field} is missing: it must be`),
    ]);
  });

  it("a file that is not there is told by its name", () => {
    expect(checkTasks(undefined, { ...RULES, name: "work/tasks.json" }).findings).toEqual([
      { check: 1, message: "work/tasks.json does not exist, or is not a plain file of at most 5 MB." },
    ]);
  });

  it("takes a sound list, with a byte order mark and without what may be left out", () => {
    const { description: _, notes: __, dependsOn: ___, ...least } = story();
    const sound = { project: "", branchName: "", description: "", userStories: [least], more: 1 };
    expect(messages(`\uFEFF${JSON.stringify(sound)}`)).toEqual([]);
  });
});

describe("check 2, what must hold", () => {
  const PASSED: Partial<Story> = { passes: true, notes: "n", reviewFeedback: "x" };

  it.each<[Partial<Story>, string]>([
    [{ ...PASSED, reviewStatus: null }, "has passes=true but reviewStatus is 'null', not 'approved'."],
    [{ ...PASSED, reviewStatus: "needs_review" }, "reviewStatus is 'needs_review', not 'approved'."],
    [{ ...PASSED, reviewStatus: "changes_requested" }, "is 'changes_requested', not 'approved'."],
    [{ reviewStatus: "changes_requested", reviewFeedback: " " }, "feedback required"],
    [{ reviewStatus: "approved" }, "out of sync"],
    [{ reviewCount: 7 }, "has reviewCount 7, more than the review cap (5) allows"],
  ])("%j: %s", (more, message) => {
    expect(messages(tasks(story("US-001", more)))).toEqual([expect.stringContaining(message)]);
  });

  it("approved and passed is sound, and so is a story at the cap", () => {
    expect(messages(tasks(story("A", APPROVED), story("B", { ...APPROVED, reviewCount: 6 })))).toEqual([]);
  });

  it("is left out where reviews are skipped, and so is check 2.5", () => {
    const rules: Partial<Rules> = {
      skipReview: true,
      mode: "implement",
      before: tasks(story()),
    };
    expect(messages(tasks(story("US-001", PASSED)), rules)).toEqual([]);
  });
});

const IMPLEMENT =
  "Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story US-001 had illegal transition: ";
const REVIEW = "Review iteration made illegal transition on story US-001: ";
const FIX =
  "Review-fix iterations cannot approve stories. Story US-001 must go back to needs_review for re-review. Illegal transition: ";

describe("check 2.5, what an iteration may change", () => {
  const counted = (kind: Partial<Story>, reviewCount: number): Partial<Story> => ({ ...kind, reviewCount });
  const GUTTED = { acceptanceCriteria: ["ok"] };
  const CAP_NAMED = { ...APPROVED, reviewFeedback: "[AUTO-APPROVED AT CAP] a typo" };
  const PLANTED = "Story US-001: reviewFeedback was changed without a review.";
  const LOST = 'lost an acceptance criterion: "it works".';
  const judged = (mode: Mode | null, before: Partial<Story>, after: Partial<Story>): string[] =>
    messages(tasks(story("US-001", after)), { mode, before: tasks(story("US-001", before)) });

  it.each<[string, Mode | null, Partial<Story>, Partial<Story>]>([
    ["an implemented story goes to its review", "implement", {}, WAITING],
    ["a story is not finished yet", "implement", {}, { notes: "half" }],
    ["a review approves", "review", counted(WAITING, 1), counted(APPROVED, 2)],
    ["a review asks for changes", "review", counted(WAITING, 1), counted(REJECTED, 2)],
    ["criteria are added", "review", WAITING, { ...APPROVED, acceptanceCriteria: ["it works", "fast"] }],
    ["a fix goes to its review again", "review-fix", REJECTED, counted(WAITING, 1)],
    ["nobody's turn, nothing changed", null, WAITING, WAITING],
  ])("%s: %s may", (_, mode, before, after) => {
    expect(judged(mode, before, after)).toEqual([]);
  });

  it.each<[string, Mode | null, Partial<Story>, Partial<Story>, string]>([
    ["criteria of a story that nobody has begun go", "implement", {}, GUTTED, `Story US-001 ${LOST}`],
    ["criteria go with the submission", "implement", {}, { ...WAITING, ...GUTTED }, `Story US-001 ${LOST}`],
    [
      "criteria of an approved story go",
      "implement",
      APPROVED,
      { ...APPROVED, ...GUTTED },
      "is approved and",
    ],
    ["a review weakens what it approves", "review", WAITING, { ...APPROVED, ...GUTTED }, LOST],
    ["feedback is planted", "implement", {}, { reviewFeedback: "[AUTO-APPROVED AT CAP]" }, PLANTED],
    ["feedback is rewritten", "review-fix", REJECTED, { ...REJECTED, reviewFeedback: "fine" }, PLANTED],
    ["it passes", "implement", {}, { passes: true, notes: "n" }, `${IMPLEMENT}passes false → true.`],
    [
      "it approves",
      "implement",
      {},
      counted(APPROVED, 0),
      "passes false → true, reviewStatus null → approved.",
    ],
    ["it counts a review", "implement", {}, counted(WAITING, 1), "iterations cannot increment reviewCount."],
    ["it takes an approval back", "implement", APPROVED, counted(WAITING, 1), `${IMPLEMENT}passes true`],
    ["nothing is changed", "review", WAITING, WAITING, "the review must increment reviewCount (0 → 1)"],
    ["it does not count", "review", counted(WAITING, 1), APPROVED, `${REVIEW}reviewCount 1 → 1;`],
    ["it was never submitted", "review", {}, APPROVED, "only a story with needs_review can be reviewed"],
    ["no word", "review", WAITING, { ...REJECTED, reviewFeedback: "" }, "feedback required"],
    ["changes at the cap", "review", counted(WAITING, 4), counted(REJECTED, 5), "at the review cap (5)"],
    ["the cap is named too early", "review", WAITING, CAP_NAMED, "at review 1, and the review cap is 5"],
    ["it approves", "review-fix", REJECTED, APPROVED, `${FIX}passes false → true, reviewStatus changes`],
    ["it counts a review", "review-fix", REJECTED, counted(WAITING, 2), `${FIX}reviewStatus changes`],
    ["the story needs none", "review-fix", {}, WAITING, `${FIX}reviewStatus null → needs_review.`],
    ["feedback stays", "review-fix", REJECTED, { ...REJECTED, ...WAITING }, "reviewFeedback is still there"],
    ["it is approved", null, WAITING, APPROVED, "was changed between two iterations"],
  ])("%s: %s may not", (_, mode, before, after, message) => {
    expect(judged(mode, before, after).join("\n")).toContain(message);
  });

  const two = (more: Partial<Story>): TaskList => tasks(story("A", more), story("B", more));
  const A = story("A");
  const REJECTED_A = story("A", REJECTED);
  it.each<[string, Mode, TaskList, TaskList, string | undefined]>([
    ["two are submitted", "implement", two({}), two(WAITING), "and another story was submitted already"],
    ["two are reviewed", "review", two(WAITING), two(APPROVED), "a review may only modify one story"],
    ["a new story is passed", "implement", tasks(A), tasks(A, story("B", APPROVED)), "must start incomplete"],
    ["a new story is added", "review-fix", tasks(REJECTED_A), tasks(REJECTED_A, story("B")), undefined],
    ["a story is deleted", "implement", two({}), tasks(A), "Story B was deleted or renumbered"],
  ])("%s", (_, mode, before, after, message) => {
    const found = messages(after, { mode, before: before }).join("\n");
    if (message === undefined) expect(found).toBe("");
    else expect(found).toContain(message);
  });

  const has = (id: string, ...acceptanceCriteria: string[]): Story => story(id, { acceptanceCriteria });
  const whole = tasks(has("A", "one", "two", "three"), has("B", "two"));
  it.each<[string, TaskList, Story[], string | undefined]>([
    ["new stories take them over", whole, [has("A", "one"), has("B", "two"), has("C", "three")], undefined],
    ["one that is there already", whole, [has("A", "one", "three"), has("B", "two")], undefined],
    ["another one takes its place", whole, [has("A", "one", "three", "ok"), has("B", "two")], "two"],
    ["one is lost", whole, [has("A", "one"), has("B", "two"), has("C", "tree")], "three"],
  ])("a split: %s", (_, before, now, lost) => {
    const found = messages(tasks(...now), { mode: "implement", before: before });
    expect(found).toEqual(
      lost === undefined ? [] : [expect.stringContaining(`Story A lost an acceptance criterion: "${lost}"`)],
    );
  });

  it("is left out without a snapshot; check 2 is not", () => {
    expect(messages(tasks(story("A", APPROVED)), { mode: "implement" })).toEqual([]);
    expect(messages(tasks(story("A", { reviewStatus: "approved" })), { mode: "implement" })).toHaveLength(1);
  });

  it("no story is approved while a check fails, and the cap does not ask for it", () => {
    const before = tasks(story("A", counted(WAITING, 4)));
    const rules: Partial<Rules> = { mode: "review", before, failing: ["npm test"] };
    expect(messages(tasks(story("A", counted(APPROVED, 5))), rules)).toEqual([
      "Review iteration made illegal transition on story A: it cannot be approved while a check fails (npm test).",
    ]);
    expect(messages(tasks(story("A", counted(REJECTED, 5))), rules)).toEqual([]);
  });
});

it("check 3 names what is not committed, and what to do before stopping", () => {
  expect(checkCommitted([])).toEqual([]);
  const [found] = checkCommitted(["a", "b", "c", "d", "e", "f", "g"]);
  expect(found).toMatchObject({ check: 3 });
  expect(found?.message).toContain("There are uncommitted changes: a, b, c, d, e and 2 more.");
  expect(found?.message).toContain("Commit ALL changes, including progress.txt and tasks.json updates.");
});
