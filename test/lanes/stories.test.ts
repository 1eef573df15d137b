import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { landedText, laneCalls, lanesProject, PARALLEL, resultBranch } from "./kit.js";

const IDS = ["US-001", "US-002", "US-003"];
const each = (command: (id: string) => string) => Object.fromEntries(IDS.map((id) => [id, command(id)]));

describe("stories in lanes", () => {
  test("land on the run's own branch, each with its commits, and nothing of the user's is touched", async () => {
    const p = lanesProject(IDS, { work: each((id) => `echo ${id} > ${id}.txt`) });
    p.write("mine.txt", "not committed\n");
    p.write("shared.txt", "changed by me\n");
    p.sh("rm ralph/prompt.md");
    const before = p.sh(
      "git status --porcelain; git rev-parse HEAD; git stash list; cat shared.txt mine.txt",
    );
    const { code, finished, events } = await p.ralph(...PARALLEL, "3");
    expect({
      code,
      reason: finished.reason,
      iterations: finished.iterations,
      costUsd: finished.costUsd,
    }).toEqual({
      ...{ code: 0, reason: "completed", iterations: 6, costUsd: 0.06 },
    });
    expect(finished.branch).toBe(resultBranch(p));
    const proved = await p.ralph("verify");
    const tip = p.sh(`git rev-parse ${finished.branch}`).trim();
    expect({ code: proved.code, of: proved.stdout.includes(`verified commit ${tip}`) }).toEqual({
      code: 0,
      of: true,
    });
    expect(IDS.map((id) => landedText(p, `${id}.txt`))).toEqual(IDS.map((id) => `${id}\n`));
    const { userStories } = JSON.parse(landedText(p, "ralph/tasks.json"));
    expect(userStories.map(({ id, passes }: { id: string; passes: boolean }) => [id, passes])).toEqual(
      IDS.map((id) => [id, true]),
    );
    const progress = landedText(p, "ralph/progress.txt");
    expect(
      IDS.flatMap((id) => [`${id} implemented`, `${id} reviewed`]).filter((line) => !progress.includes(line)),
    ).toEqual([]);
    expect(p.sh("git status --porcelain; git rev-parse HEAD; git stash list; cat shared.txt mine.txt")).toBe(
      before,
    );
    expect(p.sh("git worktree list").trim().split("\n")).toHaveLength(1);
    expect(new Set(laneCalls(p).map(({ slot }) => slot))).toEqual(new Set(["0", "1", "2"]));
    const landings = events.flatMap((event) => (event.type === "landing.landed" ? [event] : []));
    expect(landings.map(({ lane }) => lane).sort()).toEqual(IDS);
    const subjects = landings.map(
      ({ receipt = "" }) => JSON.parse(readFileSync(receipt, "utf8")).subject[0].digest,
    );
    expect(subjects).toEqual(landings.map((landing) => ({ gitCommit: landing.new })));
    expect(await p.ralph("verify")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`verified commit ${landings.at(-1)?.new}`),
    });
  });

  test("wait for what they depend on, and begin with it", async () => {
    const stories = ["US-001", { id: "US-002", dependsOn: ["US-001"] }];
    const p = lanesProject(stories, { work: { "US-001": "echo a > a.txt", "US-002": "cp a.txt b.txt" } });
    const { code } = await p.ralph(...PARALLEL, "3");
    expect({ code, b: landedText(p, "b.txt") }).toEqual({ code: 0, b: "a\n" });
  });
});

/** Waits in the lane of a story until another one has landed. */
const after = (id: string): string =>
  `until git log --all --format=%s | grep -q '^${id}: '; do sleep 0.05; done`;
const CONFLICT = {
  "US-001": "sed -i s/two/TWO-1/ shared.txt",
  "US-002": `${after("US-001")}; sed -i s/two/TWO-2/ shared.txt`,
};

describe("a story that conflicts with one that has landed", () => {
  test("goes back to its own agent, is reviewed again, and lands with both", async () => {
    const p = lanesProject(["US-001", "US-002"], {
      work: CONFLICT,
      resolve: { "US-002": "printf 'one\\nTWO-1\\nTWO-2\\nthree\\n' > shared.txt" },
    });
    const { code, events } = await p.ralph(...PARALLEL, "2");
    expect({ code, shared: landedText(p, "shared.txt") }).toEqual({
      code: 0,
      shared: "one\nTWO-1\nTWO-2\nthree\n",
    });
    expect(events.filter(({ type }) => type === "lane.returned")).toMatchObject([
      { lane: "US-002", try: 1, reason: "conflict" },
    ]);
    const moves = events.flatMap((event) =>
      event.type === "state.changed" && event.lane === "US-002" ? [event.to] : [],
    );
    expect(moves).toEqual(["needs_review", "approved", "needs_review", "approved"]);
    const prompt = readFileSync(join(p.bin, "US-002.returned.md"), "utf8");
    for (const text of ["US-001: Story US-001", "US-002: Story US-002", "+TWO-1", "+TWO-2", "shared.txt"])
      expect(prompt).toContain(text);
  });

  test("never lands by taking a side: lines of the other story would be gone", async () => {
    const p = lanesProject(["US-001", "US-002", "US-003"], {
      work: { ...CONFLICT, "US-003": "echo 3 > 3.txt" },
      resolve: { "US-002": "git checkout --ours shared.txt; printf 'one\\nTWO-2\\nthree\\n' > shared.txt" },
    });
    const { code, finished } = await p.ralph(...PARALLEL, "3");
    expect({ code, reason: finished.reason }).toEqual({ code: 1, reason: "blocked" });
    expect(landedText(p, "shared.txt")).toBe("one\nTWO-1\nthree\n");
    expect(landedText(p, "3.txt")).toBe("3\n");
    const blocked = finished.lanes?.find(({ lane }) => lane === "US-002");
    expect(blocked).toMatchObject({ result: "blocked" });
    expect(existsSync(blocked?.worktree ?? "")).toBe(true);
    expect(blocked?.message).toMatch(/take over: cd \S+; put these lines back; commit; ralph resume \S+\)$/);
    const prompt = readFileSync(join(p.bin, "US-002.returned.md"), "utf8");
    expect(prompt).toContain("That branch is merged into yours.");
    expect(prompt).toContain("Put them back:\n\n```text\nshared.txt (US-001): TWO-1\n");
    const merges = "git log --all --no-merges --grep '^Merge what has landed$' --format=%s";
    expect(p.sh(merges)).toBe("");
    p.sh(`cd ${blocked?.worktree}; sed -i 's/TWO-2/TWO-1\\nTWO-2/' shared.txt; git commit -qam restored`);
    const resumed = await p.ralph("resume", "--json");
    expect({ code: resumed.code, shared: landedText(p, "shared.txt") }, resumed.all).toEqual({
      code: 0,
      shared: "one\nTWO-1\nTWO-2\nthree\n",
    });
  });

  test("does not land by a rebase that drops the lines of the other story; it lands when they are back", async () => {
    const p = lanesProject(["US-001", "US-002"], {
      work: CONFLICT,
      resolve: {
        "US-002": `if grep -q TWO-2 shared.txt && ! grep -q '<<<' shared.txt; then sed -i 's/TWO-2/TWO-1\\nTWO-2/' shared.txt; else
          git merge --abort; git reset -q --hard $(git for-each-ref --format='%(refname)' refs/heads/ralph | grep -v lanes)
          sed -i s/TWO-1/TWO-2/ shared.txt; fi`,
      },
    });
    const { code, events } = await p.ralph(...PARALLEL, "2");
    expect({ code, shared: landedText(p, "shared.txt") }).toEqual({
      code: 0,
      shared: "one\nTWO-1\nTWO-2\nthree\n",
    });
    expect(events.flatMap((event) => (event.type === "lane.returned" ? [event.reason] : []))).toEqual([
      "conflict",
      "lost",
    ]);
  });

  test("that nobody resolves is blocked after two tries, with what to do; only what depends on it waits", async () => {
    const stories = ["US-001", "US-002", { id: "US-003", dependsOn: ["US-002"] }, "US-004"];
    const p = lanesProject(stories, { work: { ...CONFLICT, "US-004": "echo 4 > 4.txt" } });
    const { code, finished } = await p.ralph(...PARALLEL, "3");
    expect({ code, reason: finished.reason }).toEqual({ code: 1, reason: "blocked" });
    expect(finished.message).toContain("2 of 4 stories have landed");
    expect(finished.message).toMatch(/take over: cd \S+; git merge ralph\//);
    expect(finished.message).toContain(" commit; ralph resume ");
    expect((await p.ralph("stories", "status")).stdout).toMatch(
      /Landed: {2}2 stories, not in this folder yet: ralph resume \S+\n/,
    );
    expect(landedText(p, "4.txt")).toBe("4\n");
    expect(readFileSync(join(p.bin, "returned.log"), "utf8")).toBe("US-002\nUS-002\n");
    expect(laneCalls(p).some(({ lane }) => lane === "US-003")).toBe(false);
  });
});

describe("stories that are green alone and red together", () => {
  const verify = ["test $(cat a.txt b.txt 2>/dev/null | wc -l) -lt 2"];

  test("the later one goes back with what the check said", async () => {
    const p = lanesProject(
      ["US-001", "US-002"],
      {
        work: { "US-001": "echo a > a.txt", "US-002": `${after("US-001")}; echo b > b.txt` },
        resolve: { "US-002": "git rm -q --cached b.txt; mv b.txt c.txt" },
      },
      verify,
    );
    const { code, events } = await p.ralph(...PARALLEL, "2");
    expect({ code, c: landedText(p, "c.txt") }).toEqual({ code: 0, c: "b\n" });
    expect(events.filter(({ type }) => type === "lane.returned")).toMatchObject([
      { lane: "US-002", reason: "red" },
    ]);
    const landings = events.flatMap((event) => (event.type.startsWith("landing.") ? [event] : []));
    const [started, refused] = landings.filter(({ lane }) => lane === "US-002");
    const checks = verify.map((command) => ({ command }));
    expect(started).toMatchObject({ type: "landing.started", stories: ["US-002"], checks });
    expect(refused).toMatchObject({
      ...{ type: "landing.refused", stories: ["US-002"], reason: "red", checks: [{ passed: false }] },
      ...{ old: (started as { old?: string }).old, new: (started as { new?: string }).new },
    });
  });

  test("a story whose changes stay as they were keeps its review", async () => {
    const p = lanesProject(
      ["US-001"],
      { work: { "US-001": "echo a > a.txt" }, resolve: { "US-001": "touch $HOME/mended" } },
      ['case "$PWD" in *-queue) test -f $HOME/mended;; esac'],
    );
    const { code, finished } = await p.ralph(...PARALLEL, "2");
    // Implemented, reviewed and returned: the second review is spared.
    expect({ code, iterations: finished.iterations, a: landedText(p, "a.txt") }).toEqual({
      ...{ code: 0, iterations: 3, a: "a\n" },
    });
    const { userStories } = JSON.parse(landedText(p, "ralph/tasks.json"));
    expect(userStories).toMatchObject([{ reviewStatus: "approved", reviewCount: 1, notes: "merged" }]);
    const { iterations, stories } = JSON.parse((await p.ralph("report", "--json")).stdout);
    expect(stories).toMatchObject([{ state: "approved", reviews: 1, iterations: iterations.length }]);
    const said = await p.ralph("diff", "--iteration", "1");
    const { name } = JSON.parse((await p.ralph("status", "--json")).stdout);
    expect(said.stderr).toContain(`run ${name} works in lanes: US-001`);
  });

  test("a check that ends differently on the same files is flaky: nothing lands", async () => {
    const p = lanesProject(["US-001"], { work: { "US-001": "echo a > a.txt" } }, [
      `case "$PWD" in *-queue) n=$(cat $HOME/n 2>/dev/null || echo 0); echo $((n+1)) > $HOME/n; test $((n % 2)) = 1;; esac`,
    ]);
    const { code, finished } = await p.ralph(...PARALLEL, "2");
    expect({ code, reason: finished.reason, a: landedText(p, "a.txt") }).toEqual({
      code: 1,
      reason: "blocked",
      a: "",
    });
    expect(finished.message).toContain("flaky");
  });
});

describe("overlaps are seen early", () => {
  /** Runs in the lane or the queue whose folder ends so. */
  const only = (where: string, command: string): string => `case "$PWD" in *${where}) ${command};; esac`;
  // Texts of checks are in the files that they search: a pattern must not match itself.
  const until = (command: string): string => `until ${command}; do sleep 0.05; done`;

  test("between lanes at work, before either has landed", async () => {
    const reviewed = "test $(git log --all --format=%s | grep -c ' reviewed$') = 2";
    const both = "printf 'one\\nTWO-1\\nTWO-2\\nthree\\n' > shared.txt";
    const p = lanesProject(
      ["US-001", "US-002"],
      {
        work: {
          "US-001": "sed -i s/two/TWO-1/ shared.txt",
          "US-002": "sed -i s/two/TWO-2/ shared.txt",
        },
        resolve: { "US-001": both, "US-002": both },
      },
      [only("-queue", `test -f $HOME/seen || { ${until(reviewed)}; touch $HOME/seen; }`)],
    );
    const { code, events } = await p.ralph(...PARALLEL, "2");
    const types = events.map(({ type }) => type);
    expect(code).toBe(0);
    expect(types.indexOf("lane.overlaps")).toBeLessThan(types.indexOf("landing.landed"));
    expect(events.find(({ type }) => type === "lane.overlaps")).toMatchObject({ files: ["shared.txt"] });
  });

  test("a story that names a file which a lane has changed waits for that lane to land", async () => {
    const implemented = "git log --all --format=%s | grep -q 'US-001 implemented'";
    const waits = "grep -q lane[.]waitin[g] $HOME/.ralph/runs/*/journal.ndjson";
    const third = { id: "US-003", title: "Change shared.txt", dependsOn: ["US-002"] };
    const p = lanesProject(
      ["US-001", "US-002", third],
      {
        work: {
          "US-001": "sed -i s/two/TWO-1/ shared.txt",
          "US-002": `${until(implemented)}; echo b > b.txt`,
          "US-003": "sed -i s/TWO-1/TWO-3/ shared.txt",
        },
      },
      [only("/US-001", `! grep -q appro[v]ed ralph/tasks.json || { ${until(waits)}; }`)],
    );
    const { code, events } = await p.ralph(...PARALLEL, "3");
    expect({ code, shared: landedText(p, "shared.txt") }).toEqual({ code: 0, shared: "one\nTWO-3\nthree\n" });
    const of = (type: string, lane: string): number =>
      events.findIndex((event) => event.type === type && event.lane === lane);
    expect(events[of("lane.waiting", "US-003")]).toMatchObject({ for: "US-001", file: "shared.txt" });
    expect(of("landing.landed", "US-001")).toBeLessThan(of("lane.started", "US-003"));
  });
});

test("the stories that a run has landed are named when it is landed itself", async () => {
  const p = lanesProject(["US-001", "US-002"], {
    work: { "US-001": "echo a > a.txt", "US-002": "echo b > b.txt" },
  });
  expect(await p.ralph(...PARALLEL, "2")).toMatchObject({ code: 0 });
  const { events, all } = await p.ralph("land", "--json");
  expect(events[1], all).toMatchObject({ type: "landing.landed", stories: ["US-001", "US-002"] });
  expect(p.sh("git log -1 --format=%B main")).toMatch(
    /^US-001, US-002\n\n- US-001: Story US-001\n- US-002: Story US-002\n\nRalph-Run: \S+\n/,
  );
});

test("agents can commit where git knows no name and cannot sign, and the user hears of it", async () => {
  const p = lanesProject(["US-001", "US-002"], {
    work: { "US-001": "echo a > a.txt", "US-002": "echo b > b.txt" },
  });
  p.sh("git config commit.gpgSign true; git config gpg.program false; git config user.useConfigOnly true");
  const isName = (name: string): boolean => /^GIT_(AUTHOR|COMMITTER)_/.test(name);
  const env = Object.fromEntries(
    Object.keys(p.env)
      .filter(isName)
      .map((name) => [name, undefined]),
  );
  const { code, stderr } = await p.start([...PARALLEL, "2"], { env }).result;
  expect({ code, b: landedText(p, "b.txt") }).toEqual({ code: 0, b: "b\n" });
  expect(stderr).toContain("git config user.name NAME");
  expect(stderr).toContain("agents do not sign their commits");
});

test("lanes say once which setup would make what they lack", async () => {
  const p = lanesProject(["US-001", "US-002"], {
    work: { "US-001": "echo a > a.txt", "US-002": "echo b > b.txt" },
  });
  p.write("package.json", '{"dependencies":{"left-pad":"1"}}');
  p.sh("git add -A && git commit -qm package && mkdir node_modules");
  const { stderr } = await p.ralph(...PARALLEL, "2");
  expect(stderr.match(/ralph config set setup 'npm install'/g)).toHaveLength(1);
});

test("a landing that nothing verifies is allowed by the user, and said", async () => {
  const p = lanesProject(["US-001"], { work: { "US-001": "echo a > a.txt" } }, []);
  const { code, events } = await p.ralph(...PARALLEL, "2", "--allow-unverified");
  expect({ code, a: landedText(p, "a.txt") }).toEqual({ code: 0, a: "a\n" });
  expect(events.find(({ type }) => type === "landing.landed")).toMatchObject({
    unverified: true,
    checks: [],
  });
  expect((await p.ralph("report")).stdout).toContain("US-001 landed: nothing verified it");
});

describe("the checkout of the queue", () => {
  test("is made ready as those of the lanes are, for each landing, and torn down", async () => {
    const work = { "US-001": "echo a > a.txt", "US-002": "echo b > b.txt" };
    const p = lanesProject(["US-001", "US-002"], { work }, ["test -f deps/ok"]);
    p.settings({
      agent: { command: "claude" },
      setup: "mkdir deps; touch deps/ok; echo $RALPH_SLOT >> $HOME/setup",
      teardown: "echo $RALPH_SLOT >> $HOME/teardown",
    });
    p.sh("echo deps/ >> .gitignore; git commit -qam dependencies");
    const { code, all } = await p.ralph(...PARALLEL, "2");
    expect(code, all).toBe(0);
    const slots = (file: string) => p.sh(`sort $HOME/${file}`).trim().split("\n");
    expect([slots("setup"), slots("teardown")]).toEqual([
      ["0", "1", "2", "2"],
      ["0", "1", "2"],
    ]);
    expect(existsSync(`${p.dir}-worktrees`)).toBe(false);
  });

  test("runs hidden checks, too, and tells the agent only that one failed", async () => {
    const p = lanesProject(
      ["US-001", "US-002"],
      {
        work: { "US-001": "echo a > a.txt", "US-002": `${after("US-001")}; echo b > b.txt` },
        resolve: { "US-002": "git rm -q --cached b.txt; mv b.txt c.txt" },
      },
      [],
    );
    const { code, events } = await p.ralph(...PARALLEL, "2", "--hidden-check", "! cat a.txt b.txt");
    expect({ code, c: landedText(p, "c.txt") }).toEqual({ code: 0, c: "b\n" });
    expect(events.filter(({ type }) => type === "lane.returned")).toMatchObject([
      { lane: "US-002", reason: "red" },
    ]);
    const prompt = readFileSync(join(p.bin, "US-002.returned.md"), "utf8");
    expect(prompt).toContain("hidden check 1 (ralph shows only its result)");
    expect(prompt).not.toContain("cat a.txt");
  });
});

describe("bad input is refused before anything is made", () => {
  const state = (p: ReturnType<typeof lanesProject>) =>
    p.sh("git for-each-ref; git status --porcelain; ls ..");
  test.each([["0"], ["-1"], ["x"], ["65"]])("--parallel %s", async (count) => {
    const p = lanesProject(IDS, { work: {} });
    const before = state(p);
    const { code, stderr } = await p.ralph(...PARALLEL, count);
    expect({ code, lines: stderr.trim().split("\n").length, after: state(p) }).toEqual({
      code: 2,
      lines: 1,
      after: before,
    });
  });

  test.each([
    ["a detached HEAD", "git checkout -q --detach", /detached/],
    [
      "a cycle",
      `sed -i 's/"dependsOn": \\[\\]/"dependsOn": ["US-001"]/' ralph/tasks.json; git commit -qam x`,
      /has a cycle/,
    ],
    [
      "an id that is there twice",
      "sed -i s/US-002/US-001/ ralph/tasks.json; git commit -qam x",
      /more than once/,
    ],
    ["stories that are not committed", "sed -i s/US-003/US-007/ ralph/tasks.json", /not committed/],
    ["no check", `sed -i 's/"true"//' ralph/tasks.json; git commit -qam x`, /no check/],
    ["no commit", "rm -rf .git; git init -q .", /commit/],
    ["a branch where those of ralph would be", "git branch ralph", /git branch -m ralph NAME/],
  ])("%s", async (_, command, said) => {
    const p = lanesProject(IDS, { work: {} });
    p.sh(command);
    const before = state(p);
    const { code, stderr } = await p.ralph(...PARALLEL, "4");
    expect(stderr).toMatch(said);
    expect({ code, after: state(p) }).toEqual({ code: 2, after: before });
  });
});

test("lanes at work, and what is queued, are shown to people and programs", async () => {
  const p = lanesProject(["US-001", "US-002"], {
    work: {
      "US-001": "echo a > a.txt",
      "US-002": "touch $HOME/begun; while ! test -f $HOME/go; do sleep 0.05; done; echo b > b.txt",
    },
  });
  const run = p.start([...PARALLEL, "2"]);
  await run.until((output) => output.includes('"landing.cleaned"') && existsSync(join(p.home, "begun")));
  const { stdout } = await p.ralph("stories", "status", "--json");
  const { lanes } = JSON.parse(stdout);
  expect(lanes).toMatchObject([
    { lane: "US-001", standing: "landed", iterations: 2 },
    { lane: "US-002", standing: "implement" },
  ]);
  expect((await p.ralph("stories", "status")).stdout).toContain("US-002 implement");
  writeFileSync(join(p.home, "go"), "");
  expect((await run.result).code).toBe(0);
});
