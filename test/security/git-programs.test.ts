import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LoopEvent } from "../../src/events.js";
import { gitPrograms, gitSettings, newPrograms } from "../../src/workspace/git-programs.js";
import { createProject, type Project } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

let p: Project;
beforeEach(() => {
  p = createProject();
  for (const [name, value] of Object.entries(p.env)) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

const HOOK = ".git/hooks/pre-commit";
const PLANT = `printf '#!/bin/sh\\ntouch ../pwned\\n' > ${HOOK}; chmod +x ${HOOK}`;
const FILTER = `git config filter.x.clean 'touch ../pwned; cat'; echo '* filter=x' > .gitattributes`;
const WITHOUT = " (without the hooks of git: they have changed since the run began)";

const scm = (events: LoopEvent[]) =>
  events.flatMap((event) => (event.type === "scm.finished" ? [[event.passed, event.message]] : []));

describe("what git runs is new", () => {
  it.each([
    ["with a hook", PLANT, { hooks: true, settings: [] }],
    ["with a hook that may run now", `chmod +x .git/hooks/commit-msg`, { hooks: true, settings: [] }],
    [
      "with a link among the hooks",
      "touch x; ln -s ../../x .git/hooks/post-commit",
      { hooks: true, settings: [] },
    ],
    ["with a filter", FILTER, { hooks: false, settings: ["filter.x.clean"] }],
    [
      "with an address as git kept it in its first years",
      "mkdir -p .git/remotes .git/branches; echo URL: ../evil > .git/remotes/origin; echo ../evil > .git/branches/b",
      { hooks: false, settings: [".git/remotes/origin", ".git/branches/b"] },
    ],
    [
      "with a branch that goes elsewhere",
      "git config branch.main.remote ../evil",
      { hooks: false, settings: ["branch.main.remote"] },
    ],
    [
      "not with a sample, a pipe, a name, a branch or a commit",
      `mkfifo .git/hooks/p; rm .git/hooks/p; touch .git/hooks/x.sample; git config user.name b
       git checkout -qb c; git config branch.c.remote origin; git commit -qm c --allow-empty`,
      { hooks: false, settings: [] },
    ],
  ])("%s", async (_, change, expected) => {
    p.sh("mkdir -p .git/hooks; touch .git/hooks/commit-msg; git config core.sshCommand ssh");
    const before = await gitPrograms(p.dir, await gitSettings(p.dir));
    p.sh(change);
    expect(await newPrograms(p.dir, before)).toEqual(expected);
  });
});

describe("an agent that can commit can write hooks and settings of git, and ralph does not run them", () => {
  it("when it commits with ralph run", async () => {
    p.settings({ agent: { command: "claude" }, scm: { command: "git", tasks: ["commit"] } });
    p.agent([{ bash: `${PLANT}; touch a`, text: "<response>DONE</response>" }], { commit: "Add a" });
    const { code, events } = await p.ralph("run", "-p", "x", "--json");
    expect([code, scm(events), p.exists("../pwned")]).toEqual([0, [[true, `Add a${WITHOUT}`]], false]);
    expect(p.sh("git log -1 --format=%s")).toBe("Add a\n");
  });

  it("when a pipeline commits for Codex, and new settings are for the agent to take back", async () => {
    p.write(
      ".ralph/pipeline.yaml",
      "states:\n  A: { command: test -f a, agent: before }\n  B: { command: test -f b, agent: before }\n",
    );
    p.write("s.md", "A spec.\n");
    p.sh("git add -A && git commit -qm spec");
    const said = { type: "item.completed", item: { id: "1", type: "agent_message", text: "made" } };
    const raw = [said, { type: "turn.completed" }];
    const step = (bash: string) => ({ bash, onlyRaw: true, raw });
    p.agent(
      [
        step(`${PLANT}; touch a`),
        step(`${FILTER}; touch b`),
        step("git config --unset filter.x.clean; rm .gitattributes"),
      ],
      { name: "codex", help: "--sandbox <MODE> --add-dir <DIR>" },
    );
    const { code, events } = await p.ralph("pipeline", "run", "s.md", "--agent", "codex", "--json");
    expect({ code, scm: scm(events), pwned: p.exists("../pwned") }).toEqual({
      code: 0,
      scm: [
        [true, `A: gate passed${WITHOUT}`],
        [false, expect.stringContaining("could name programs: filter.x.clean (")],
        [true, `B: gate passed${WITHOUT}`],
      ],
      pwned: false,
    });
  });

  it("when it looks at what an agent of stories has changed", async () => {
    p.write("ralph/tasks.json", JSON.stringify(tasks(story("US-001"))));
    p.write("ralph/prd.md", "what we want");
    p.write("ralph/prompt.md", "Do it.");
    p.sh("git add -A && git commit -qm stories");
    p.agent([{ bash: `${FILTER}; touch new; echo changed >> ralph/prd.md`, text: "no" }]);
    await p.ralph("stories", "run", "--no-sandbox", "-n", "1");
    expect(p.exists("../pwned")).toBe(false);
  });
});
