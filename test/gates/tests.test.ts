import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkTests } from "../../src/gates/check-tests.js";
import { suiteFindings } from "../../src/gates/suite.js";
import { javascriptTests } from "../../src/gates/tests/javascript.js";
import { pythonTests } from "../../src/gates/tests/python.js";
import { goTests, rustTests } from "../../src/gates/tests/rust-and-go.js";
import type { TestBlock } from "../../src/gates/tests/test-block.js";
import { hasTests, tallyOf } from "../../src/verify/no-tests.js";
import { temporaryFolder } from "../kit.js";

const PRP =
  "# PRP-1\n\n## Success Criteria\n\n| id | source |\n|---|---|\n| SC-1 | line 1 |\n| SC-2 | line 2 |\n";

const brief = (tests: TestBlock[]) =>
  tests.map(
    ({ name, line, asserts, skipped }) =>
      `${line} ${name}${asserts ? " asserts" : ""}${skipped ? ` ${skipped}` : ""}`,
  );

describe("the tests in a file", () => {
  it.each([
    ["a test that asserts", 'test("a", () => { assert.equal(f(), 1); });', ["1 a asserts"]],
    ["expect", "it('a', async () => {\n  await expect(f()).resolves.toBe(1);\n});", ["1 a asserts"]],
    ["an empty test", 'test("a", () => {});', ["1 a"]],
    ["an assertion in a comment", 'test("a", () => {\n  // assert(f())\n});', ["1 a"]],
    ["an assertion in a text", 'test("a", () => { log("expect(x)"); });', ["1 a"]],
    ["true that is true", 'test("a", () => { expect(true).toBe(true); assert.ok(1); });', ["1 a"]],
    ["a skipped test", 'it.skip("a", () => { assert(f()); });', ["1 a asserts skipped"]],
    ["a test to be written", 'test.todo("a");', ["1 a skipped"]],
    ["an option", 'test("a", { skip: true }, () => { assert(f()); });', ["1 a asserts skipped"]],
    [
      "a skipped group",
      'describe.skip("g", () => { it("a", () => { assert(f()); }); });',
      ["1 a asserts skipped"],
    ],
    ["a table", 'it.each([[1, 2]])("a %i", (x) => { expect(x).toBe(1); });', ["1 a %i asserts"]],
    [
      "brackets in texts",
      'test("a )", () => { const r = /[)"]/; assert.match(")", r); });',
      ["1 a ) asserts"],
    ],
    [
      "a title that is no text",
      "for (const c of CASES) test(c.name, () => { assert(f(c)); });",
      ["1 c.name asserts"],
    ],
    [
      "assertions of node under their own names",
      'import { equal, ok as yes } from "node:assert/strict";\ntest("a", () => { equal(f(), 1); });\ntest("b", () => { yes(f()); });\ntest("c", () => { ok(f()); });',
      ["2 a asserts", "3 b asserts", "4 c"],
    ],
    [
      "assertions that are required",
      'const { match } = require("assert");\ntest("a", () => { match(f(), /x/); });',
      ["2 a asserts"],
    ],
    ["a test that skips itself", 'test("a", (t) => { t.skip(); assert(f()); });', ["1 a asserts skipped"]],
    [
      "a test that skips itself elsewhere",
      'test("a", (t) => { if (process.platform === "win32") t.skip(); assert(f()); });',
      ["1 a asserts"],
    ],
    [
      "one option of several",
      'test("a", { timeout: 5, skip: "later" }, () => { assert(f()); });',
      ["1 a asserts skipped"],
    ],
    ["an option that is off", 'test("a", { skip: false }, () => { assert(f()); });', ["1 a asserts"]],
    [
      "a group with the option",
      'describe("g", { skip: true }, () => { it("a", () => { assert(f()); }); });',
      ["1 a asserts skipped"],
    ],
    ["a regular expression's test", "if (/x/.test(y)) { run(); }", []],
    ["several", 'test("a", () => {\n});\n\ntest("b", (t) => { t.is(1, f()); });', ["1 a", "4 b asserts"]],
  ])("JavaScript: %s", (_, text, expected) => {
    expect(brief(javascriptTests(text))).toEqual(expected);
  });

  it.each([
    ["assert", "def test_a():\n    assert f() == 1\n", ["1 test_a asserts"]],
    ["nothing", "def test_a():\n    f()\n\nx = 1\nassert x\n", ["1 test_a"]],
    ["a docstring", 'def test_a():\n    """assert this"""\n    pass\n', ["1 test_a"]],
    ["True", "def test_a():\n    assert True\n", ["1 test_a"]],
    [
      "unittest",
      "class T(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
      ["2 test_a asserts"],
    ],
    ["raises", "def test_a():\n    with pytest.raises(ValueError):\n        f()\n", ["1 test_a asserts"]],
    ["raises alone", "def test_a():\n    with raises(ValueError):\n        f()\n", ["1 test_a asserts"]],
    [
      "a class that is skipped",
      '@unittest.skip("x")\nclass T(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n',
      ["3 test_a asserts skipped"],
    ],
    [
      "a file that is skipped",
      "pytestmark = pytest.mark.skip\n\ndef test_a():\n    assert f()\n",
      ["3 test_a asserts skipped"],
    ],
    [
      "a test that skips itself",
      'def test_a():\n    pytest.skip("later")\n    assert f()\n',
      ["1 test_a asserts skipped"],
    ],
    [
      "a test that skips itself elsewhere",
      'def test_a():\n    if WINDOWS:\n        pytest.skip("x")\n    assert f()\n',
      ["1 test_a asserts"],
    ],
    ["a mark", "@pytest.mark.skip\ndef test_a():\n    assert f()\n", ["2 test_a asserts skipped"]],
  ])("Python: %s", (_, text, expected) => {
    expect(brief(pythonTests(text))).toEqual(expected);
  });

  it("Rust and Go", () => {
    const rust = "#[test]\nfn a() { assert_eq!(f(), 1); }\n#[test]\n#[ignore]\nfn b() { f(); }\n";
    expect(brief(rustTests(rust))).toEqual(["1 a asserts", "3 b skipped"]);
    const others =
      "#[test]\nfn a() -> Result<(), E> { f()?; Ok(()) }\n#[ignore]\n#[test]\nfn b() { assert!(f()); }\n";
    expect(brief(rustTests(others))).toEqual(["1 a asserts", "4 b asserts skipped"]);
    const go =
      'func TestA(t *testing.T) {\n\tif f() != 1 { t.Error("{") }\n}\nfunc TestB(t *testing.T) { f() }\n';
    expect(brief(goTests(go))).toEqual(["1 TestA asserts", "4 TestB"]);
  });
});

describe("check-tests", () => {
  const project = (files: Record<string, string>): string => {
    const folder = temporaryFolder();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  };
  const check = async (files: Record<string, string>, tests?: string): Promise<string[]> => {
    const found = await checkTests({ workspace: project(files), file: "p.md", text: PRP, tests });
    return found.map(({ file, line, level, message }) => `${file}:${line}: ${level}: ${message}`);
  };
  const asserted = (name: string): string => `test("${name}", () => { assert(f()); });\n`;

  it.each([
    ["titles", { "tests/a.test.js": asserted("SC-1 x") + asserted("x (SC-2)") }],
    ["a group", { "a.test.ts": `describe("SC-1", () => { ${asserted("x")} });\n// SC-2\n${asserted("y")}` }],
    [
      "names of functions",
      { "tests/test_a.py": "def test_sc_1_x():\n    assert f()\n\n\ndef test_SC2():\n    assert f()\n" },
    ],
    ["beside a helper", { "a.test.js": asserted("SC-1 SC-2"), "test-utils.js": "export const x = 1;\n" }],
    ["another language", { "spec/a_spec.rb": "it 'SC-1 SC-2'" }],
  ])("is content with criteria in %s", async (_, files) => {
    expect((await check(files)).filter((line) => line.includes("error"))).toEqual([]);
  });

  it.each([
    ["no tests", {}, ["p.md:1: error: no test was found"]],
    [
      "a criterion that is only in a comment of the file",
      { "a.test.js": `// SC-1, SC-2\n\n${asserted("SC-1")}` },
      ["p.md:8: error: SC-2 is in no test: name it in the test that proves it"],
    ],
    [
      "SC-10 for SC-1",
      { "a.test.js": asserted("SC-10") + asserted("SC-2") },
      ["p.md:7: error: SC-1 is in no test: name it in the test that proves it"],
    ],
    [
      "a test that asserts nothing",
      { "a.test.js": `${asserted("SC-1 SC-2")}test("x", () => { f(); });\n` },
      ['a.test.js:2: error: the test "x" asserts nothing'],
    ],
    [
      "a test that is skipped",
      { "a.test.js": asserted("SC-1 SC-2").replace("test(", "test.skip(") },
      ['a.test.js:1: error: the test "SC-1 SC-2" is skipped'],
    ],
    [
      "a test file without a test",
      { "a.test.js": asserted("SC-1 SC-2"), "b.test.js": "f();\n" },
      ["b.test.js:1: error: there is no test in it"],
    ],
    [
      "a file that does not parse",
      { "a.test.js": `${asserted("SC-1 SC-2")}const = 1;\n` },
      ["a.test.js:2: error: it does not parse: SyntaxError: Unexpected token '='"],
    ],
  ])("names %s", async (_, files, expected) => {
    expect(await check(files as Record<string, string>)).toEqual(expected);
  });

  it("looks at the folder that it is given", async () => {
    const files = { "old.test.js": 'test("x", () => {});', "tests/a.test.js": asserted("SC-1 SC-2") };
    expect(await check(files, "tests/")).toEqual([]);
  });

  it.each([
    ["echo '1 failed in 0.1s'; false", []],
    ["echo 'ERROR collecting tests/test_a.py'; exit 2", []],
    ["exit 3", ["exit 3 failed before it ran a test: exit code 3"]],
    ["echo the greeting is wrong; exit 1", []],
    [
      "echo './check.sh: nothing: not found'; exit 1",
      [
        "echo './check.sh: nothing: not found'; exit 1 failed before it ran a test: ./check.sh: nothing: not found",
      ],
    ],
    ["echo broken; exit 1; pytest", ["echo broken; exit 1; pytest failed before it ran a test: broken"]],
    ["make test", ["make test failed before it ran a test: make: *** No rule to make target 'test'.  Stop."]],
    ["true", ["true passes before anything was implemented: such tests prove nothing"]],
    ["echo 'ℹ tests 0'", ["echo 'ℹ tests 0' found no tests"]],
    ["no-such-runner", ["no-such-runner could not be started (exit code 127)"]],
    ["sleep 9", ["sleep 9 did not end within 0.1s"]],
    ["exit 5 # pytest", ["exit 5 # pytest found no tests"]],
  ])("of the suite %j says %j", async (command, expected) => {
    const found = await suiteFindings({
      workspace: temporaryFolder(),
      file: "t",
      command,
      timeoutMs: command === "sleep 9" ? 100 : 9000,
    });
    expect(found.map(({ message }) => message)).toEqual(expected);
  });
});

describe("an output of a runner", () => {
  it.each([
    "# tests 0\n# pass 0",
    "ℹ tests 0",
    "collected 0 items\n\n==== no tests ran in 0.01s ====",
    "No test files found, exiting with code 0",
    "No tests found, exiting with code 0",
    "Ran 0 tests in 0.000s\n\nOK",
    "running 0 tests\n\ntest result: ok. 0 passed; 0 failed",
    "?   \texample.com/x\t[no test files]",
    "testing: warning: no tests to run\nPASS\nok  \tx\t0.002s [no tests to run]",
    "1..0",
    "  0 passing (1ms)",
    "\u001b[34mℹ tests 0\u001b[39m",
    "collected 3 items\n\n==== 3 skipped in 0.01s ====",
    "3 deselected in 0.01s",
    "# tests 3\n# pass 0\n# fail 0\n# skipped 3",
    "ok 1 - a.test.js\n# tests 1\n# pass 0\n# skipped 1",
    "running 3 tests\ntest result: ok. 0 passed; 0 failed; 3 ignored; 0 measured",
    "Test Suites: 1 passed, 1 total\nTests:       3 skipped, 3 total",
    " Test Files  1 passed (1)\n      Tests  3 skipped (3)",
    "Ran 3 tests in 0.000s\n\nOK (skipped=3)",
    "No tests were found!!!",
    "0 runs, 0 assertions, 0 failures, 0 errors, 0 skips",
    "3 runs, 0 assertions, 0 failures, 0 errors, 3 skips",
    "3 examples, 0 failures, 3 pending",
    "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0",
    "Tests run: 3, Failures: 0, Errors: 0, Skipped: 3",
    "Executed 0 tests, with 0 failures (0 unexpected)",
    "No test is available in /x/y.dll.",
    "> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL",
    "ok | 0 passed | 0 failed (1ms)",
    "make: 'test' is up to date.",
    "make: Nothing to be done for 'test'.",
  ])("%j ran no tests", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([true, false]);
  });

  it.each([
    "# tests 3\n# pass 3",
    "==== 5 passed in 0.1s ====",
    "running 0 tests\n\nrunning 4 tests\ntest result: ok. 4 passed",
    "ok  \tx\t0.002s\n?   \ty\t[no test files]",
    "  12 passing (5ms)",
    "Ran 2 tests in 0.1s",
    "Ran 3 tests in 0.1s\n\nOK (skipped=1)",
    "# tests 3\n# pass 1\n# skipped 2",
    "==== 1 passed, 2 skipped in 0.1s ====",
    "Test Suites: 1 passed, 1 total\nTests:       1 skipped, 2 passed, 3 total",
    "Tests run: 3, Failures: 0, Errors: 0, Skipped: 1",
    "100% tests passed, 0 tests failed out of 3",
    "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3",
    "1..2\nok 1 a\nok 2 b # skip",
    "> Task :test\n\nBUILD SUCCESSFUL in 1s",
    "2 runs, 2 assertions, 0 failures, 0 errors, 0 skips",
    "==== 2 failed in 0.1s ====",
    "test result: FAILED. 0 passed; 3 failed; 0 ignored",
  ])("%j ran some", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([false, true]);
  });

  it.each([
    "ERROR collecting tests/test_a.py",
    "Test suite failed to run",
    "FAIL\tx [build failed]",
    'error: could not compile `x` (test "a") due to 1 previous error',
    "Error: Cannot find module '../a'\nRequire stack:\n- /x/test/a.js",
    "Cannot find module '/x/a.js' imported from /x/a.test.js",
    'Traceback:\n  File "/x/tests/test_a.py", line 1, in <module>\nModuleNotFoundError',
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
    "make: *** No rule to make target 'test'.  Stop.",
    "sh: 1: vitest: not found",
    "",
  ])("%j shows no test at all", (output) => {
    expect(hasTests(output)).toBe(false);
  });

  it.each([
    "done",
    "linted 3 files, 2 skipped",
    "collected 3 items",
    "collected 0 items / 1 error\n==== 1 error in 0.05s ====",
  ])("%j is neither", (output) => {
    expect([tallyOf(output).foundNone(), tallyOf(output).ran()]).toEqual([false, false]);
  });
});
