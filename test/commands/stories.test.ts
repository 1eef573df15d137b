import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acquireLock } from "../../src/records/lock.js";
import { createProject, type Project, type Step } from "../kit.js";
import { APPROVED, REJECTED, story, tasks, WAITING } from "../recipes/stories/samples.js";
import { APPROVE, CHEAT, edit, FIX, IMPLEMENT, project, REJECT, read, review, TASKS } from "./stories-kit.js";

const run = (p: Project, ...args: string[]) => p.ralph("stories", "run", "--no-sandbox", "--json", ...args);

describe("ralph stories run", () => {
  it("lets Codex write where git keeps its records, so that it can commit from its sandbox", async () => {
    const p = project();
    const raw = [{ type: "item.completed", item: { id: "1", type: "agent_message", text: "no" } }];
    p.agent([{ onlyRaw: true, raw }], { name: "codex", help: "--sandbox <MODE> --add-dir <DIR>" });
    await run(p, "--agent", "codex", "-n", "1");
    const sandbox = ["--sandbox", "workspace-write", "--add-dir", join(p.dir, ".git")];
    expect(p.args(1, "codex")).toEqual(["exec", "--json", ...sandbox, "-"]);
    await run(p, "--agent", "codex", "-n", "1", "--worktree", "w");
    const records = join(p.dir, ".git/worktrees/w");
    expect(p.args(2, "codex")).toEqual(["exec", "--json", ...sandbox, "--add-dir", records, "-"]);
  });

  it("implements, reviews, mends, reviews again, and is done", async () => {
    const p = project();
    p.agent([
      { ...IMPLEMENT, bash: `cp .ralph-active ../active.json; ${IMPLEMENT.bash}` },
      REJECT,
      FIX,
      APPROVE,
    ]);
    const { code, events, stderr } = await run(p);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `ralph: 1 story, about 3 iterations; --max-iterations is 15
ralph: agents work on branch main; with --worktree x they work on ralph/x
`,
    });
    const started = events.filter((event) => event.type === "iteration.started");
    expect(started.map(({ mode, about }) => [mode, about])).toEqual([
      ["implement", "US-001"],
      ["review", "US-001"],
      ["review-fix", "US-001"],
      ["review", "US-001"],
    ]);
    const moves = events.filter((event) => event.type === "state.changed");
    expect(moves.map(({ from, to, reviews }) => [from, to, reviews])).toEqual([
      ["todo", "needs_review", 0],
      ["needs_review", "changes_requested", 1],
      ["changes_requested", "needs_review", 1],
      ["needs_review", "approved", 2],
    ]);
    expect(events.filter(({ type }) => type === "violation")).toEqual([]);
    expect(read(p)).toEqual([story("US-001", { ...APPROVED, reviewCount: 2 })]);
    expect(JSON.parse(readFileSync(join(p.root, "active.json"), "utf8"))).toMatchObject({
      iterationMode: "implement",
      max_iterations: 15,
    });
    expect([p.exists(".ralph-active"), p.sh("git status --porcelain")]).toEqual([false, ""]);

    const report = JSON.parse((await p.ralph("report", "--json")).stdout) as { stories: unknown };
    expect(report.stories).toEqual([
      {
        story: "US-001",
        title: "Title of US-001",
        state: "approved",
        reviews: 2,
        atCap: false,
        iterations: 4,
        costUsd: expect.closeTo(0.04),
        durationMs: expect.any(Number),
        violations: 0,
      },
    ]);
    const again = await p.ralph("stories", "run");
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringContaining("Nothing to do: all stories are done (1)."),
    ]);
    const asEvents = await p.ralph("stories", "run", "--json");
    expect([asEvents.stdout, asEvents.stderr]).toEqual(["", expect.stringContaining("Nothing to do")]);
  });

  it("ends an agent that breaks the rules three times in a row, and goes on when it is resumed", async () => {
    const p = project();
    p.agent([CHEAT]);
    const { code, finished, events } = await run(p);
    const message = "the agent broke the rules: US-001";
    expect(code).toBe(1);
    expect(finished).toMatchObject({ reason: "violation", iterations: 3, message });
    expect(events.filter(({ type }) => type === "violation")).toMatchObject(
      [1, 2, 3].map((iteration) => ({ iteration, story: "US-001" })),
    );
    expect(read(p)[0]).toMatchObject({ passes: false, reviewStatus: null, reviewCount: 0 });
    p.agent([IMPLEMENT, APPROVE]);
    expect((await p.ralph("resume", "--json")).finished).toMatchObject({ success: true, iterations: 5 });
  });

  it("asks another agent for the reviews", async () => {
    const p = project();
    p.agent([IMPLEMENT, FIX]);
    p.agent([REJECT, APPROVE], { name: "critic" });
    p.settings({
      agent: { command: "claude" },
      agents: { other: { command: join(p.bin, "critic"), env: { CRITIC: "1" } } },
    });
    p.sh("git commit -qam settings");
    const { code, events } = await run(p, "--reviewer-agent", "other");
    expect(code).toBe(0);
    const asked = events.flatMap((event) => (event.type === "agent.started" ? [event.agent] : []));
    expect(asked).toEqual(["claude", "other", "claude", "other"]);
    const { iterations } = JSON.parse((await p.ralph("report", "--json")).stdout) as {
      iterations: { agent: string }[];
    };
    expect(iterations.map(({ agent }) => agent)).toEqual(asked);
  });

  it.each(["resume", "a new run"])(
    "%s believes nothing that an agent wrote before ralph was killed",
    async (how) => {
      const p = project();
      p.agent([{ bash: `${CHEAT.bash}; touch ../done; sleep 60` }]);
      const first = p.start(["stories", "run", "--json"]);
      await first.until((output) => output.includes('"agent.started"'));
      while (!readdirSync(p.root).includes("done")) await new Promise((resolve) => setTimeout(resolve, 20));
      first.child.kill("SIGKILL");
      await first.result;
      expect(read(p)[0]).toMatchObject({ passes: true });
      p.agent([IMPLEMENT, APPROVE]);
      const isNew = how === "a new run";
      const { finished, events, stderr } = await (isNew ? run(p) : p.ralph("resume", "--json"));
      expect(finished).toMatchObject({ success: true, iterations: 2 });
      const modes = events.flatMap((event) => (event.type === "iteration.started" ? [event.mode] : []));
      expect(modes).toEqual(["implement", "review"]);
      expect(
        /run \S+ was cut off before ralph could verify the approval of US-001, so ralph took it back/.test(
          stderr,
        ),
      ).toBe(isNew);
      expect(p.sh("git log --format=%s")).toContain("ralph: put back ralph/tasks.json\n");
    },
  );

  it("skips reviews, and a cap of one approves with what is left", async () => {
    const p = project();
    p.agent([
      { bash: edit('Object.assign(s[0],{passes:true,notes:"n"})'), text: "<promise>COMPLETE</promise>" },
    ]);
    expect((await run(p, "--skip-review")).code).toBe(0);
    expect(read(p)[0]).toMatchObject({ passes: true, reviewStatus: null, reviewCount: 0 });

    const q = project();
    const capped = review(
      '{reviewStatus:"approved",passes:true,reviewFeedback:"[AUTO-APPROVED AT CAP] a typo"}',
    );
    q.agent([IMPLEMENT, REJECT, { bash: capped, text: "at the cap" }]);
    const { code, events } = await run(q, "--review-cap", "1");
    expect(code).toBe(0);
    expect(events.filter(({ type }) => type === "violation")).toHaveLength(1);
    expect(q.prompt(3)).toContain("changes_requested at the review cap (1)");
    expect(events.findLast(({ type }) => type === "state.changed")).toMatchObject({
      to: "approved",
      atCap: true,
    });
    const board = await q.ralph("stories", "status", "--stats");
    expect(board.stdout).toContain("At cap:  US-001 (review these yourself)");
  });

  it("runs the verify commands itself, and tells what failed", async () => {
    const p = project({
      ...tasks(story("US-001")),
      verifyCommands: ["test -f ok || { echo no ok; exit 4; }"],
    });
    p.agent([IMPLEMENT, APPROVE, REJECT, { ...FIX, bash: `touch ok; ${FIX.bash}` }, APPROVE]);
    const { code, events } = await run(p);
    expect(code).toBe(0);
    const checks = events.flatMap((event) =>
      event.type === "check.finished" ? [[event.iteration, event.passed]] : [],
    );
    expect(checks).toEqual([
      [1, false],
      [2, false],
      [4, true],
      [5, true],
    ]);
    expect(p.prompt(2)).toContain("Failed: exit code 4. Its output:\n\n```\nno ok\n```");
    expect(events.filter(({ type }) => type === "violation")).toMatchObject([
      { iteration: 2, story: "US-001" },
    ]);
  });

  it("says what is not committed at the start, and does not hold the agent to it", async () => {
    const p = project();
    p.write("mine.txt", "x");
    p.agent([
      { bash: "git stash list", text: "nothing" },
      { bash: IMPLEMENT.bash?.replace("git add -A", "git add ralph code.txt") ?? "", text: "implemented" },
    ]);
    const { stderr, events } = await run(p, "-n", "2");
    expect(stderr).toContain("ralph: warning: not committed yet: mine.txt;");
    expect(events.filter(({ type }) => type === "violation")).toEqual([]);
    expect(p.sh("git status --porcelain")).toBe("?? mine.txt\n");
  });

  it("works in a worktree of its own, and elsewhere by -d and --ralph-dir", async () => {
    const p = project();
    p.agent([IMPLEMENT, APPROVE]);
    const { code, finished } = await run(p, "--worktree", "w");
    expect([code, finished.worktree]).toEqual([0, join(`${p.dir}-worktrees`, "w")]);
    expect(read(p)[0]).toMatchObject({ passes: false });
    p.sh("git mv ralph plan && git commit -qm move");
    const swapped = (step: Step): Step => ({
      ...step,
      bash: (step.bash ?? "").replaceAll(TASKS, "plan/tasks.json"),
    });
    p.agent([IMPLEMENT, APPROVE].map(swapped));
    const flags = ["--json", "-d", p.dir, "--ralph-dir", "plan"];
    expect((await p.ralphWith({ cwd: p.root }, "stories", "run", ...flags)).code).toBe(0);
    p.write("plan/tasks.json", JSON.stringify(tasks(story("US-002"))));
    const refused = await p.ralph("stories", "run", "--ralph-dir", "plan", "--worktree", "v");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("plan/tasks.json is not committed as it is"),
    ]);
  });
});

describe("bad input", () => {
  const PASSED = { passes: true, notes: "n" };
  const CIRCLE = [story("A", { dependsOn: ["B"] }), story("B", { dependsOn: ["A"] })];

  const WRONG: [list: unknown, flags: string, message: string][] = [
    ['{\n  "project": "p",\n}', "", "ralph/tasks.json is not valid JSON: unexpected } at line 3, column 1"],
    [
      tasks(story("A", { priority: "x" as never })),
      "",
      'tasks.json: Story A: priority must be a number, but is "x"',
    ],
    [tasks(...CIRCLE), "", "Story A: dependsOn has a cycle: A → B → A"],
    [tasks(), "", "ralph/tasks.json: userStories is empty"],
    [tasks(story("A", PASSED)), "", "Story A has passes=true but reviewStatus is 'null'"],
    [tasks(story("A", PASSED)), "", "continue with --skip-review"],
    [tasks(story()), "--review-cap 0", "--review-cap 0: expected a whole number of at least 1"],
    [tasks(story()), "--ralph-dir none", "no none folder in"],
    [tasks(story()), "--ralph-dir ../x", "--ralph-dir ../x: expected a folder inside the project"],
    [tasks(story()), "-d none", "no such project folder: none"],
    [tasks(story()), "--reviewer-agent nobody", "agent not found: nobody"],
    [tasks(story()), "--reviewer-agent claude --skip-review", "--reviewer-agent exclude each other"],
  ];

  it("is one line, exit 2, and starts nothing", async () => {
    const p = project();
    p.agent([{ text: "x" }]);
    for (const [list, flags, message] of WRONG) {
      p.write(TASKS, typeof list === "string" ? list : JSON.stringify(list));
      const { code, stdout, stderr } = await p.ralph("stories", "run", ...flags.split(" ").filter(Boolean));
      expect.soft([code, stdout, stderr], message).toEqual([2, "", expect.stringMatching(/^.+\n$/)]);
      expect.soft(stderr).toContain(message);
    }
    p.write(TASKS, JSON.stringify(tasks(story())));
    p.sh("rm -r .git");
    expect((await p.ralph("stories", "run")).stderr).toContain("not a git repository");
    expect([p.calls(), p.exists(".ralph-active")]).toEqual([0, false]);
  });
});

describe("ralph stories init, import, status, verify and archive", () => {
  it("init makes the files once, with a name, a date and the line in .gitignore", async () => {
    const p = createProject();
    p.write(".gitignore", "node_modules");
    const { code, stdout } = await p.ralph("stories", "init", "--name", "checkout");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Next steps:\n  1. Write ralph/prd.md")]);
    expect(JSON.parse(p.read(TASKS))).toMatchObject({ project: "checkout", branchName: "ralph/checkout" });
    expect(p.read("ralph/progress.txt")).toMatch(
      /^# Ralph Progress Log\nStarted: \d{4}-\d\d-\d\d\nPRD: checkout\n/,
    );
    expect(p.read(".gitignore")).toBe("node_modules\n.ralph-active\n");
    p.write("ralph/prd.md", "mine");
    const again = await p.ralph("stories", "init");
    expect([again.code, p.read("ralph/prd.md")]).toEqual([2, "mine"]);
    expect((await p.ralph("stories", "init", "--force")).code).toBe(0);
    expect([p.read("ralph/prd.md") === "mine", p.read(".gitignore")]).toEqual([
      false,
      "node_modules\n.ralph-active\n",
    ]);
    const bad = await p.ralph("stories", "init", "--name", "../x", "--force");
    expect([bad.code, bad.stderr]).toEqual([
      2,
      expect.stringContaining("expected a name that a branch can end with"),
    ]);
  });

  it("what nobody has written in is made anew, and status says that there are no stories yet", async () => {
    const p = createProject();
    await p.ralph("stories", "init", "--name", "one");
    const fresh = await p.ralph("stories", "status");
    expect([fresh.code, fresh.stdout]).toEqual([0, expect.stringMatching(/^No stories yet\. Write /)]);
    p.write("ralph/prompt.md", "mine");
    const again = await p.ralph("stories", "init", "--name", "two");
    expect([again.code, p.read("ralph/prompt.md")]).toEqual([0, "mine"]);
    expect(JSON.parse(p.read(TASKS))).toMatchObject({ project: "two", branchName: "ralph/two" });
  });

  it("nobody takes the stories away from a run that is at work", async () => {
    const p = project();
    const lock = acquireLock(join(p.home, ".ralph"), { workspace: p.dir }, "r1");
    const file = p.write("prd.json", JSON.stringify({ userStories: [story("Z")] }));
    for (const args of [["init", "--force"], ["import", file, "--force"], ["archive"]]) {
      const { code, stderr } = await p.ralph("stories", ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining("run r1 (pid")]);
    }
    lock.release();
    expect(read(p)).toEqual([story("US-001")]);
  });

  it("verify holds the stories of a run against where its iteration began", async () => {
    const list = { ...tasks(story("A")), verifyCommands: ["true"] };
    const p = project(list);
    p.agent([{ bash: `while ! test -f ../go; do sleep 0.05; done` }]);
    const running = p.start(["stories", "run", "--json", "-n", "1"]);
    await running.until((output) => output.includes('"agent.started"'));
    p.write(TASKS, JSON.stringify({ ...list, verifyCommands: [] }));
    const { code, stdout } = await p.ralph("stories", "verify");
    p.sh("touch ../go");
    await running.result;
    expect([code, stdout]).toEqual([1, expect.stringContaining('✗ verifyCommands lost "true".')]);
  });

  it("what was spent on another feature is not counted for the story that has its id now", async () => {
    const p = project();
    p.agent([IMPLEMENT, APPROVE]);
    await run(p);
    const iterations = async (): Promise<unknown> => {
      const { stdout } = await p.ralph("stories", "status", "--stats", "--json");
      return (JSON.parse(stdout) as { stories: { iterations: number }[] }).stories[0]?.iterations;
    };
    expect(await iterations()).toBe(2);
    p.write(TASKS, JSON.stringify(tasks(story("US-001", { title: "Another feature" }))));
    expect(await iterations()).toBe(0);
  });

  it("import takes over a prd.json: what was passed there is reviewed here", async () => {
    const p = createProject();
    const old = (id: string, passes: boolean) => ({
      ...{ id, title: id, description: "d", acceptanceCriteria: ["c"], priority: 1, passes, notes: "" },
    });
    const list = { project: "P", branchName: "ralph/p", description: "d" };
    p.write("prd.json", JSON.stringify({ ...list, userStories: [old("A", true), old("B", false)] }));
    const { code, stdout } = await p.ralph("stories", "import", "prd.json");
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Imported 2 stories. Already done, but not reviewed: A."),
    ]);
    expect(read(p).map(({ id, passes, reviewStatus }) => [id, passes, reviewStatus])).toEqual([
      ["A", false, "needs_review"],
      ["B", false, null],
    ]);
    expect(p.exists("ralph/prompt.md")).toBe(true);
    expect((await p.ralph("stories", "import", "prd.json")).code).toBe(2);
    for (const [text, message] of [
      ['{"userStories": [{"id": "A"}]}', "bad.json: Story A: title is missing"],
      ['{"name": "x"}', "bad.json: userStories is missing: it must be a list of stories\n"],
      ["{", "unexpected end of file at line 1, column 2"],
    ] as const) {
      const bad = await p.ralph("stories", "import", p.write("bad.json", text), "--force");
      expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it("import takes over a Markdown checklist", async () => {
    const p = createProject();
    p.write(
      "TODO.md",
      `# Web shop

- [ ] Add **the cart**
  - [ ] Two articles stay after a reload
  - the price is shown
- [x] US-007: Log in
- no task

## US-002: Pay by card
As a buyer I pay by card.

**Acceptance criteria:**

- [ ] a paid order is stored
`,
    );
    const { code, stdout } = await p.ralph("stories", "import", "TODO.md");
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("Imported 3 stories. Already done, but not reviewed: US-007."),
    ]);
    expect(JSON.parse(p.read(TASKS))).toMatchObject({ project: "Web shop", branchName: "ralph/web-shop" });
    const shown = read(p).map(({ id, title, acceptanceCriteria, reviewStatus }) => {
      return [id, title, acceptanceCriteria, reviewStatus];
    });
    expect(shown).toEqual([
      ["US-001", "Add the cart", ["Two articles stay after a reload", "the price is shown"], null],
      ["US-007", "Log in", ["Log in"], "needs_review"],
      ["US-002", "Pay by card", ["a paid order is stored"], null],
    ]);
    expect(read(p)[2]?.description).toBe("As a buyer I pay by card.");
    const none = await p.ralph("stories", "import", p.write("notes.md", "- a\n- b\n"), "--force");
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("holds no checklist (write each")]);
  });

  it("add makes the folder, numbers the story and fills in the rest; it can be worked on", async () => {
    const p = createProject();
    p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
    const first = await p.ralph("stories", "add", "Add the cart");
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringContaining("Added US-001 to ralph/tasks.json\nIts title is its only criterion"),
    ]);
    await p.ralph("stories", "add", "Pay", "--criteria", "by card", "--criteria", "by bank");
    expect(read(p)).toMatchObject([
      {
        id: "US-001",
        title: "Add the cart",
        acceptanceCriteria: ["Add the cart"],
        priority: 1,
        passes: false,
      },
      { id: "US-002", title: "Pay", acceptanceCriteria: ["by card", "by bank"], priority: 2 },
    ]);
    for (const args of [[" "], ["x", "--criteria", ""], []])
      expect((await p.ralph("stories", "add", ...args)).code).toBe(2);
    p.sh("git add -A && git commit -qm plan");
    p.agent([IMPLEMENT, APPROVE, IMPLEMENT, APPROVE]);
    expect((await run(p)).finished).toMatchObject({ reason: "completed" });
  });

  it("a list with ids, titles and criteria is enough: the rest is filled in and committed", async () => {
    const least = (id: string) => ({ id, title: `Title of ${id}`, criteria: ["works"] });
    const p = project({ userStories: [least("A"), least("B")] });
    p.agent([IMPLEMENT, APPROVE, IMPLEMENT, APPROVE]);
    expect((await p.ralph("stories", "verify")).code).toBe(0);
    expect((await p.ralph("stories", "status")).stdout).toContain("Next:    implement A\n");
    const { finished, events } = await run(p);
    expect(finished).toMatchObject({ reason: "completed", iterations: 4 });
    expect(events.filter(({ type }) => type === "violation")).toEqual([]);
    expect(read(p)).toMatchObject([
      { id: "A", priority: 1, acceptanceCriteria: ["works"], reviewStatus: "approved", reviewCount: 1 },
      { id: "B", priority: 2, passes: true, reviewFeedback: "" },
    ]);
    expect(p.sh("git status --porcelain")).toBe("");
  });

  it("tasks.json is the only file that people have to write", async () => {
    const p = createProject({ git: true });
    p.write(TASKS, JSON.stringify({ userStories: [{ id: "A", title: "T", criteria: ["works"] }] }));
    p.settings({ agent: { command: "claude" }, sandbox: { kind: "none" } });
    p.agent([IMPLEMENT, APPROVE]);
    expect((await p.ralph("stories", "status")).stdout).toMatch(/^0 of 1 stories done\n/);
    expect((await p.ralph("stories", "run", "--worktree")).stderr).toContain(
      'ralph: created ralph/prd.md, ralph/progress.txt, ralph/prompt.md, .gitignore\nralph: error: a worktree holds only what is committed (git add -A && git commit -m "Plan")',
    );
    expect((await run(p)).finished).toMatchObject({ reason: "completed", iterations: 2 });
  });

  it("every line of an iteration names its story, and a note the branch", async () => {
    const p = project({ ...tasks(story("US-001")), verifyCommands: ["true"] });
    p.agent([IMPLEMENT, REJECT, FIX, APPROVE]);
    const { stdout, stderr } = await p.ralph("stories", "run", "--review-cap", "3", "--no-sandbox");
    const lines = stdout.split("\n");
    const from = lines.findIndex((line) => line.includes("Iteration 1/"));
    const to = lines.findLastIndex((line) => line.includes("Iteration 4/"));
    const silent = lines.slice(from, to + 1).filter((line) => line !== "" && !line.includes("US-001"));
    expect(silent).toEqual([]);
    for (const line of [
      "--- US-001 · Iteration 2/15 (review) ---",
      "✅ US-001 · implemented, waits for review: Title of US-001",
      "⚠️ US-001 · review 1/3: changes requested: fix line 3",
      "✅ US-001 · fixed, waits for review: Title of US-001",
      "✅ US-001 · review 2/3: approved: Title of US-001",
    ])
      expect(lines).toContain(line);
    expect(stderr).toMatch(/agents work on branch \S+; with --worktree x they work on ralph\/x\n/);
  });

  it("status shows the board, as text and as JSON", async () => {
    const p = project(tasks(story("A", APPROVED), story("B", REJECTED), story("C", { priority: 2 })));
    expect((await p.ralph("stories", "status")).stdout).toBe(`p: 1 of 3 stories done

   STORY  STATE              REVIEWS  TITLE
✓  A      approved                 1  Title of A
   B      changes_requested        1  Title of B
   C      todo                     0  Title of C

Next:    review-fix B
Budget:  2 stories left, about 5 iterations (review cap 5)
`);
    const board = JSON.parse((await p.ralph("stories", "status", "--json", "--stats")).stdout) as {
      stories: object[];
    };
    expect(board).toMatchObject({
      next: { mode: "review-fix", story: "B" },
      budget: { stories: 2, iterations: 5 },
      run: null,
    });
    expect(board.stories[0]).toMatchObject({
      story: "A",
      state: "approved",
      done: true,
      iterations: 0,
      costUsd: null,
    });
  });

  it("verify runs the stop checks by hand", async () => {
    const p = project(tasks(story("A", WAITING)));
    const fine = await p.ralph("stories", "verify");
    expect([fine.code, fine.stdout]).toEqual([0, "✓ ralph/tasks.json: 1 story, all valid and committed\n"]);
    p.write(TASKS, JSON.stringify(tasks(story("A", { reviewStatus: "approved" }))));
    const wrong = await p.ralph("stories", "verify");
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain(
      "✗ Story A has reviewStatus 'approved' but passes=false: the two are out of sync.",
    );
    expect(wrong.stdout.split("\n").slice(1)).toEqual([
      "✗ There are uncommitted changes: ralph/tasks.json.",
      "",
    ]);
    rmSync(join(p.dir, "ralph"), { recursive: true });
    const none = await p.ralph("stories", "verify");
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("ralph stories init creates it")]);
  });

  it("archive puts a loop away, starts anew, commits that and nothing else", async () => {
    const p = project(
      tasks(
        story("A", { ...APPROVED, reviewCount: 5, reviewFeedback: "[AUTO-APPROVED AT CAP] x" }),
        story("B"),
      ),
    );
    p.write("ralph/progress.txt", "Started: 2026-01-02\n");
    p.write("staged.txt", "x");
    p.sh("git add staged.txt");
    const { code, stdout } = await p.ralph("stories", "archive", "--label", "a b/../c");
    const day = new Date().toISOString().slice(0, 10);
    const folder = `ralph-archive/${day}-a-b-..-c`;
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`Archived 1 of 2 completed stories in ${folder}`),
    ]);
    expect(readdirSync(join(p.dir, folder)).sort()).toEqual([
      "prd.md",
      "progress.txt",
      "summary.md",
      "tasks.json",
    ]);
    expect(p.read(`${folder}/summary.md`)).toBe(`# p

d

- Stories: 1 of 2 completed
- Dates: 2026-01-02 to ${day}
- Branch: ralph/x
- Reviews: 5
- Approved at the review cap: A

| story | title | state | reviews |
|---|---|---|--:|
| A | Title of A | approved (at the cap) | 5 |
| B | Title of B | todo | 0 |
`);
    expect([p.read("ralph/prompt.md"), read(p)[0]?.title]).toEqual(["Do it. $RALPH_MODE", ""]);
    expect(p.sh("git status --porcelain")).toBe("A  staged.txt\n");
    expect(p.sh("git log -1 --format=%s")).toBe(`chore: archive ${day}-a-b-..-c\n`);
    mkdirSync(join(p.dir, `ralph-archive/${day}-x`), { recursive: true });
    p.write(TASKS, JSON.stringify(tasks(story("A"))));
    expect((await p.ralph("stories", "archive")).stdout).toContain(`ralph-archive/${day}-x-2\n`);
    p.write(TASKS, JSON.stringify(tasks(story("A"))));
    const hook = ".git/hooks/pre-commit";
    p.sh(`printf '#!/bin/sh\\necho refused; exit 1\\n' > ${hook}; chmod +x ${hook}`);
    const refused = await p.ralph("stories", "archive");
    expect([refused.code, refused.stderr]).toEqual([1, "ralph: warning: it is not committed: refused\n"]);
    expect((await p.ralph("stories", "archive")).stderr).toContain(
      "nothing to archive: ralph/tasks.json is still the template (ralph stories plan fills it in;",
    );
    p.sh(`rm ${TASKS} && mkfifo ${TASKS}`);
    expect((await p.ralph("stories", "archive")).stderr).toContain("is not a plain file of at most 5 MB");
  });
});

describe("ralph stories plan", () => {
  it("starts the agent on the skill in this terminal, and says whether the stories are ready", async () => {
    const p = project(tasks(story("A")));
    p.program(
      "talker",
      `#!/bin/sh\necho "arguments: $#"; echo "$1" | head -1 > ../message; test -t 0 && test -t 1 && echo terminal\n`,
    );
    const output = p.sh(
      `script -qec "${process.execPath} ${join(import.meta.dirname, "../../bin/ralph.js")} stories plan --agent talker" /dev/null`,
    );
    expect(output.replaceAll("\r", "")).toBe(
      "arguments: 1\nterminal\nralph: 1 story is planned. Next: commit, then ralph stories run\n",
    );
    expect(readFileSync(join(p.root, "message"), "utf8")).toMatch(/^# /);
    const piped = await p.ralph("stories", "plan", "--agent", "talker");
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining("needs a terminal")]);
  });
});
