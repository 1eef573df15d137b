import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fingerprint } from "../../src/workspace/fingerprint.js";
import { createProject, type Project } from "../kit.js";

let project: Project;
function enter(options: { git?: boolean } = {}): Project {
  project = createProject(options);
  for (const [name, value] of Object.entries(project.env)) vi.stubEnv(name, value);
  return project;
}
afterEach(() => vi.unstubAllEnvs());

/** Whether an action changes the fingerprint. */
async function changes(command: string, folder = project.dir): Promise<boolean> {
  const before = await fingerprint(folder);
  project.sh(command);
  return (await fingerprint(folder)) !== before;
}

describe("in a repository", () => {
  beforeEach(() => {
    enter();
    project.sh(`echo '*.ignored' > .gitignore; mkdir sub; echo a > sub/a; echo b > 'b c.txt'; echo u > utils.ts
      git add . && git commit -qm files; echo dirty >> README.md; echo new > untracked`);
  });

  it.each([
    ["an edit of the same length of a dirty file", "printf 'hi\\nDIRTY\\n' > README.md"],
    ["an edit of an untracked file", "echo more >> untracked"],
    ["a new file in a new folder", "mkdir -p x/y && echo new > x/y/z"],
    ["the mode of an untracked file", "chmod +x untracked"],
    ["a file with a name that is no UTF-8", "echo > $'\\xff'"],
    ["ignored files", "echo x > a.ignored && echo x > sub/b.ignored"],
  ])("notices %s", async (_, command) => {
    expect(await changes(command)).toBe(true);
  });

  it.each([
    ["nothing", "true"],
    [
      "writes below .ralph",
      "mkdir -p .ralph && echo x > .ralph/guardrail_1_x.log && echo y >> .ralph/progress.md",
    ],
    [
      "ignored files that tools make",
      "printf '__pycache__\\nnode_modules\\n' > .git/info/exclude; mkdir -p sub/__pycache__ node_modules/x; echo x > sub/__pycache__/a; echo x > node_modules/x/y",
    ],
    ["what git does to its own files", "git status >/dev/null && git gc -q"],
    ["a file that was only touched", "touch sub/a README.md untracked"],
    ["commits", "git add -A && git commit -qm more && git commit -q --allow-empty -m empty"],
  ])("does not notice %s", async (_, command) => {
    expect(await changes(command)).toBe(false);
  });

  it("looks at its own part in a folder of the repository", async () => {
    const sub = join(project.dir, "sub");
    expect(await changes("true", sub)).toBe(false);
    expect(await changes("echo more >> sub/a", sub)).toBe(true);
    expect(await changes("echo again >> sub/a", sub)).toBe(true);
    expect(await changes("echo new > sub/new", sub)).toBe(true);
    expect(await changes("echo again >> sub/new", sub)).toBe(true);
    expect(await changes("mkdir -p sub/.ralph && echo x > sub/.ralph/state.md", sub)).toBe(false);
    expect(await changes("echo again >> README.md", sub)).toBe(false);
  });

  it("is the same whether the content is committed or not", async () => {
    project.sh(
      "ln -s README.md link; git rm -q 'b c.txt'; git mv utils.ts lib.ts; mkdir .ralph; echo x > .ralph/y",
    );
    const [sub, index] = [
      join(project.dir, "sub"),
      project.sh("sha1sum .git/index; find .git/objects | sort"),
    ];
    const words = async () => [await fingerprint(project.dir), await fingerprint(sub)];
    const before = await words();
    expect(project.sh("sha1sum .git/index; find .git/objects | sort")).toBe(index);
    project.sh("git add -A && git commit -qm all && git commit -q --allow-empty -m none");
    expect(await words()).toEqual(before);
    project.sh("echo more >> README.md");
    const edited = await words();
    expect([edited[0] === before[0], edited[1] === before[1]]).toEqual([false, true]);
    project.sh("git commit -qam edit; echo hi > README.md; echo dirty >> README.md");
    expect(await words()).toEqual(before);
  });

  const sameTime = (file: string, edit: string): string =>
    `touch -r ${file} ../time && ${edit} && touch -r ../time ${file}`;

  it.each([
    ["an edit that hides its time", sameTime("untracked", "printf 'NEW\\n' > untracked")],
    ["one of a tracked file", sameTime("sub/a", "printf 'A\\n' > sub/a")],
    [
      "one that git was told to pass over",
      "git update-index --assume-unchanged utils.ts; echo more >> utils.ts",
    ],
    ["a large file", "truncate -s 5G large"],
    ["an ignored file", "echo more >> out/x"],
    ["a file in a repository inside", "echo more >> inner/x"],
  ])("notices %s amid a merge", async (_, edit) => {
    project.sh(`printf 'out/\\n' >> .gitignore; mkdir out; echo x > out/x; git init -q inner; echo x > inner/x
      git checkout -q -b other; echo 1 > sub/a; git commit -qam 1; git checkout -q -; echo 2 > sub/a; git commit -qam 2
      git merge -q other || true`);
    expect(await changes("touch untracked sub/a out/x inner/x; cp untracked x; mv x untracked")).toBe(false);
    expect(await changes(edit)).toBe(true);
    expect(await changes("true")).toBe(false);
  });

  it("works in a repository without a commit", async () => {
    project.sh("rm -rf .git && git init -q .");
    expect(await changes("true")).toBe(false);
    expect(await changes("echo x > first")).toBe(true);
    expect(await changes("git add -A && git commit -qm first")).toBe(false);
  });
});

describe("outside a repository", () => {
  beforeEach(() => {
    enter({ git: false });
    mkdirSync(join(project.dir, "sub"));
    writeFileSync(join(project.dir, "sub", "a"), "a");
  });

  it.each([
    ["an edit of the same length", "printf b > sub/a"],
    ["a deletion", "rm sub/a"],
    ["a link", "ln -s /etc/passwd link"],
  ])("notices %s", async (_, command) => {
    expect(await changes("true")).toBe(false);
    expect(await changes(command)).toBe(true);
  });

  it.each([
    ["writes below .ralph", "mkdir -p .ralph && echo x > .ralph/x.log"],
    ["node_modules", "mkdir -p node_modules/x sub/node_modules && echo > node_modules/x/y"],
  ])("does not notice %s", async (_, command) => {
    expect(await changes(command)).toBe(false);
  });
});
