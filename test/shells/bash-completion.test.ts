import { expect, test } from "vitest";
import { bashCompletion } from "../../scripts/test-needs.mjs";
import { inBash, LOAD } from "./bash.js";
import { INSERTED } from "./terminal.js";

test("completion in bash is the same beside the bash-completion package", async () => {
  const startUp = `source ${bashCompletion(process.env)}\n${LOAD}`;
  expect((await inBash(startUp, Object.keys(INSERTED))).lines).toEqual(INSERTED);
});
