import fc from "fast-check";
import { expect, test } from "vitest";
import { putBack } from "../../../src/recipes/stories/judge.js";
import { checkTasks } from "../../../src/recipes/stories/rules.js";
import { type Mode, modeOf } from "../../../src/recipes/stories/state.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import type { Rules } from "../../../src/recipes/stories/transitions.js";
import { REJECTED, story, tasks, WAITING } from "./samples.js";

const RULES = { skipReview: false, reviewCap: 3 };

/** Something that an agent does to the list: to a story by its place, or to all of it. */
type Edit = (stories: Story[]) => Story[];

const onOne =
  (place: number, change: Partial<Story>): Edit =>
  (stories) =>
    stories.map((one, index) => (index === place ? { ...one, ...change } : one));

const fields: fc.Arbitrary<Partial<Story>> = fc.record(
  {
    passes: fc.boolean(),
    reviewStatus: fc.constantFrom(null, "needs_review", "changes_requested", "approved"),
    reviewCount: fc.integer({ min: -1, max: 6 }),
    reviewFeedback: fc.constantFrom("", " ", "fix line 3", "[AUTO-APPROVED AT CAP] rest"),
    acceptanceCriteria: fc.constantFrom([], ["it works"], ["it works", "and more"]),
    id: fc.constantFrom("US-001", "US-002", "US-009"),
    notes: fc.constantFrom("", "did it"),
    dependsOn: fc.constantFrom([], ["US-001"], ["US-404"]),
  },
  { requiredKeys: [] },
);

/** What each kind of iteration is there for: without it, no story would ever get anywhere. */
const legal: Edit = (stories) => {
  const at = (status: Story["reviewStatus"]): number =>
    stories.findIndex(({ reviewStatus }) => reviewStatus === status);
  const reviewCount = (stories[at("needs_review")]?.reviewCount ?? 0) + 1;
  const WORK: Record<Mode, Edit> = {
    implement: onOne(at(null), { ...WAITING }),
    review: onOne(at("needs_review"), { reviewStatus: "approved", passes: true, reviewCount }),
    "review-fix": onOne(at("changes_requested"), { reviewStatus: "needs_review", reviewFeedback: "" }),
  };
  return WORK[modeOf(tasks(...stories), RULES)](stories);
};

const reject: Edit = (stories) =>
  stories.map((one) =>
    one.reviewStatus === "needs_review" ? { ...one, ...REJECTED, reviewCount: one.reviewCount + 1 } : one,
  );

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.constantFrom<Edit>(legal, legal, legal, reject),
  fc.constant(legal),
  fc.tuple(fc.nat(2), fields).map(([place, change]) => onOne(place, change)),
  fields.map(
    (change): Edit =>
      (stories) => [...stories, story("US-008", change)],
  ),
  fc.nat(2).map(
    (place): Edit =>
      (stories) =>
        stories.filter((_, index) => index !== place),
  ),
  fc.constantFrom<Edit>(
    () => [],
    (stories) => stories.toReversed(),
  ),
);
const turn = fc.record({
  edits: fc.array(edit, { minLength: 1, maxLength: 2 }),
  failing: fc.constantFrom<string[][]>([], [], [], ["npm test"]),
});

/** As the loop does it: what is found is put back, and a list that is wrong even so is the one from before. */
function believed(text: string, before: TaskList, rules: Rules): TaskList {
  const { tasks: now, findings } = checkTasks(text, { ...rules, before: before });
  if (now !== undefined && findings.length === 0) return now;
  const mended = putBack(now, { before, commands: [] }, findings);
  const check = checkTasks(JSON.stringify(mended), { ...RULES });
  return check.findings.length === 0 ? mended : before;
}

/** Why a story may be approved now that was not before. */
function isEarned(now: Story, was: Story | undefined, mode: Mode, failing: string[]): boolean {
  return (
    mode === "review" &&
    failing.length === 0 &&
    was?.reviewStatus === "needs_review" &&
    now.reviewCount === was.reviewCount + 1
  );
}

test("no sequence of edits brings a story to approved or passed but a review of work that was submitted", () => {
  let approvals = 0;
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 12 }), (turns) => {
      let list = tasks(story("US-001"), story("US-002"));
      for (const { edits, failing } of turns) {
        const before = list;
        const mode = modeOf(before, RULES);
        const edited = edits.reduce((stories, change) => change(stories), before.userStories);
        list = believed(JSON.stringify({ ...before, userStories: edited }), before, {
          ...RULES,
          mode,
          failing,
        });
        const old = new Map(before.userStories.map((one) => [one.id, one]));
        for (const now of list.userStories) {
          expect(now.passes).toBe(now.reviewStatus === "approved");
          if (!now.passes || old.get(now.id)?.passes) continue;
          approvals += 1;
          expect(isEarned(now, old.get(now.id), mode, failing)).toBe(true);
        }
        expect(list.userStories.map(({ id }) => id)).toEqual(expect.arrayContaining([...old.keys()]));
      }
    }),
    { numRuns: 200 },
  );
  // The edits are not so wild that nothing ever gets through.
  expect(approvals).toBeGreaterThan(10);
});

test("any text in place of the list is judged, and the stories from before stay", () => {
  const before = tasks(story("US-001"), story("US-002"));
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.json(),
    fc.constantFrom("", "null", "[]", '{"userStories":[]}'),
  );
  fc.assert(
    fc.property(text, fc.constantFrom<Mode>("implement", "review", "review-fix"), (content, mode) => {
      expect(believed(content, before, { ...RULES, mode })).toEqual(before);
    }),
    { numRuns: 60 },
  );
});
