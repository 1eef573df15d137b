import { expect, test } from "vitest";
import { type BoardStory, boardLines } from "../../src/views/board.js";
import { createFormatter } from "../../src/views/format.js";

const format = createFormatter({
  useEmoji: false,
  useColor: false,
  showTimestamp: false,
  maxOutputLines: 3,
  maxOutputChars: 200,
  showProgress: false,
});

test.each([
  [[2, 1, 0], "Reviews: 3 for 2 stories, 1.5 each"],
  [[2], "Reviews: 2 for 1 story, 2.0 each"],
  [[0], "Reviews: 0"],
])("the board says what reviews of %j were for", (reviews, expected) => {
  const of = { title: "t", priority: 1, state: "approved", done: true, atCap: false, dependsOn: [] };
  const stories = reviews.map(
    (count, at): BoardStory => ({ ...of, story: `US-${at}`, reviews: count, iterations: 1 }),
  );
  const about = { v: 1, project: "p", branchName: "b", next: null, reviewCap: 5, run: null } as const;
  const lines = boardLines({ ...about, stories, budget: { stories: 0, iterations: 0 } }, format, 80);
  expect(lines.filter((line) => line.includes("Reviews:"))).toEqual([expected]);
});
