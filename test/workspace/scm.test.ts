import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LoopEventBody } from "../../src/events.js";
import { createRedactor } from "../../src/records/redact.js";
import { forgetStart, rememberStart } from "../../src/workspace/git.js";
import { messageIn, runScm, type Scm } from "../../src/workspace/scm.js";
import { takeStart } from "../../src/workspace/start.js";
import { atEnd, createProject, type Project } from "../kit.js";

let project: Project;
beforeEach(() => {
  project = createProject();
  for (const [name, value] of Object.entries(project.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

interface Done {
  events: LoopEventBody[];
  failure: string | undefined;
  asked: number;
}

/** Runs the tasks in the project with an agent that gives this answer. */
async function scm(
  answer: string,
  { tasks = ["commit"], ...more }: Partial<Scm> = {},
  kill = new AbortController().signal,
): Promise<Done> {
  let asked = 0;
  const context = {
    workspace: project.dir,
    redact: createRedactor({ MY_TOKEN: "topsecret-value" }),
    kill,
    async askForMessage() {
      asked += 1;
      return { text: answer };
    },
  };
  const events: LoopEventBody[] = [];
  const running = runScm({ command: "git", stage: "all", tasks, ...more }, context, 7);
  let step = await running.next();
  for (; !step.done; step = await running.next()) events.push(step.value);
  return { events, failure: step.value?.message, asked };
}

/** As a run does it that begins now. */
async function beginRun(): Promise<void> {
  const { start } = await takeStart(project.dir, join(project.root, "excludes"), true);
  writeFileSync(start.excludes, "");
  rememberStart(start);
  atEnd(() => forgetStart(start));
}

const finished = (task: string, passed: boolean, exitCode: number | null, message: unknown) => ({
  type: "scm.finished",
  iteration: 7,
  task,
  passed,
  exitCode,
  durationMs: expect.any(Number),
  message,
});

const committed = (): string[] => project.sh("git show --name-only --format= HEAD").trim().split("\n").sort();
const commits = (): number => Number(project.sh("git rev-list --count HEAD"));
const subject = (): string => project.sh("git log -1 --format=%B").trimEnd();

describe("the commit message", () => {
  it.each([["$(touch x) and `touch x`"], ["--amend"], ["# not a comment"], ["Füge ü 😀 hinzu"]])(
    "%s is committed as it is and not executed",
    async (message) => {
      project.write("new", "x");
      expect(await scm(message)).toEqual({
        events: [finished("commit", true, 0, message)],
        failure: undefined,
        asked: 1,
      });
      expect([subject(), commits(), project.exists("x")]).toEqual([message, 2, false]);
    },
  );

  it.each<[string, string | undefined]>([
    ["\n\n  Add a file  \n\nand explain it", "Add a file"],
    ["Sure!\n<response>\n  Add a file\n</response>", "Add a file"],
    ["<response>\n</response>", undefined],
  ])("in %j is %j", (answer, message) => {
    expect(messageIn(answer)).toBe(message);
  });

  it("that the agent does not give is ralph's own", async () => {
    project.write("new", "x");
    expect(await scm(" \n ")).toEqual({
      events: [finished("commit", true, 0, "Work of ralph, iteration 7")],
      failure: undefined,
      asked: 1,
    });
    expect(subject()).toBe("Work of ralph, iteration 7");
  });
});

describe("what is committed", () => {
  it("is tracked files alone where that is set", async () => {
    project.sh("echo more >> README.md; echo x > new");
    expect(await scm("Edit", { stage: "tracked" })).toMatchObject({ failure: undefined, asked: 1 });
    expect(committed()).toEqual(["README.md"]);
    expect(project.sh("git status --porcelain")).toBe("?? new\n");
  });

  it.each<[Scm["stage"], string]>([
    ["all", "touch README.md"],
    ["all", "mkdir .ralph && echo x > .ralph/guardrail_1_test.log"],
    ["tracked", "echo x > new"],
  ])("can be nothing (%s: %s), and then nobody is asked", async (stage, command) => {
    project.sh(command);
    expect(await scm("Add", { stage })).toEqual({
      events: [finished("commit", true, 0, "nothing to commit")],
      failure: undefined,
      asked: 0,
    });
    expect(commits()).toBe(1);
  });
});

describe("what is not committed", () => {
  const DIVERGED = `echo 1 > f; git add f; git commit -qm 1; git switch -qc side; echo s > f; git commit -qam s
    git switch -q main; echo 2 > f; git commit -qam 2`;

  it("is a merge that the user was in, for which the agent is not to blame", async () => {
    project.sh(`${DIVERGED}; git merge -q side || true`);
    await beginRun();
    const { events } = await scm("Merge");
    expect(events).toEqual([
      finished("commit", false, null, expect.stringContaining("a merge is under way")),
    ]);
  });

  it.each([
    ["with a commit", "mkdir a; git init -q a/inner; cd a/inner; touch x; git add .; git commit -qm i"],
    ["that was staged", "git init -q inner; git -C inner commit -q --allow-empty -m i; git add inner 2>&1"],
  ])("is a repository inside %s", async (_, command) => {
    project.sh(`echo x > new; ${command}`);
    expect((await scm("Add")).events).toEqual([
      finished(
        "commit",
        false,
        1,
        expect.stringContaining("inner is a repository of its own: git would commit"),
      ),
    ]);
    expect([commits(), project.sh("git ls-files --stage | grep ^160000 || true")]).toEqual([1, ""]);
  });

  it.each([["fails", "exit 2", "gpg failed to sign"]])(
    "is what cannot be signed because the key %s",
    { timeout: 30_000 },
    async (_, command, said) => {
      project.program("signer", `#!/bin/sh\n${command}\n`);
      project.sh("git config commit.gpgSign true; git config gpg.program signer; echo x > new");
      const { events, asked } = await scm("Add");
      expect(events).toEqual([finished("commit", false, null, expect.stringContaining(said))]);
      expect(JSON.stringify(events)).toContain(
        "unlock the key before the run, or set commit.gpgSign to false",
      );
      expect([asked, commits()]).toEqual([0, 1]);
    },
  );
});

describe("push without an upstream", () => {
  beforeEach(() => {
    project.sh("git init -q --bare ../remote.git && git remote add origin ../remote.git && echo x > new");
  });
  const tasks = ["commit", "push"];

  it("goes to origin from a branch of ralph's own, and is followed from then on", async () => {
    project.sh("git switch -qc ralph/one");
    expect(await scm("Add", { tasks })).toMatchObject({ failure: undefined });
    expect(project.sh("git rev-parse --abbrev-ref @{upstream}")).toBe("origin/ralph/one\n");
    expect(project.sh("git -C ../remote.git log -1 --format=%s ralph/one")).toBe("Add\n");
  });

  it.each(["simple", "matching"])(
    "from another branch is told, with what to do (push.default %s)",
    async (by) => {
      project.sh(`git config push.default ${by}`);
      const { events } = await scm("Add", { tasks });
      const message =
        "the branch main has no upstream, so ralph pushed nothing (run: git push --set-upstream origin main)";
      expect(events).toEqual([finished("commit", true, 0, "Add"), finished("push", false, null, message)]);
    },
  );
});

describe("other tasks and programs", () => {
  it("get the words of a task as they are, and nothing passes through a shell", async () => {
    project.program("scm", '#!/bin/sh\nprintf "%s|" "$@"\n');
    expect(await scm("", { command: "scm --flag", tasks: ["push 'a b' $(touch x); touch x"] })).toEqual({
      events: [finished("push 'a b' $(touch x); touch x", true, 0, "--flag|push|a b|$(touch|x);|touch|x|")],
      failure: undefined,
      asked: 0,
    });
    expect(project.exists("x")).toBe(false);
  });

  it("commit with -am and the message where the program is not git", async () => {
    project.program("hg", `#!/bin/sh\nprintf '%s|' "$@" > ${join(project.root, "args")}\n`);
    expect(await scm("Add $(touch x)", { command: "hg" })).toMatchObject({ failure: undefined, asked: 1 });
    expect(readFileSync(join(project.root, "args"), "utf8")).toBe("commit|-am|Add $(touch x)|");
    expect(project.sh("git status --porcelain")).toBe("");
  });
});
