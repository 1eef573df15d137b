import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopEventBody } from "../../../src/events.js";
import type { Story, TaskList } from "../../../src/recipes/stories/tasks.js";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { begun, plan, verify } from "./kit.js";
import { APPROVED, story, tasks, WAITING } from "./samples.js";

const one = (more: Partial<Story>, ...verifyCommands: string[]): TaskList => ({
  ...tasks(story("A", more)),
  verifyCommands,
});

/** A verify command that writes another list of stories. */
const writes = (list: TaskList): string => `printf '%s' '${JSON.stringify(list)}' > ralph/tasks.json`;

describe("what is judged is what was there when the agent had ended", () => {
  it("a verify command that commits its forgery changes nothing either", async () => {
    const forged = `${writes(one(APPROVED))}; git commit -qam forged`;
    const { ends, put, now, p } = await begun(one({}, forged), {}, true);
    put(one(WAITING, forged));
    p.sh("git commit -qam work");
    const { verdict } = await ends();
    expect([verdict.stop, now()]).toEqual([undefined, [story("A", WAITING)]]);
    p.sh("git checkout -q .");
    expect(now()).toEqual([story("A", WAITING)]);
  });

  it("prd.md, prompt.md, progress.txt and .ralph-active are put back after the verify commands, too", async () => {
    const files = ["ralph/prd.md", "ralph/prompt.md", "ralph/progress.txt", ".ralph-active"];
    const commands = files.map((file) => `echo forged > ${file}`);
    const { ends, p } = await begun(one({}, ...commands));
    const active = p.read(".ralph-active");
    p.write("ralph/progress.txt", "what the agent learned");
    const { events } = await ends(one(WAITING, ...commands));
    const named = events.flatMap((event) => (event.type === "violation" ? [event.file] : []));
    expect(named.sort()).toEqual([...files].sort());
    expect(files.map((file) => p.read(file))).toEqual([
      "what we want",
      expect.stringContaining("Iteration $RALPH_ITERATION"),
      "what the agent learned",
      active,
    ]);
  });
});

describe("a report that a verify command writes is nobody's fault", () => {
  const REPORT = "date +%s%N >> report.txt; date +%s%N > new-report.txt";
  const list = (more: Partial<Story>): TaskList => one(more, REPORT);

  it.each([
    ["neither of the agent whose work is verified, nor of the next one, nor at the end", false],
    ["nor after a resume, nor of a reviewer who runs the commands and commits all", true],
  ])("%s", async (_, isResumed) => {
    const { ends, next, recipe, again, put, p } = await begun(list({}), {}, true);
    p.write("report.txt", "0");
    put(list(WAITING));
    p.sh("git add -A && git commit -qm work");
    const first = await ends();
    const left = " M report.txt\n?? new-report.txt\n";
    expect([first.violations, p.sh("git status --porcelain")]).toEqual([[], left]);
    if (isResumed) await recipe.close?.();
    const reviewer = isResumed ? again() : recipe;
    await (isResumed ? plan(reviewer, 2, first.verdict.memory) : next());
    put(list(APPROVED));
    p.sh(`${isResumed ? `${REPORT}; git add -A` : "git add ralph"} && git commit -qm review`);
    expect(await reviewer.mayStop?.()).toBeUndefined();
    const second = await verify(reviewer, 2);
    expect([second.violations, second.verdict.stop]).toEqual([[], "completed"]);
  });
});

describe("verify commands that an agent added", () => {
  const checks = (events: LoopEventBody[]) =>
    events.flatMap((event) => (event.type === "check.finished" ? [[event.command, event.skipped]] : []));

  it("are named and not run where there is no sandbox, also after a resume", async () => {
    const commands = ["true", "touch ../outside"];
    const { ends, recipe, again, put, p } = await begun(one({}, "true"));
    const first = await ends(one(WAITING, ...commands));
    const seen = [
      ["true", undefined],
      ["touch ../outside", "untrusted"],
    ];
    expect([checks(first.events), first.verdict.passed]).toEqual([seen, true]);
    await recipe.close?.();
    const resumed = again();
    await plan(resumed, 2, first.verdict.memory);
    put(one(APPROVED, ...commands));
    const second = await verify(resumed, 2);
    expect([checks(second.events), second.verdict.stop]).toEqual([seen, "completed"]);
    expect(existsSync(join(p.root, "outside"))).toBe(false);
  });

  it("run inside the sandbox of the run, and count", async () => {
    const inside: string[] = [];
    const agentSandbox: Sandbox = {
      reachesLoop: true,
      hasOwnPrograms: true,
      wrap: async ({ command }) => {
        inside.push(command.args?.at(-1) ?? "");
        return command;
      },
      ended: async (exit) => exit,
      explain: (error) => error,
      wasPaused: () => {},
      close: async () => {},
    };
    const { ends } = await begun(one({}, "true"), {}, false, { agentSandbox });
    const { events, verdict } = await ends(one(WAITING, "true", "echo mine; exit 4"));
    expect(inside).toEqual([expect.stringContaining("echo mine; exit 4")]);
    expect(verdict.reason).toBe("checks failed: echo mine; exit 4 (exit code 4)");
    const [own, added] = events.flatMap((event) => (event.type === "check.finished" ? [event.log] : []));
    expect(readFileSync(added ?? "", "utf8")).toBe("mine\n");
    expect(own).not.toBe(added);
  });
});
