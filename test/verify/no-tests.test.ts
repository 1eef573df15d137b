import { describe, expect, it } from "vitest";
import { hasTests, tallyOf } from "../../src/verify/no-tests.js";

describe("an output of a runner", () => {
  it.each([
    "collected 0 items\n\n==== no tests ran in 0.01s ====",
    "?   \texample.com/x\t[no test files]",
    "1..0",
    "  0 passing (1ms)",
    "collected 3 items\n\n==== 3 skipped in 0.01s ====",
    "# tests 3\n# pass 0\n# fail 0\n# skipped 3",
    " Test Files  1 passed (1)\n      Tests  3 skipped (3)",
    "No tests were found!!!",
    "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
    "Executed 0 tests, with 0 failures (0 unexpected)",
    "make: 'test' is up to date.",
    "web:test: No test files found, exiting with code 0\napi:test: # tests 0\napi:test: # pass 0",
  ])("%j ran no tests", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([true, false]);
  });

  it.each([
    "# tests 3\n# pass 3",
    "==== 5 passed in 0.1s ====",
    "running 0 tests\n\nrunning 4 tests\ntest result: ok. 4 passed",
    "  12 passing (5ms)",
    "Ran 2 tests in 0.1s",
    "==== 1 passed, 2 skipped in 0.1s ====",
    "Test Suites: 1 passed, 1 total\nTests:       1 skipped, 2 passed, 3 total",
    "1..2\nok 1 a\nok 2 b # skip",
    "packages/a test: No tests found\npackages/b test: Tests  3 passed (3)",
    "test result: FAILED. 0 passed; 3 failed; 0 ignored",
  ])("%j ran some", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([false, true]);
  });

  it.each([
    "ERROR collecting tests/test_a.py",
    "Test suite failed to run",
    'error: could not compile `x` (test "a") due to 1 previous error',
    "Error: Cannot find module '../a'\nRequire stack:\n- /x/test/a.js",
    "    at Object.<anonymous> (/x/tests/a.js:3:8)",
  ])("%j has tests that cannot be read yet", (output) => {
    expect(hasTests(output)).toBe(true);
  });

  it("is that of a linter, where no test is counted", () => {
    const isTestRun = (output: string): boolean => tallyOf(output).isTestRun();
    expect(["✖ 3 problems", "tests/a.js:1:2 error", "errors during collection"].map(isTestRun)).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each([
    "npm error enoent Could not read package.json: open '/x/package.json'",
    "/usr/bin/python3: No module named pytest",
    "Error: Cannot find module '/x/tests/a.js'\n    at Module._load (node:internal/x:1:2)\n  requireStack: []",
    "sh: 1: vitest: not found",
    "",
  ])("%j shows no test at all", (output) => {
    expect(hasTests(output)).toBe(false);
  });

  it.each([
    "done",
    "collected 3 items",
    "collected 0 items / 1 error\n==== 1 error in 0.05s ====",
    "make: Nothing to be done for 'all'.",
  ])("%j is neither", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([false, false]);
  });
});

describe("failures that an output names", () => {
  const failing = (output: string): Promise<string | undefined> => tallyOf(output).failing();

  it("are the same whatever their order, their times and the words between", async () => {
    const one = await failing("FAILED tests/a.py::test_1 (0.12s)\nnoise 1\n\u001b[31m✖ test 2\u001b[0m");
    expect(await failing("✖ test 2\nnoise 2\nFAILED tests/a.py::test_1 (3.4s)")).toBe(one);
    expect(await failing("✖ test 3\nFAILED tests/a.py::test_1 (0.12s)")).not.toBe(one);
    expect(await failing("1) adds numbers\n● Suite › test")).toMatch(/^[0-9a-f]{40}$/);
  });

  it("are none where no line names one", async () => {
    expect(await failing("3 passed\nerror-free\nexit 1")).toBeUndefined();
  });
});
