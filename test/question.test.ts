import { expect, test } from "vitest";
import { questionIn } from "../src/question.js";

test.each([
  ["<promise>DECIDE: Postgres or SQLite?</promise>", { kind: "decide", text: "Postgres or SQLite?" }],
  ["x\n<promise>blocked:\n  no access\n to it </promise>", { kind: "blocked", text: "no access\n to it" }],
  [
    "<promise>DECIDE: first?</promise> then <promise>DECIDE: second?</promise>",
    { kind: "decide", text: "second?" },
  ],
  ["<promise>COMPLETE</promise>", undefined],
  ["<promise>DECIDE:  </promise>", undefined],
  ["<promise>DECIDE: unfinished", undefined],
  ["I am BLOCKED: by nothing", undefined],
  ["As told: <promise>DECIDE:   your question</promise>", undefined],
])("%j asks %j", (message, expected) => {
  expect(questionIn(message, "Ask with <promise>DECIDE: your question</promise>.")).toEqual(expected);
});
