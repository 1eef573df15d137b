import { expect, it } from "vitest";
import { createProject } from "../kit.js";

const NOBODY = "redis://:hunter2@127.0.0.1:1";

it("names the commands of the family in which one is not known", async () => {
  const { code, stderr } = await createProject().ralph("fleet", "submit", "nonsense");
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("(its commands are run, loop, race, stories, pipeline)"),
  });
});

it("takes the stories for those of stories run", async () => {
  const p = createProject();
  p.env["RALPH_FLEET"] = NOBODY;
  const { code, stderr } = await p.ralph("fleet", "submit", "stories", "--parallel", "2", "-d", p.dir);
  expect([code, stderr]).toEqual([2, (await p.ralph("stories", "run", "--parallel", "2")).stderr]);
});

it("looks at everything else where the engine is away, and shows no password", async () => {
  const p = createProject();
  p.env["RALPH_FLEET"] = NOBODY;
  p.sh("git remote add origin https://me:hunter2@127.0.0.1:1/x.git");
  const { code, stdout, stderr } = await p.ralph("fleet", "doctor", "--json");
  expect([code, stderr]).toEqual([1, ""]);
  const findings = JSON.parse(stdout) as { name: string; status: string; text: string }[];
  expect(findings.map(({ name }) => name)).toEqual(["engine", "clock", "disk", "agents", "remote"]);
  expect(findings[0]).toMatchObject({
    status: "problem",
    text: expect.stringContaining("redis://127.0.0.1:1"),
  });
  expect(findings[4]).toMatchObject({
    status: "problem",
    text: "the address of the remote holds a password",
  });
  expect(stdout).not.toContain("hunter2");
});

it.each(["https://me:hunter2@127.0.0.1:1/x.git", `https://ghp_${"a1B2".repeat(9)}@127.0.0.1:1/x.git`])(
  "takes no remote with a password or a token in its address: %s",
  async (remote) => {
    const p = createProject();
    p.env["RALPH_FLEET"] = NOBODY;
    const loop = ["loop", "task", "--check", "true", "--agent", "x"];
    const { code, stderr } = await p.ralph("fleet", "submit", ...loop, "--repo", remote);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("the address of the remote holds a password"),
    ]);
  },
);
