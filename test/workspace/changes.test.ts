import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { changedFiles } from "../../src/workspace/changes.js";
import { openTrees } from "../../src/workspace/trees.js";
import { createProject, type Project } from "../kit.js";

let project: Project;
let base: string;
let since: Date;
let records: string;

/** All that is there now was there before the run: the run begins when the clock of the disk has moved on. */
async function beginRun(): Promise<void> {
  const probe = join(project.root, "probe");
  const now = (): Date => {
    writeFileSync(probe, "x");
    return statSync(probe).ctime;
  };
  const before = now();
  do since = now();
  while (since <= before);
  records = join(project.root, `records-${since.getTime()}`);
  await openTrees(project.dir, records, [])?.begin();
}

beforeEach(async () => {
  project = createProject();
  for (const [name, value] of Object.entries(project.env)) vi.stubEnv(name, value);
  project.sh(
    "mkdir sub && echo a > sub/a && echo b > b && echo '*.ignored' > .gitignore && git add . && git commit -qm more",
  );
  base = project.sh("git rev-parse HEAD").trim();
  project.sh("mkdir -p ../folder/deep && touch ../older ../folder/a ../folder/deep/b");
  await beginRun();
});
afterEach(() => vi.unstubAllEnvs());

/** With the records of the run as without them. */
async function count(): Promise<number | undefined> {
  const files = await changedFiles({ workspace: project.dir, base }, since);
  expect(await changedFiles({ workspace: project.dir, base, records }, since)).toEqual(files);
  return files?.length;
}

describe("changedFiles", () => {
  it.each([
    ["nothing", "true", 0],
    ["an edit, a commit and another edit of one file", "echo x >> b && git commit -qam e && echo y >> b", 1],
    ["new files, also in new folders", "echo x > n && mkdir -p d/e && echo x > d/e/f", 2],
    ["a name with spaces, quotes and line breaks", "echo x > $'a \"b\"\\n\\xc3\\xbc'", 1],
    ["an ignored file that was added by force", "echo x > y.ignored && git add -f y.ignored", 1],
    ["a new file behind a new pattern", "echo x > n && echo n >> .gitignore", 1],
    [
      "ralph's own files",
      "mkdir -p .ralph sub/.ralph && echo x > .ralph/x.log && echo x > sub/.ralph/progress.md",
      0,
    ],
    [
      "a file with an old time",
      "echo x > b && touch -d 2001-01-01 b && echo x > n && touch -d 2001-01-01 n",
      2,
    ],
    [
      "what tar brings",
      "mkdir ../t && touch -d 2001-01-01 ../t/x && tar -C .. -cf ../t.tar t && tar -xf ../t.tar",
      1,
    ],
    ["an old file that was moved into place", "mv ../older moved", 1],
    ["a deletion in a folder with an old time", "rm sub/a && touch -d 2001-01-01 sub", 1],
  ])("counts %s", async (_, command, expected) => {
    project.sh(command);
    expect(await count()).toBe(expected);
  });

  it("leaves out what was different before the run and was left alone", async () => {
    project.sh("echo x >> b && echo x > n && rm sub/a && mkdir other && echo x > other/o");
    await beginRun();
    expect(await count()).toBe(0);
    project.sh("echo x >> other/o");
    expect(await count()).toBe(1);
  });

  it("tells what was done to each file, and counts lines", async () => {
    project.sh(
      "printf 'c\\nd\\n' >> b && rm sub/a && printf 'one\\ntwo' > n && printf 'x\\0' > binary && ln -s b link",
    );
    project.sh(
      "printf 'x\\0y' > staged && git add staged && echo x > committed && git add committed && git commit -qm c",
    );
    expect(await changedFiles({ workspace: project.dir, base }, since)).toEqual([
      { path: "b", change: "modified", added: 2, removed: 0 },
      { path: "binary", change: "added", added: null, removed: null },
      { path: "committed", change: "added", added: 1, removed: 0 },
      { path: "link", change: "added", added: 1, removed: 0 },
      { path: "n", change: "added", added: 2, removed: 0 },
      { path: "staged", change: "added", added: null, removed: null },
      { path: "sub/a", change: "deleted", added: 0, removed: 1 },
    ]);
  });
});
