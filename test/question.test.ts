import { expect, test } from "vitest";
import { questionIn } from "../src/loop/ask.js";

test.each([
  ["<promise>DECIDE: Postgres or SQLite?</promise>", { kind: "decide", text: "Postgres or SQLite?" }],
  ["x\n<promise>blocked:\n  no access\n to it </promise>", { kind: "blocked", text: "no access\n to it" }],
  [
    "<promise>DECIDE: first?</promise>\nThen:\n  **<promise>DECIDE: second?</promise>**\r\nThanks.",
    { kind: "decide", text: "second?" },
  ],
  ["<promise>COMPLETE</promise>", undefined],
  ["I could say <promise>BLOCKED: no access</promise>", undefined],
  ["<promise>BLOCKED: no access</promise> is what I would say", undefined],
  ["`<promise>BLOCKED: no access</promise>`\n> <promise>BLOCKED: no access</promise>", undefined],
  ["<promise>DECIDE:  </promise>", undefined],
  ["<promise>DECIDE: unfinished", undefined],
  ["I am BLOCKED: by nothing", undefined],
  ["As told: <promise>DECIDE:   your question</promise>", undefined],
])("%j asks %j", (message, expected) => {
  expect(questionIn(message, "Ask with <promise>DECIDE: your question</promise>.")).toEqual(expected);
});
