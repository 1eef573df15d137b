import { copyFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { splitWords } from "../../src/words.js";
import { createProject, eventually, type Project, type Step } from "../kit.js";

const EXAMPLE = join(import.meta.dirname, "../../examples/recipe-saver");
const example = (file: string): string => readFileSync(join(EXAMPLE, file), "utf8");
const SPEC = "specs/recipe-saver.md";

const writes = (file: string, text = example(file)): string =>
  `mkdir -p "$(dirname ${file})"; cat > ${file} <<'END'\n${text}END\n`;
const PRP: Step = { bash: writes("PRPs/recipe-saver.prp.md"), text: "written" };
const TESTS: Step = { bash: writes("tests/test_extraction.py"), text: "written" };
const CODE: Step = { bash: writes("recipes.py"), text: "written" };
const WRONG: Step = { bash: writes("recipes.py", "def extract(page): pass\n"), text: "written" };

/** Stands for pytest, which is not everywhere: the suite passes when duplicates are looked for. */
const PYTEST = `#!/bin/sh
if grep -q 'known\\["title"\\]' recipes.py 2> /dev/null; then echo "3 passed in 0.01s"; exit 0; fi
echo "FAILED tests/test_extraction.py::test_duplicate_detection"
echo "1 failed in 0.01s"
exit 1
`;

/** The example before anything was done. */
function recipeSaver(...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.write(SPEC, example(SPEC));
  p.write("pyproject.toml", '[project]\ndependencies = ["pytest"]\n');
  p.program("pytest", PYTEST);
  p.agent(steps);
  p.sh("git add -A && git commit -qm spec");
  return p;
}

/** A project with a pipeline of its own, and gates that take no time. */
function withPipeline(yaml: string, ...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" } });
  p.write("s.md", "A spec.\n");
  p.write(".ralph/pipeline.yaml", yaml);
  p.agent(steps.length === 0 ? [{ text: "tried" }] : steps);
  p.sh("git add -A && git commit -qm spec");
  return p;
}

const history = (p: Project): string[] =>
  [...p.read(".ralph/state.md").matchAll(/\| (.*)$/gm)].map(([, line]) => line as string);
const gates = (p: Awaited<ReturnType<Project["ralph"]>>): string[] =>
  p.events.flatMap((event) => (event.type === "gate.finished" ? [`${event.state} ${event.passed}`] : []));

describe("ralph pipeline run", () => {
  it("goes from the spec of the example to working code, as its transcript shows", async () => {
    const p = recipeSaver(PRP, TESTS, CODE);
    copyFileSync(join(EXAMPLE, "../../templates/validate-tests.sh"), join(p.dir, "validate-tests.sh"));
    const { code, stdout } = await p.ralph("pipeline", "run", SPEC, "--max-gate-retries", "3");
    const ofRalph = stdout
      .split("\n")
      .filter((line) => !/^(⏺|✅ Result|✅ Complete|✅ SCM|written)/.test(line));
    const from = ofRalph.findIndex((line) => line.startsWith("State: "));
    const to = ofRalph.indexOf("✅ PIPELINE COMPLETE");
    expect(`${ofRalph.slice(from, to + 1).join("\n")}\n`).toBe(example("TRANSCRIPT.txt"));
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 3 });
    expect(p.read(".ralph/state.md")).toMatch(/^current_state: COMPLETE\nretry_count: 0$/m);
    expect(p.sh("git log --format=%s").split("\n")).toEqual(
      expect.arrayContaining([
        "GENERATE_PRP: gate passed",
        "GENERATE_TESTS: gate passed",
        "IMPLEMENT: gate passed",
      ]),
    );
    for (const file of readdirSync(join(EXAMPLE, "instructions")))
      expect(p.read(`.ralph/${file}`)).toBe(example(`instructions/${file}`));
  });

  it("ends in the gutter with the output and a patch, and goes on from there after a fix by hand", async () => {
    const p = recipeSaver(PRP, TESTS, WRONG);
    const stopped = await p.ralph("pipeline", "run", SPEC, "--max-gate-retries", "2");
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toContain(`Gate: FAIL
🚨 GUTTER REACHED: Max retries exhausted for state: IMPLEMENT
Last output saved to: .ralph/gutter-IMPLEMENT.log
Changes saved to: .ralph/gutter-diff.patch
`);
    expect(p.read(".ralph/gutter-IMPLEMENT.log")).toContain("test_duplicate_detection");
    const created = [...p.read(".ralph/gutter-diff.patch").matchAll(/^\+\+\+ b\/(.*)$/gm)].map(
      ([, file]) => file,
    );
    expect(created).toEqual(["PRPs/recipe-saver.prp.md", "recipes.py", "tests/test_extraction.py"]);
    p.sh(
      "git worktree add -q ../again HEAD~2 && cd ../again && git apply ../project/.ralph/gutter-diff.patch && test -f recipes.py",
    );
    expect((await p.ralph("pipeline", "status")).stdout).toMatch(
      /^Run: \S+ \(gutter\)\nState: IMPLEMENT \(retry 2\/2\), in the gutter$/m,
    );

    p.write("recipes.py", example("recipes.py"));
    const { code, stdout } = await p.ralph("pipeline", "resume");
    expect({ code, calls: p.calls() }).toEqual({ code: 0, calls: 4 });
    expect(stdout).toContain("State: IMPLEMENT (retry 0/2)\nRunning: pytest tests/ -v\n");
    expect(history(p).slice(-4)).toEqual([
      "IMPLEMENT -> IMPLEMENT (gate failed, retry 2/2)",
      "IMPLEMENT -> GUTTER (max retries exhausted)",
      "GUTTER -> IMPLEMENT (resumed, retries reset)",
      "IMPLEMENT -> COMPLETE (gate passed)",
    ]);
  });

  it("does not pass with tests that were weakened on the way", async () => {
    const emptied = writes("tests/test_extraction.py", 'def test_extraction():\n    """SC-1 SC-2 SC-3"""\n');
    const gate = "ralph gate check-tests {{prp_file}} --implemented";
    const p = withPipeline(
      `states:\n  CHECK_TESTS: { command: "${gate}" }\n  IMPLEMENT: { command: test -f recipes.py }\n`,
      { bash: `touch recipes.py; ${emptied}`, text: "done" },
    );
    for (const file of ["PRPs/recipe-saver.prp.md", "tests/test_extraction.py"]) p.write(file, example(file));
    p.sh("mv PRPs/recipe-saver.prp.md PRPs/s.prp.md");
    const { code, all } = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "2");
    expect(code).toBe(1);
    expect(all).toContain("tests/test_extraction.py changed since CHECK_TESTS: restore it");
  });

  it("takes neither the PRP nor the tests of an earlier run for those of this one", async () => {
    const p = recipeSaver(
      { text: "the PRP is there" },
      {
        bash: writes("PRPs/recipe-saver.prp.md", example("PRPs/recipe-saver.prp.md").replace("-001", "-002")),
        text: "a",
      },
      { text: "the tests are there" },
      {
        bash: writes(
          "tests/test_new.py",
          example("tests/test_extraction.py").replaceAll("assert ", "assert True and "),
        ),
        text: "b",
      },
      CODE,
    );
    for (const file of ["PRPs/recipe-saver.prp.md", "tests/test_extraction.py"]) p.write(file, example(file));
    p.write("tests/test_old.py", "def test_old():\n    print(1)\n");
    p.sh("git add -A && git commit -qm earlier");
    const result = await p.ralph("pipeline", "run", SPEC, "--json");
    expect({ code: result.code, gates: gates(result) }).toEqual({
      code: 0,
      gates: [
        ...["STRESS_TEST true", "VALIDATE true", "GENERATE_PRP false", "GENERATE_PRP true", "CHECK_PRP true"],
        ...[
          "GENERATE_TESTS false",
          "GENERATE_TESTS true",
          "CHECK_TESTS true",
          "IMPLEMENT false",
          "IMPLEMENT true",
        ],
      ],
    });
    expect(p.prompt(1)).toContain("From .ralph/generate-instruction.md:");
    expect(p.prompt(1)).toContain("end your final message with <promise>BLOCKED: what you need</promise>");
    expect(p.prompt(2)).toContain(
      "it has not changed since the run began: write it again from specs/recipe-saver.md",
    );
    expect(p.prompt(4)).toContain("there are no tests for its criteria that are new or changed in this run");
  });

  it("gives each retry the goal, what the gate said and what to do, in a fresh agent", async () => {
    const p = withPipeline(
      "states:\n  A:\n    goal: Make it {{current_state}}.\n    command: test -f b || { echo b is missing; false; }\n    onFail: Make b.\n",
      { text: "no" },
      { bash: "touch b", text: "made" },
    );
    const result = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code: result.code, gates: gates(result) }).toEqual({
      code: 0,
      gates: ["A false", "A false", "A true"],
    });
    for (const text of ["Make it A.", "b is missing", "Make b.", "This is retry 2 of 5."])
      expect(p.prompt(2)).toContain(text);
    expect(p.prompt(2)).toContain("Fix only what the gate names, and nothing else.");
    expect(p.prompt(2)).toContain("Spec: s.md.");
    expect(result.events.filter(({ type }) => type === "state.changed")).toMatchObject([
      { from: "A", to: "COMPLETE" },
    ]);
  });

  it("takes the exit code of a runner that it does not know, says so, and lets no agent empty it", async () => {
    const p = withPipeline('states:\n  TEST: { command: "{{test_command}}" }\n', {
      bash: "printf 'test:\\n\\t@echo All good\\n' > Makefile",
      text: "mended",
    });
    p.write("Makefile", "test:\n\t@echo All good\n");
    const good = await p.ralph("pipeline", "run", "s.md");
    expect({ code: good.code, calls: p.calls() }).toEqual({ code: 0, calls: 0 });
    expect(good.stderr).toContain(
      "TEST runs make test (ralph does not know this runner: its exit code decides",
    );
    expect(good.stdout).toContain(
      "Output: ⚠️ passed, but its output does not say how many tests ran: All good\nGate: PASS\n",
    );
    p.write("Makefile", "test:\n\t@echo it is broken; exit 1\n");
    const emptied = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "2");
    expect(emptied.code).toBe(1);
    expect(emptied.stdout).toContain("Makefile changed since the run began: restore it");
  });

  it("shows what a gate warned of, though it passed, and says what a PRP is", async () => {
    const p = recipeSaver({ text: "nothing" });
    p.write(SPEC, example(SPEC).replace("## Scope", "## Limits"));
    const { stdout, stderr } = await p.ralph("pipeline", "run", SPEC, "--max-gate-retries", "1");
    expect(stdout).toContain(`Output: ✅ Instruction generated
⚠️ specs/recipe-saver.md:1: warning: no scope section: say what is out of scope
Gate: PASS
`);
    expect(stderr).toContain(
      "PRP (product requirements prompt): the plan that an agent writes from your spec, in PRPs/recipe-saver.prp.md\n",
    );
  });

  it.each([
    ["on-fail", 1, "A false, A false"],
    ["on-fail", 2, "A false, A false, A false"],
    ["before", 1, "A false"],
  ])("where agents work %s, %i retries are as many tries", async (agent, retries, expected) => {
    const p = withPipeline(`states:\n  A: { command: test -f a, agent: ${agent} }\n`);
    const result = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", String(retries), "--json");
    expect({ calls: p.calls(), gates: gates(result).join(", ") }).toEqual({
      calls: retries,
      gates: expected,
    });
    expect(result.finished).toMatchObject({ reason: "gutter" });
  });

  it("takes a gate that hangs for one that failed, with all that it started", async () => {
    const p = withPipeline(
      "states:\n  A:\n    command: sleep 987 & sleep 987\n    agent: never\n    timeout: 0.2s\n",
    );
    const result = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "1", "--json");
    expect({ code: result.code, calls: p.calls() }).toEqual({ code: 1, calls: 0 });
    expect(result.events.find(({ type }) => type === "gate.finished")).toMatchObject({
      passed: false,
      output: "❌ timed out after 0.2s",
    });
    expect(result.finished).toMatchObject({ reason: "gutter" });
    expect(p.sh("ps -eo args | grep -c '^sleep 98[7]' || true").trim()).toBe("0");
  });

  it("ends what a gate leaves behind, and keeps files from before the run out of the patch", async () => {
    const p = withPipeline(
      "states:\n  A: { command: 'setsid sleep 986 > /dev/null 2>&1 & sleep 985 > /dev/null 2>&1 & false' }\n",
      { bash: "echo new > new.txt", text: "tried" },
    );
    p.write(".env", "TOKEN=from-before\n");
    p.write("mine/notes", "from-before\n");
    expect((await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "2")).code).toBe(1);
    expect(p.sh("ps -eo args | grep -c '^sleep 98[56]' || true").trim()).toBe("0");
    const patch = p.read(".ralph/gutter-diff.patch");
    expect([patch.includes("new.txt"), patch.includes("from-before")]).toEqual([true, false]);
  });

  it("does not pass with work that a hook of git refuses, and tells the agent why", async () => {
    const p = withPipeline(
      "states:\n  A: { command: test -f a, agent: before }\n",
      { bash: "touch a", text: "made" },
      { bash: "touch b", text: "mended" },
    );
    p.write(".git/hooks/pre-commit", '#!/bin/sh\ntest -f b || { echo "b is missing"; exit 1; }\n');
    p.sh("chmod +x .git/hooks/pre-commit");
    const result = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code: result.code, calls: p.calls() }).toEqual({ code: 0, calls: 2 });
    expect(p.prompt(2)).toMatch(/### git commit\n\nFailed: exit code 1\.[\s\S]*b is missing/);
    expect(p.sh("git status --short")).toBe("");
  });

  it("asks the loop's own nets when the agent fails, and charges no retry for that", async () => {
    const p = withPipeline("states:\n  A: { command: test -f b, agent: before }\n", { exit: 1 });
    const result = await p.ralph("pipeline", "run", "s.md", "--max-failures", "1", "--json");
    expect(result.finished).toMatchObject({ reason: "agent_failed", exitCode: 1 });
    expect(gates(result)).toEqual([]);
  });

  it("writes nothing in a dry run, and asks nobody", async () => {
    const p = recipeSaver();
    const files = () =>
      p.sh("find . -path ./.git -prune -o -print | sort") + p.sh("ls $RALPH_HOME 2> /dev/null || true");
    const before = files();
    const { code, stdout } = await p.ralph("pipeline", "run", "--dry-run", SPEC);
    expect({ code, calls: p.calls(), files: files() }).toEqual({ code: 0, calls: 0, files: before });
    expect(stdout).toMatch(/^7 {2}IMPLEMENT +on-fail +30m0s +pytest tests\/ -v$/m);
  });
});

describe("ralph pipeline resume", () => {
  it("goes on after a kill between the pass of a gate and the transition, and asks no agent again", async () => {
    const p = withPipeline(
      "states:\n  A: { command: test -f a, agent: before }\n  B: { command: test -f a }\n",
      { bash: "touch a", text: "made" },
    );
    // What is left over is committed between the two.
    p.write(".git/hooks/pre-commit", '#!/bin/sh\nkill -9 "$(ps -o ppid= -p $PPID)"\n');
    p.sh("chmod +x .git/hooks/pre-commit");
    const killed = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code: killed.code, gates: gates(killed) }).toEqual({ code: null, gates: ["A true"] });
    expect(killed.events.some(({ type }) => type === "state.changed")).toBe(false);
    p.sh("rm .git/hooks/pre-commit");

    const resumed = await p.ralph("pipeline", "resume", "--json");
    expect({ code: resumed.code, gates: gates(resumed), calls: p.calls() }).toEqual({
      code: 0,
      gates: ["A true", "B true"],
      calls: 1,
    });
    expect(history(p)).toEqual(["INIT -> A", "A -> B (gate passed)", "B -> COMPLETE (gate passed)"]);
  });

  it("believes its journal and not state.md, and keeps the count of retries after a kill", async () => {
    const p = withPipeline("states:\n  A: { command: test -f a }\n  B: { command: 'true' }\n");
    p.program("claude", `#!/bin/sh\n[ "$1" = --help ] && exit\nkill -9 $PPID\n`);
    const killed = await p.ralph("pipeline", "run", "s.md", "--json");
    expect({ code: killed.code, gates: gates(killed) }).toEqual({ code: null, gates: ["A false"] });
    p.write(".ralph/state.md", "current_state: COMPLETE\n");
    p.agent([{ bash: "touch a", text: "made" }]);
    const { code, stdout } = await p.ralph("resume");
    expect(code).toBe(0);
    expect(stdout).toContain("State: A (retry 1/5)");
  });

  it("does not take what an agent made of the pipeline", async () => {
    const p = withPipeline("states:\n  A: { command: test -f a }\n", {
      bash: "echo 'states: { A: { command: \"true\" } }' > .ralph/pipeline.yaml",
      text: "done",
    });
    const stopped = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "2", "--json");
    expect(stopped.events.filter(({ type }) => type === "violation")).toMatchObject([
      { file: ".ralph/pipeline.yaml" },
      { file: ".ralph/pipeline.yaml" },
    ]);
    expect(p.read(".ralph/pipeline.yaml")).toContain("test -f a");
    expect(p.prompt(2)).toMatch(/The last iteration did so anyway[\s\S]*\.ralph\/pipeline\.yaml/);
    const { code, stdout } = await p.ralph("pipeline", "resume", "--max-gate-retries", "1");
    expect(code).toBe(1);
    expect(stdout).toContain("Running: test -f a\n");
  });

  it("still knows the PRP from before the run, and takes the one that was written by hand", async () => {
    const p = withPipeline(
      'states:\n  PRP: { command: "ralph gate generate {{spec_file}}", agent: before }\n',
    );
    p.write("PRPs/s.prp.md", "# PRP-1\n");
    const run = ["--max-gate-retries", "1", "--json"];
    expect(gates(await p.ralph("pipeline", "run", "s.md", ...run))).toEqual(["PRP false"]);
    expect(gates(await p.ralph("pipeline", "resume", ...run))).toEqual(["PRP false", "PRP false"]);
    p.write("PRPs/s.prp.md", "# PRP-2\n");
    expect(gates(await p.ralph("pipeline", "resume", ...run))).toEqual(["PRP true"]);
  });

  it("takes the pipeline as it is now, and more retries", async () => {
    const p = withPipeline(
      "states:\n  A: { command: test -f a }\n",
      { text: "no" },
      { bash: "touch b", text: "tried" },
    );
    expect((await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "1")).code).toBe(1);
    await byHand(() => p.write(".ralph/pipeline.yaml", "states:\n  A: { command: test -f b }\n"));
    const { code, stdout, stderr } = await p.ralph("pipeline", "resume", "--max-gate-retries", "3");
    expect(code).toBe(0);
    expect(stderr).toContain(".ralph/pipeline.yaml has changed since the run began: the new version counts");
    expect(stdout).toContain("State: A (retry 1/3)");
    p.write(".ralph/pipeline.yaml", "states:\n  Z: { command: x }\n");
    expect((await p.ralph("pipeline", "resume")).stderr).toContain("no unfinished pipeline in");
  });
});

/** The clock of the file system goes in steps: nobody edits a file in the step in which a run ended. */
async function byHand(write: () => string): Promise<void> {
  const ended = Date.now();
  await eventually(() => statSync(write()).ctimeMs > ended);
}

describe("ralph pipeline init", () => {
  it("writes the default pipeline and the script, which can be run as they are", async () => {
    const p = createProject();
    p.write("s.md", "A spec.\n");
    const { code, stdout } = await p.ralph("pipeline", "init", "--validate-tests");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `created .ralph/pipeline.yaml
created validate-tests.sh
Next: edit it, then ralph pipeline run --dry-run SPEC shows what it would run
`,
    });
    const plan = await p.ralph(
      ...splitWords("pipeline run s.md --dry-run --json --test-command 'make test'"),
    );
    const { states } = JSON.parse(plan.stdout) as { states: { command: string }[] };
    expect(states.slice(-2).map(({ command }) => command)).toEqual([
      "./validate-tests.sh tests/",
      "make test",
    ]);
  });
});

describe("ralph gate", () => {
  it("prints findings with their lines and exits 1, or 0", async () => {
    const p = recipeSaver();
    p.write("bad.md", "# Bad\n\n## Problem\n\nx\n");
    const { code, stdout } = await p.ralph("gate", "stress-test", "bad.md");
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `bad.md:1: error: no success or acceptance criteria: add "## Success criteria" with a list
bad.md:1: error: only 3 words, and at least 100 are needed
bad.md:1: warning: no scope section: say what is out of scope
bad.md:1: warning: no verification section: say how to check the result
❌ stress-test failed: 2 findings
`,
    });
    expect(p.read(".ralph/stress-test-instruction.md")).toContain("- bad.md:1: error: only 3 words");
    expect(await p.ralph("gate", "validate", SPEC)).toMatchObject({
      code: 0,
      stdout: "✅ Structure validation passed\n",
    });
  });

  it("tells programs the same as JSON", async () => {
    const p = recipeSaver();
    const { code, stdout } = await p.ralph("gate", "generate", SPEC, "--json");
    expect({ code, report: JSON.parse(stdout) }).toEqual({
      code: 1,
      report: {
        v: 1,
        gate: "generate",
        file: SPEC,
        passed: false,
        message: "generate failed: 1 finding",
        findings: [
          {
            file: "PRPs/recipe-saver.prp.md",
            line: 1,
            level: "error",
            message: "it does not exist yet: .ralph/generate-instruction.md says how to write it",
          },
        ],
        instruction: ".ralph/generate-instruction.md",
      },
    });
  });
});

/** A pipeline of one state, whose gate prints nothing and fails until `ok` is there. */
function inYml(): Project {
  const p = withPipeline("states:\n  ONLY: { command: test -f ok, agent: never }\n");
  p.sh("git mv .ralph/pipeline.yaml .ralph/pipeline.yml && git commit -qm yml");
  return p;
}

describe(".ralph/pipeline.yml", () => {
  it("is read, its gate in the gutter says why, and resume names the run and the spec", async () => {
    const p = inYml();
    const failed = await p.ralph("pipeline", "run", "s.md", "--max-gate-retries", "1", "--json");
    expect(failed.finished.reason).toBe("gutter");
    expect(p.read(".ralph/gutter-ONLY.log")).toMatch(
      /^\$ test -f ok\n[\s\S]*It printed nothing \(exit code 1\)/,
    );
    p.write("ok", "");
    const resumed = await p.ralph("pipeline", "resume");
    expect(resumed.stderr).toContain(`ralph: resuming run ${failed.finished.run}, the pipeline for s.md\n`);
    expect(resumed.code).toBe(0);
  });

  it("is not passed over by init, and beside pipeline.yaml is exit 2, and both are named", async () => {
    const p = inYml();
    expect((await p.ralph("pipeline", "init")).stderr).toContain(".ralph/pipeline.yml already there");
    p.write(".ralph/pipeline.yaml", p.read(".ralph/pipeline.yml"));
    for (const command of [["run", "s.md"], ["run", "--dry-run", "s.md"], ["init"]]) {
      const refused = await p.ralph("pipeline", ...command);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        "ralph: error: .ralph/pipeline.yaml and .ralph/pipeline.yml are both there (keep one of them)\n",
      ]);
    }
  });
});
