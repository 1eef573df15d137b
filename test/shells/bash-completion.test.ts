import { expect, test } from "vitest";
import { bashCompletion } from "../../scripts/test-needs.mjs";
import { inBash, LOAD } from "./bash.js";
import { insertedFor } from "./terminal.js";

test("completion in bash is the same beside the bash-completion package", async () => {
  const startUp = `source ${bashCompletion(process.env)}\n${LOAD}`;
  const expected = insertedFor(/[:=]| -f|com/);
  expect((await inBash(startUp, Object.keys(expected))).lines).toEqual(expected);
});
