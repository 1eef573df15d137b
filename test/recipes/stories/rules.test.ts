import { describe, expect, it } from "vitest";
import { checkCommitted, checkTasks, snapshotOf } from "../../../src/recipes/stories/rules.js";
import type { Mode } from "../../../src/recipes/stories/state.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import type { Rules } from "../../../src/recipes/stories/transitions.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "./samples.js";

const RULES: Rules = { skipReview: false, reviewCap: 5 };

function messages(list: unknown, rules: Partial<Rules> = {}): string[] {
  const text = typeof list === "string" ? list : JSON.stringify(list);
  return checkTasks(text, { ...RULES, ...rules }).findings.map(({ message }) => message);
}

describe("check 1, the list", () => {
  const list = (more: object): object => ({ ...tasks(story()), ...more });
  const one = (more: object): object => list({ userStories: [{ ...story(), ...more }] });

  it.each<[string, unknown, string]>([
    [
      "text that is no JSON",
      '{\n  "project": oops',
      "ralph/tasks.json is not valid JSON: unexpected oops at line 2, column 14.",
    ],
    ["a list", "[]", "ralph/tasks.json must be an object with userStories."],
    [
      "no project",
      list({ project: undefined }),
      "ralph/tasks.json: project is missing: it must be a string.",
    ],
    ["no branchName", list({ branchName: undefined }), "branchName is missing"],
    ["no description", list({ description: undefined }), "description is missing"],
    ["no userStories", list({ userStories: undefined }), "userStories is missing"],
    ["no list of stories", list({ userStories: {} }), "userStories must be a list of stories, and it is {}."],
    ["no stories", list({ userStories: [] }), "userStories is empty: there is no story to work on."],
    ["a command that is none", list({ verifyCommands: [" "] }), "verifyCommands must be a list of commands"],
    ["a story that is none", list({ userStories: ["x"] }), "userStories[0] must be an object."],
    [
      "no id",
      one({ id: undefined }),
      "Story number 1: id is missing: it must be a string with something in it.",
    ],
    ["an empty id", one({ id: " " }), "Story number 1: id must be a string with something in it"],
    ["no title", one({ title: undefined }), "Story US-001: title is missing: it must be a string."],
    ["no passes", one({ passes: undefined }), "Story US-001: passes is missing"],
    ["passes as a word", one({ passes: "true" }), 'passes must be true or false, and it is "true".'],
    ["no priority", one({ priority: undefined }), "Story US-001: priority is missing"],
    ["a priority as text", one({ priority: "1" }), 'priority must be a number, and it is "1".'],
    ["no criteria", one({ acceptanceCriteria: undefined }), "Story US-001: acceptanceCriteria is missing"],
    [
      "empty criteria",
      one({ acceptanceCriteria: [] }),
      "acceptanceCriteria must be a list of strings that is not empty, and it is [].",
    ],
    ["no status", one({ reviewStatus: undefined }), "Story US-001: reviewStatus is missing"],
    [
      "an unknown status",
      one({ reviewStatus: "done" }),
      'reviewStatus must be null or one of "needs_review"',
    ],
    ["no count", one({ reviewCount: undefined }), "Story US-001: reviewCount is missing"],
    [
      "a negative count",
      one({ reviewCount: -1 }),
      "reviewCount must be a non-negative integer, and it is -1.",
    ],
    [
      "a boolean as count",
      one({ reviewCount: true }),
      "reviewCount must be a non-negative integer, and it is true.",
    ],
    [
      "half a review",
      one({ reviewCount: 0.5 }),
      "reviewCount must be a non-negative integer, and it is 0.5.",
    ],
    ["no feedback", one({ reviewFeedback: undefined }), "Story US-001: reviewFeedback is missing"],
    ["the same id twice", tasks(story(), story()), "Story US-001: id is used more than once."],
    [
      "an unknown dependency",
      tasks(story("A", { dependsOn: ["B"] })),
      "Story A: dependsOn names B, which is no story.",
    ],
    [
      "a story that waits for itself",
      tasks(story("A", { dependsOn: ["A"] })),
      "Story A: dependsOn goes round in a circle: A → A.",
    ],
    [
      "stories that wait for each other",
      tasks(
        story("X", { dependsOn: ["A"] }),
        story("A", { dependsOn: ["B"] }),
        story("B", { dependsOn: ["A"] }),
      ),
      "Story A: dependsOn goes round in a circle: A → B → A.",
    ],
    [
      "passed without notes",
      tasks(story("US-001", { ...APPROVED, notes: " " })),
      "Story US-001 has passes=true but its notes are empty.",
    ],
  ])("%s is told with its story and field", (_, list, message) => {
    const found = messages(list);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(message);
  });

  it("a file that is not there is told by its name", () => {
    expect(checkTasks(undefined, { ...RULES, name: "work/tasks.json" }).findings).toEqual([
      { check: 1, message: "work/tasks.json does not exist, or is no plain file of at most 5 MB." },
    ]);
  });

  it("takes a sound list, with a byte order mark and without what may be left out", () => {
    const { description: _, notes: __, dependsOn: ___, ...least } = story();
    const list = { project: "", branchName: "", description: "", userStories: [least], more: 1 };
    expect(messages(`\uFEFF${JSON.stringify(list)}`)).toEqual([]);
  });
});

describe("check 2, what must hold", () => {
  const passed = (reviewStatus: Story["reviewStatus"]): TaskList =>
    tasks(story("US-001", { passes: true, notes: "n", reviewStatus, reviewFeedback: "x" }));

  it.each(["null", "needs_review", "changes_requested"] as const)(
    "passes with %s is not approved",
    (status) => {
      expect(messages(passed(status === "null" ? null : status))).toEqual([
        `Story US-001 has passes=true but reviewStatus is '${status}', not 'approved'. Only review iterations may approve stories. Set passes back to false or complete the review cycle.`,
      ]);
    },
  );

  it.each<[string, Partial<Story>, string]>([
    [
      "changes without feedback",
      { reviewStatus: "changes_requested", reviewFeedback: " " },
      "feedback required",
    ],
    ["approved and not passed", { reviewStatus: "approved" }, "out of sync"],
    [
      "more reviews than the cap and one",
      { reviewCount: 7 },
      "has reviewCount 7, more than the review cap (5) allows",
    ],
  ])("%s is told", (_, more, message) => {
    const found = messages(tasks(story("US-001", more)));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(message);
  });

  it("approved and passed is sound, and so is a story at the cap", () => {
    expect(messages(tasks(story("A", APPROVED), story("B", { ...APPROVED, reviewCount: 6 })))).toEqual([]);
  });

  it("is left out where reviews are skipped, and so is check 2.5", () => {
    const before = snapshotOf(tasks(story()));
    const list = passed(null);
    expect(messages(list, { skipReview: true, mode: "implement", before })).toEqual([]);
  });
});

type Case = [
  what: string,
  mode: Mode | null,
  before: Partial<Story>,
  after: Partial<Story>,
  message?: string,
];

const IMPLEMENT =
  "Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. Story US-001 had illegal transition: ";
const REVIEW = "Review iteration made illegal transition on story US-001: ";
const FIX =
  "Review-fix iterations cannot approve stories. Story US-001 must go back to needs_review for re-review. Illegal transition: ";

describe("check 2.5, what an iteration may change", () => {
  const MANY = { ...APPROVED, reviewCount: 9 };
  const GUTTED = { acceptanceCriteria: ["ok"] };
  const LOST = 'Story US-001 lost an acceptance criterion: "it works".';
  const PLANTED = "Story US-001: reviewFeedback was changed without a review.";
  const legal: Case[] = [
    ["an implemented story goes to its review", "implement", {}, WAITING],
    ["a story is not finished yet", "implement", {}, { notes: "half" }],
    ["a story that is done had more reviews than the cap", "implement", MANY, MANY],
    ["a review past the cap approves", "review", { ...WAITING, reviewCount: 6 }, { ...MANY, reviewCount: 7 }],
    ["a review approves", "review", { ...WAITING, reviewCount: 1 }, { ...APPROVED, reviewCount: 2 }],
    ["a review asks for changes", "review", { ...WAITING, reviewCount: 1 }, { ...REJECTED, reviewCount: 2 }],
    [
      "the review at the cap approves",
      "review",
      { ...WAITING, reviewCount: 4 },
      { ...APPROVED, reviewCount: 5 },
    ],
    ["a fix goes to its review again", "review-fix", REJECTED, { ...WAITING, reviewCount: 1 }],
    ["a fix is not finished yet", "review-fix", REJECTED, REJECTED],
    ["nobody's turn, nothing changed", null, WAITING, WAITING],
    ["criteria are added", "review", WAITING, { ...APPROVED, acceptanceCriteria: ["it works", "fast"] }],
  ];
  const illegal: Case[] = [
    ["criteria of a story that nobody has begun go", "implement", {}, GUTTED, LOST],
    ["criteria go with the submission", "implement", {}, { ...WAITING, ...GUTTED }, LOST],
    ["feedback is planted", "implement", {}, { reviewFeedback: "[AUTO-APPROVED AT CAP]" }, PLANTED],
    [
      "feedback is planted with a submission",
      "implement",
      {},
      { ...WAITING, reviewFeedback: "fine" },
      PLANTED,
    ],
    ["implement passes", "implement", {}, { passes: true, notes: "n" }, `${IMPLEMENT}passes false → true.`],
    [
      "implement approves",
      "implement",
      {},
      { ...APPROVED, reviewCount: 0 },
      `${IMPLEMENT}passes false → true, reviewStatus null → approved.`,
    ],
    [
      "implement counts a review",
      "implement",
      {},
      { ...WAITING, reviewCount: 1 },
      `${IMPLEMENT}reviewStatus null → needs_review, reviewCount 0 → 1. Implement iterations cannot increment reviewCount.`,
    ],
    [
      "implement takes an approval back",
      "implement",
      APPROVED,
      { ...WAITING, reviewCount: 1 },
      `${IMPLEMENT}passes true`,
    ],
    [
      "criteria of an approved story are weakened",
      "implement",
      APPROVED,
      { ...APPROVED, acceptanceCriteria: ["it is there"] },
      'Story US-001 is approved and lost an acceptance criterion: "it works".',
    ],
    [
      "a review weakens what it approves",
      "review",
      WAITING,
      { ...APPROVED, acceptanceCriteria: ["it is there"] },
      'lost an acceptance criterion: "it works"',
    ],
    ["a review changes nothing", "review", WAITING, WAITING, "the review must increment reviewCount (0 → 1)"],
    [
      "a review does not count",
      "review",
      { ...WAITING, reviewCount: 1 },
      { ...APPROVED, reviewCount: 1 },
      `${REVIEW}reviewCount 1 → 1; a review must increment reviewCount by 1.`,
    ],
    [
      "a review counts twice",
      "review",
      WAITING,
      { ...APPROVED, reviewCount: 2 },
      `${REVIEW}reviewCount 0 → 2; a review must increment reviewCount by 1.`,
    ],
    [
      "a story is approved that was never submitted",
      "review",
      {},
      APPROVED,
      "only a story with needs_review can be reviewed",
    ],
    [
      "changes are asked for without a word",
      "review",
      WAITING,
      { ...REJECTED, reviewFeedback: "" },
      "feedback required",
    ],
    [
      "changes are asked for at the cap",
      "review",
      { ...WAITING, reviewCount: 4 },
      { ...REJECTED, reviewCount: 5 },
      `${REVIEW}reviewStatus changes_requested at the review cap (5)`,
    ],
    [
      "changes are asked for past the cap",
      "review",
      { ...WAITING, reviewCount: 5 },
      { ...REJECTED, reviewCount: 6 },
      `${REVIEW}reviewStatus changes_requested at the review cap (5)`,
    ],
    [
      "the cap is named before it is reached",
      "review",
      WAITING,
      { ...APPROVED, reviewFeedback: "[AUTO-APPROVED AT CAP] a typo" },
      `${REVIEW}[AUTO-APPROVED AT CAP] at review 1, and the review cap is 5; request changes`,
    ],
    [
      "a review only counts",
      "review",
      WAITING,
      { ...WAITING, reviewCount: 1 },
      'a review sets reviewStatus "approved" and passes=true, or reviewStatus "changes_requested"',
    ],
    [
      "a fix approves",
      "review-fix",
      REJECTED,
      APPROVED,
      `${FIX}passes false → true, reviewStatus changes_requested → approved.`,
    ],
    [
      "a fix counts a review",
      "review-fix",
      REJECTED,
      { ...WAITING, reviewCount: 2 },
      `${FIX}reviewStatus changes`,
    ],
    [
      "a fix of a story that needs none",
      "review-fix",
      {},
      WAITING,
      `${FIX}reviewStatus null → needs_review.`,
    ],
    [
      "a fix leaves the feedback",
      "review-fix",
      REJECTED,
      { ...REJECTED, reviewStatus: "needs_review" },
      `${FIX}reviewFeedback is still there, and must be cleared with needs_review.`,
    ],
    [
      "feedback is rewritten",
      "review-fix",
      REJECTED,
      { ...REJECTED, reviewFeedback: "all is well" },
      "Story US-001: reviewFeedback was changed without a review.",
    ],
    ["nobody's turn, and approved", null, WAITING, APPROVED, "was changed between two iterations"],
  ];
  const judged = ([, mode, before, after]: Case): string[] =>
    messages(tasks(story("US-001", after)), { mode, before: snapshotOf(tasks(story("US-001", before))) });

  it.each(legal)("%s: %s may", (...row) => {
    expect(judged(row)).toEqual([]);
  });

  it.each(illegal)("%s: %s may not", (...row) => {
    expect(judged(row).join("\n")).toContain(row[4]);
  });

  it("a story that nobody has begun may be split, and its criteria go with the new ones", () => {
    const whole = tasks(story("A", { acceptanceCriteria: ["one", "two"] }));
    const rules = { mode: "implement" as const, before: snapshotOf(whole) };
    const split = (more: Partial<Story>): TaskList =>
      tasks(
        story("A", { acceptanceCriteria: ["one"], ...more }),
        story("B", { acceptanceCriteria: ["two"] }),
      );
    expect(messages(split({}), rules)).toEqual([]);
    // The first part may be worked on in the same iteration.
    expect(messages(split(WAITING), rules)).toEqual([]);
    const other = split({});
    other.userStories[1] = story("B", { acceptanceCriteria: ["too"] });
    expect(messages(other, rules)[0]).toContain('Story A lost an acceptance criterion: "two"');
  });

  it.each<[string, Partial<Story>, TaskList["userStories"], boolean]>([
    ["a story that is there already takes one over", {}, [], true],
    ["new and old stories take them over", {}, [story("C", { acceptanceCriteria: ["three"] })], true],
    ["a done story takes nothing over", APPROVED, [], false],
  ])("a split: %s", (_, more, added, isLegal) => {
    const last = story("B", { ...more, acceptanceCriteria: ["two"] });
    const whole = tasks(story("A", { acceptanceCriteria: ["one", "two", "three"] }), last);
    const kept = added.length === 0 ? ["one", "three"] : ["one, and how the parts fit"];
    const parts = added.length === 0 ? [] : [...added, story("D", { acceptanceCriteria: ["one"] })];
    const now = tasks(story("A", { acceptanceCriteria: kept }), last, ...parts);
    const found = messages(now, { mode: "implement", before: snapshotOf(whole) });
    expect(found).toEqual(isLegal ? [] : [expect.stringContaining('lost an acceptance criterion: "two"')]);
  });

  it("a criterion that gives way to an easier one is lost, though another story has the same", () => {
    const whole = tasks(story("A"), story("B"));
    const now = tasks(story("A"), story("B", { acceptanceCriteria: ["ok"] }));
    expect(messages(now, { mode: "implement", before: snapshotOf(whole) })[0]).toContain("Story B lost");
  });

  it("a story that another one waits for was deleted, and that is told", () => {
    const before = snapshotOf(tasks(story("A"), story("B", { dependsOn: ["A"] })));
    const told = messages(tasks(story("B", { dependsOn: ["A"] })), { mode: "implement", before });
    expect(told[0]).toContain("Story A was deleted or renumbered.");
  });

  const twoOf = (more: Partial<Story>): TaskList => tasks(story("A", more), story("B", more));
  it.each<[string, Mode, TaskList, TaskList, string]>([
    [
      "implement submits two stories",
      "implement",
      twoOf({}),
      twoOf(WAITING),
      "Story B had illegal transition: reviewStatus null → needs_review, and another story was submitted already",
    ],
    [
      "a review changes two stories",
      "review",
      twoOf(WAITING),
      twoOf(APPROVED),
      "a review may only modify one story",
    ],
    [
      "a fix submits two stories",
      "review-fix",
      twoOf(REJECTED),
      twoOf({ ...WAITING, reviewCount: 1 }),
      "another story was submitted already",
    ],
    [
      "a new story is passed",
      "implement",
      tasks(story("A")),
      tasks(story("A"), story("B", APPROVED)),
      "new stories must start incomplete",
    ],
    [
      "a new story waits for its review",
      "review-fix",
      tasks(story("A", REJECTED)),
      tasks(story("A", REJECTED), story("B", WAITING)),
      "Story B is new, and new stories must start incomplete",
    ],
    [
      "an unfinished story is deleted",
      "implement",
      twoOf({}),
      tasks(story("A")),
      "Story B was deleted or renumbered",
    ],
    [
      "an unfinished story is renumbered",
      "review",
      twoOf(WAITING),
      tasks(story("A", APPROVED), story("C")),
      "Story B was deleted or renumbered",
    ],
  ])("%s: refused", (_, mode, before, after, message) => {
    expect(messages(after, { mode, before: snapshotOf(before) }).join("\n")).toContain(message);
  });

  it("a new story may be added in every mode", () => {
    const before = snapshotOf(tasks(story("A", REJECTED)));
    expect(messages(tasks(story("A", REJECTED), story("B")), { mode: "review-fix", before })).toEqual([]);
  });

  it("nothing may be deleted where reviews are skipped", () => {
    const before = snapshotOf(twoOf({}));
    const found = messages(tasks(story("A")), { skipReview: true, mode: "implement", before });
    expect(found.join()).toContain("Story B was deleted");
  });

  it("is left out without a snapshot; check 2 is not", () => {
    expect(messages(tasks(story("A", APPROVED)), { mode: "implement" })).toEqual([]);
    expect(messages(tasks(story("A", { reviewStatus: "approved" })), { mode: "implement" })).toHaveLength(1);
  });

  it("no story is approved while a verify command fails, and the cap does not ask for it", () => {
    const last = { ...WAITING, reviewCount: 4 };
    const rules: Partial<Rules> = {
      mode: "review",
      before: snapshotOf(tasks(story("A", last))),
      failing: ["npm test"],
    };
    expect(messages(tasks(story("A", { ...APPROVED, reviewCount: 5 })), rules)).toEqual([
      "Review iteration made illegal transition on story A: it cannot be approved while a verify command fails (npm test).",
    ]);
    expect(messages(tasks(story("A", { ...REJECTED, reviewCount: 5 })), rules)).toEqual([]);
  });
});

describe("check 3, what is not committed", () => {
  it("is nothing to tell when all is", () => {
    expect(checkCommitted([])).toEqual([]);
  });

  it("names the files and what to do before stopping", () => {
    const [found] = checkCommitted(["a", "b", "c", "d", "e", "f", "g"]);
    expect(found).toMatchObject({ check: 3 });
    expect(found?.message).toContain("There are uncommitted changes: a, b, c, d, e and 2 more.");
    expect(found?.message).toContain("Commit ALL changes, including progress.txt and tasks.json updates.");
  });
});
