import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkTests, suiteFindings } from "../../../../src/recipes/pipeline/gates/check-tests.js";

import { readBefore, testFiles, writeBefore } from "../../../../src/recipes/pipeline/gates/test-files.js";
import { temporaryFolder } from "../../../kit.js";

const PRP =
  "# PRP-1\n\n## Success Criteria\n\n| id | source |\n|---|---|\n| SC-1 | line 1 |\n| SC-2 | line 2 |\n";

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
    const found = await checkTests(PRP, { workspace: project(files), file: "p.md", tests });
    return found.map(({ file, line, level, message }) => `${file}:${line}: ${level}: ${message}`);
  };
  /** What is there in the folder now. */
  const now = (workspace: string, onlyNew: boolean) => {
    const path = join(temporaryFolder(), "before.json");
    writeBefore(path, workspace, "p.md", []);
    return readBefore(path, onlyNew);
  };
  const asserted = (name: string): string => `test("${name}", () => { assert(f()); });\n`;

  it.each([
    ["titles", { "tests/a.test.js": asserted("SC-1 x") + asserted("x (SC-2)") }],
    [
      "names of functions",
      { "tests/test_a.py": "def test_sc_1_x():\n    assert f()\n\n\ndef test_SC2():\n    assert f()\n" },
    ],
    ["beside a helper", { "a.test.js": asserted("SC-1 SC-2"), "test-utils.js": "export const x = 1;\n" }],
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
      "a test that asserts nothing",
      { "a.test.js": `${asserted("SC-1 SC-2")}test("x", () => { f(); });\n` },
      ['a.test.js:2: error: the test "x" asserts nothing'],
    ],
    [
      "a test that is skipped",
      { "a.test.js": asserted("SC-1 SC-2").replace("test(", "test.skip(") },
      ['a.test.js:1: error: the test "SC-1 SC-2" is skipped or expected to fail'],
    ],
    [
      "a file that does not parse",
      { "a.test.js": `${asserted("SC-1 SC-2")}const = 1;\n` },
      ["a.test.js:2: error: it does not parse: SyntaxError: Unexpected token '='"],
    ],
  ])("names %s", async (_, files, expected) => {
    expect(await check(files as Record<string, string>)).toEqual(expected);
  });

  describe("in a run that found tests", () => {
    const OLD = `${asserted("SC-1 old")}test("empty", () => { f(); });\n`;
    const judgedAfter = async (
      files: Record<string, string>,
      change: Record<string, string | null>,
    ): Promise<string[]> => {
      const workspace = project({ "p.md": PRP, ...files });
      const before = now(workspace, true);
      for (const [name, text] of Object.entries(change))
        if (text === null) rmSync(join(workspace, name));
        else writeFileSync(join(workspace, name), text);
      const found = await checkTests(PRP, { workspace, file: "p.md", before });
      return found.map(({ file, line, level, message }) => `${file}:${line}: ${level}: ${message}`);
    };
    const MISSING = [1, 2].map(
      (n) =>
        `p.md:${n + 6}: error: SC-${n} is in no test that is new or changed in this run: name it in the test that proves it`,
    );

    it.each<[string, Record<string, string>, Record<string, string | null>]>([
      ["as they were", { "a.test.js": asserted("SC-1 SC-2") }, {}],
      ["with other titles", { "a.test.js": asserted("x") }, { "a.test.js": asserted("SC-1 SC-2") }],
      ["with a comment", { "a.test.js": asserted("x") }, { "a.test.js": `// SC-1 SC-2\n${asserted("x")}` }],
      [
        "in another file",
        { "a.test.js": asserted("SC-1 SC-2") },
        { "a.test.js": null, "b.test.js": asserted("SC-1 SC-2") },
      ],
    ])("counts none of them for its criteria, %s", async (_, files, change) => {
      expect((await judgedAfter(files, change)).filter((line) => line.includes("error"))).toEqual(MISSING);
    });

    it("counts new ones beside them, and only warns about the old", async () => {
      const files = { "a.test.js": OLD, "broken.test.js": "const = 1;\n", "none.test.js": "f();\n" };
      const found = await judgedAfter(files, {
        "a.test.js":
          OLD + asserted("SC-1 new").replace("f()", "g()") + asserted("SC-2").replace("f()", "h()"),
      });
      expect(found).toEqual([
        'a.test.js:2: warning: the test "empty" asserts nothing',
        "broken.test.js:1: warning: it does not parse: SyntaxError: Unexpected token '='",
        "broken.test.js:1: warning: there is no test in it",
        "none.test.js:1: warning: there is no test in it",
      ]);
    });

    it("wants a new test to fail, and not an old one alone", async () => {
      const workspace = project({ "p.md": PRP, "tests/test_old.py": "def test_old():\n    assert f()\n" });
      const before = now(workspace, true);
      writeFileSync(join(workspace, "tests/test_new.py"), "def test_sc_1():\n    assert g()\n");
      const files = testFiles(workspace, undefined, before);
      const said = async (name: string): Promise<string[]> => {
        const command = `echo 'FAILED tests/${name}'; echo '1 failed, 1 passed in 0.1s'; false; # pytest`;
        const found = await suiteFindings(command, { workspace, file: "t", timeoutMs: 9000 }, files);
        return found.map(({ message }) => message);
      };
      expect(await said("test_new.py::test_sc_1")).toEqual([]);
      expect(await said("test_old.py::test_old")).toEqual([
        expect.stringContaining(
          "fails in tests from before the run alone (FAILED tests/test_old.py::test_old)",
        ),
      ]);
    });
  });

  it.each([
    ["echo '1 failed in 0.1s'; false", []],
    ["exit 3", ["exit 3 failed before it ran a test: exit code 3"]],
    [
      "echo './check.sh: nothing: not found'; exit 1",
      [
        "echo './check.sh: nothing: not found'; exit 1 failed before it ran a test: ./check.sh: nothing: not found",
      ],
    ],
    ["echo broken; exit 1; pytest", ["echo broken; exit 1; pytest failed before it ran a test: broken"]],
    ["true", ["true passes before anything was implemented: such tests prove nothing"]],
    ["echo 'ℹ tests 0'", ["echo 'ℹ tests 0' found no tests"]],
    ["no-such-runner", ["no-such-runner could not be started (exit code 127)"]],
    ["sleep 9", ["sleep 9 did not end within 0.1s"]],
  ])("of the suite %j says %j", async (command, expected) => {
    const found = await suiteFindings(command, {
      workspace: temporaryFolder(),
      file: "t",
      timeoutMs: command === "sleep 9" ? 100 : 9000,
    });
    expect(found.map(({ message }) => message)).toEqual(expected);
  });
});
