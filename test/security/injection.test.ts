import { expect, it } from "vitest";
import { createProject, type Project } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

/** What a shell would run, if one ever saw it. */
const HOSTILE = `$(touch pwned) \`touch pwned\`; touch pwned #"'; touch pwned; '"; touch pwned & %s`;

function project(): Project {
  const p = createProject();
  p.sh("mkdir heard");
  p.settings({
    agent: { command: "claude" },
    sandbox: { kind: "none" },
    notify: { command: "cat >> heard/notices" },
  });
  return p;
}

const isPwned = (p: Project): string => p.sh("find .. -name pwned");

it("a prompt, a question and a commit message reach no shell", async () => {
  const p = project();
  p.settings({
    agent: { command: "claude" },
    scm: { command: "git", tasks: ["commit"] },
    notify: { command: "cat >> heard/notices" },
  });
  p.agent([{ bash: "echo x > new", text: `<promise>BLOCKED: ${HOSTILE}</promise>` }], {
    commit: `<response>${HOSTILE}</response>`,
  });
  await p.ralph("run", "-p", HOSTILE, "-n", "1");
  expect(p.prompt(1)).toContain(HOSTILE);
  expect(p.sh("git log -1 --format=%s").trim()).toBe(HOSTILE);
  expect(p.sh("cat heard/notices")).toContain("touch pwned");
  expect(isPwned(p)).toBe("");
});

it("the title, the id and the branch of a story reach no shell", async () => {
  const p = project();
  const list = tasks({ ...story("US-001"), title: HOSTILE, description: HOSTILE });
  p.write("ralph/tasks.json", JSON.stringify({ ...list, project: HOSTILE, branchName: `ralph/${HOSTILE}` }));
  p.write("ralph/prd.md", HOSTILE);
  p.write("ralph/prompt.md", `Do it. ${HOSTILE}`);
  p.write(".gitignore", ".ralph-active\nheard\n");
  p.sh("git add -A && git commit -qm plan");
  p.agent([{ bash: "echo x > new", text: "no" }]);
  await p.ralph("stories", "run", "-n", "1");
  expect(p.prompt(1)).toContain(HOSTILE);
  const { code } = await p.ralph("stories", "archive");
  expect({ code, pwned: isPwned(p) }).toEqual({ code: 0, pwned: "" });
  expect(p.sh("ls ralph-archive")).toMatch(/^[\w.-]+\n$/);
});

it("words of a task, and a name of a branch that git would take for a flag, are only words", async () => {
  const p = project();
  p.agent([{ text: "COMPLETE" }]);
  const { code } = await p.ralph("loop", HOSTILE, "--check", "true");
  const refused = await p.ralph("loop", "t", "--check", "true", "--worktree=--upload-pack=touch");
  expect([code, refused.code, isPwned(p)]).toEqual([0, 2, ""]);
});
