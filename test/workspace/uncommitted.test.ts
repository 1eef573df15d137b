import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { forgetStart, rememberStart } from "../../src/workspace/git.js";
import { takeStart } from "../../src/workspace/start.js";
import { uncommittedFiles } from "../../src/workspace/uncommitted.js";
import { atEnd, createProject, type Project } from "../kit.js";

let p: Project;
beforeEach(() => {
  p = createProject();
  for (const [name, value] of Object.entries(p.env)) vi.stubEnv(name, value);
  p.sh("echo a > a && echo b > b && chmod +x b && ln -s a link && git add . && git commit -qm files");
});
afterEach(() => vi.unstubAllEnvs());

/** As a run does it that begins now. */
async function beginRun(): Promise<void> {
  const { start, ignored } = await takeStart(p.dir, join(p.root, "excludes"), false);
  writeFileSync(start.excludes, ignored);
  rememberStart(start);
  atEnd(() => forgetStart(start));
}

const INNER = "git init -q inner; echo x > inner/x; git -C inner add .; git -C inner commit -qm i";

const WAYS: [what: string, command: string, files: string[]][] = [
  ["both", "git update-index --skip-worktree --assume-unchanged a; echo x >> a; rm b", ["a", "b"]],
  [
    "core.ignoreStat",
    "git config core.ignoreStat true; echo 1 > a; git add a; git commit -qm 1; echo x > a",
    ["a"],
  ],
  ["info/exclude for all", "echo '*' >> .git/info/exclude; mkdir d; echo x > d/new", ["d/"]],
  [
    "the user's own ignore file",
    "mkdir -p ~/.config/git; echo new > ~/.config/git/ignore; echo x > new",
    ["new"],
  ],
  ["a repository inside that is committed", `${INNER}; git add inner 2>&1; git commit -qm inner`, ["inner"]],
];

describe("what is not committed", () => {
  it.each(WAYS)("is seen when it was hidden since the run began: %s", async (_, command, files) => {
    await beginRun();
    p.sh(command);
    expect(await uncommittedFiles(p.dir)).toEqual(files);
  });

  it.each([
    ["core.excludesFile", "echo new > ../ex; git config core.excludesFile $PWD/../ex", "echo x > new"],
    ["the user's own ignore file", "mkdir -p ~/.config/git; echo new > ~/.config/git/ignore", "echo x > new"],
    ["a repository that was committed", `${INNER}; git add inner 2>&1; git commit -qm i`, "true"],
    [
      "a dirty submodule",
      "git -c protocol.file.allow=always submodule --quiet add $PWD sub; git commit -qm s; echo x > sub/new",
      "true",
    ],
  ])("leaves out what the user has hidden: %s", async (_, before, command) => {
    p.sh(before);
    await beginRun();
    p.sh(command);
    expect(await uncommittedFiles(p.dir)).toEqual([]);
  });

  it("is seen in a submodule, and new submodules that are registered are fine", async () => {
    await beginRun();
    p.sh("git -c protocol.file.allow=always submodule --quiet add $PWD sub && git commit -qm sub");
    expect(await uncommittedFiles(p.dir)).toEqual([]);
    p.sh("echo x > sub/new; git config submodule.sub.ignore all");
    expect(await uncommittedFiles(p.dir)).toEqual(["sub"]);
  });

  it.each([
    ["another repository is in its place", "mv .git ../was && git init -q --separate-git-dir ../is ."],
    ["a folder of it became one of its own", "mkdir -p deep && git init -q deep"],
  ])("cannot be told when %s", async (_, command) => {
    await beginRun();
    p.sh(command);
    const folder = p.exists("deep") ? join(p.dir, "deep") : p.dir;
    expect(await uncommittedFiles(folder)).toBeUndefined();
  });
});
