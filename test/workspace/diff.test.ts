import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { changedFiles, diffSince } from "../../src/workspace/changes.js";
import { createProject, type Project } from "../kit.js";

let project: Project;
let base: string;

beforeEach(() => {
  project = createProject();
  use(project);
  project.sh(
    "mkdir sub && echo a > sub/a && echo b > b && echo '*.ignored' > .gitignore && git add . && git commit -qm more",
  );
  base = project.sh("git rev-parse HEAD").trim();
});
afterEach(() => vi.unstubAllEnvs());

function use({ env }: Project): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
}

const diff = (folder = project.dir) => diffSince({ workspace: folder, base });

/** Every file of the repository's own folder with what is in it. */
function everything(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  const hash = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  return Object.fromEntries(files.map((name) => [name, hash(name)]));
}

const added = (name: string, line: string) => expect.stringMatching(`(?:b/|\\\\t)${name}[\\s\\S]*\\+${line}`);

describe("diffSince", () => {
  it.each([
    ["an edit", "echo EDIT >> b", /^diff --git a\/b b\/b\n[\s\S]*\n b\n\+EDIT\n$/],
    [
      "edits in all three places",
      "echo 1 >> b; git commit -qam 1; echo 2 >> b; git add b; echo 3 >> b",
      /\+1\n\+2\n\+3/,
    ],
    ["a new file", "echo NEW > n", /^diff --git a\/n b\/n\nnew file mode 100644\n[\s\S]*\+NEW\n$/],
    ["a new link", "ln -s nowhere n", /new file mode 120000\n[\s\S]*\+nowhere\n\\ No newline/],
    ["a new binary file", "printf 'x\\0y' > n", /Binary files \/dev\/null and b\/n differ/],
    [
      "a file that was renamed by hand",
      "mv sub/a n",
      /similarity index 100%\nrename from sub\/a\nrename to n\n$/,
    ],
    ["names with line breaks and tabs", "echo x > $'a\\nb\\tc'", /\+\+\+ "b\/a\\nb\\tc"\n/],
    ["names that look like a pattern", "echo x > ':(top)*'", /\+\+\+ b\/:\(top\)\*\n/],
    ["names that are no UTF-8", "echo LATIN > $'\\xff'", /\+LATIN\n$/],
  ])("shows %s", async (_, command, expected) => {
    expect(await diff()).toBe("");
    project.sh(command);
    expect(await diff()).toMatch(expected);
  });

  it.each([
    ["a file that was touched and is the same", "touch -d 2001-01-01 b"],
    [
      "ralph's own files",
      "mkdir -p .ralph sub/.ralph && echo x > .ralph/settings.json && echo x > sub/.ralph/x.log",
    ],
    [
      "a repository inside, with and without a commit",
      "git init -q one && git init -q two && git -C two commit -q --allow-empty -m x",
    ],
  ])("has nothing to show of %s", async (_, command) => {
    project.sh(command);
    expect(await diff()).toBe("");
  });

  it("shows its own part in a folder of the repository, as the list of changed files does", async () => {
    project.sh(
      "echo x >> b && echo x > n && echo EDIT >> sub/a && echo NEW > sub/n && echo L > $'sub/\\xff'",
    );
    const folder = join(project.dir, "sub");
    const shown = (await diff(folder)) ?? "";
    const names = [...shown.matchAll(/^diff --git \S+ "?b\/(\S+?)"?$/gm)].map(([, name]) => name);
    expect(names).toEqual(["sub/a", "sub/n", "sub/\ufffd"]);
    const files = (await changedFiles({ workspace: folder, base }, new Date(0))) ?? [];
    expect(files.map(({ path }) => path)).toEqual(["sub/a", "sub/n", "sub/\ufffd"]);
  });

  it("shows all that was added to a repository that had no commit, also after the first one", async () => {
    const empty = createProject({ git: false });
    empty.sh("git init -q . && echo STAGED > a && git add a && echo NEW > b");
    const before = await diffSince({ workspace: empty.dir, base: undefined });
    expect(before).toEqual(added("a", "STAGED"));
    expect(before).toEqual(added("b", "NEW"));
    empty.sh("git add b && git commit -qm first");
    expect(await diffSince({ workspace: empty.dir, base: undefined })).toBe(before);
  });
});

const SETTINGS: [setting: string, value: string][] = [
  ["diff.external", "/bin/false"],
  ["diff.noprefix", "true"],
  ["diff.renames", "false"],
  ["diff.own.textconv", "echo CONVERTED"],
  ["color.ui", "always"],
  ["core.quotePath", "true"],
  ["status.showUntrackedFiles", "no"],
];

describe("what the user has set", () => {
  beforeEach(() => {
    project.sh(
      "seq 40 > sub/long && echo '*.own diff=own' > .gitattributes && echo o > x.own && git add . && git commit -qm long",
    );
    base = project.sh("git rev-parse HEAD").trim();
    project.sh("sed -i 's/^5$/FIVE/;s/^30$/THIRTY/' sub/long && mv b ö && echo p > x.own && echo NEW > n");
    writeFileSync(join(project.root, "order"), "x.own\n");
  });

  it("changes nothing in the text, neither in settings nor in the environment", async () => {
    const [plain, inSub] = [await diff(), await diff(join(project.dir, "sub"))];
    expect(plain).toMatch(/rename from b\nrename to ö/);
    for (const [name, value] of SETTINGS) {
      project.sh(`git config ${name} "${value}"`);
      expect([name, await diff()]).toEqual([name, plain]);
    }
    for (const name of ["GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_INDEX_FILE"]) vi.stubEnv(name, "/bin/false");
    vi.stubEnv("GIT_DIFF_OPTS", "-u0");
    expect([await diff(), await diff(join(project.dir, "sub"))]).toEqual([plain, inSub]);
  });
});

describe("the repository", () => {
  const git = () => everything(join(project.dir, ".git"));

  it.each([
    ["with something staged", "echo s > s && git add s && echo t >> s"],
    ["with a split index", "git config core.splitIndex true && git update-index --split-index"],
    [
      "in the middle of a merge",
      "git checkout -qb o && echo o > b && git commit -qam o && git checkout -q main && echo m > b && git commit -qam m && git merge -q o || true",
    ],
    ["with a lock on its index", "touch .git/index.lock"],
  ])("is the same byte by byte: %s", async (_, command) => {
    project.sh(`${command}; echo NEW > n; touch -d 2001-01-01 README.md; echo x >> sub/a`);
    const before = git();
    expect(await diff()).toEqual(added("n", "NEW"));
    expect(
      (await changedFiles({ workspace: project.dir, base }, new Date(0)))?.map(({ path }) => path),
    ).toContain("n");
    expect(git()).toEqual(before);
  });
});

describe("large changes", () => {
  it("takes the beginning of 200 MB of text, and not the memory for the rest", async () => {
    project.sh("yes 'a line of text that is not short' | head -c 4000000 > n00");
    for (let n = 1; n < 50; n += 1) project.sh(`cp n00 n${String(n).padStart(2, "0")}`);
    const before = process.memoryUsage().rss;
    const shown = (await diff()) ?? "";
    expect(shown.length).toBeGreaterThan(1024 * 1024);
    expect(shown.length).toBeLessThan(8 * 1024 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("names files that are too large to show, and reads none of them", async () => {
    project.sh("echo small > tracked && git add -A && git commit -qm tracked");
    project.sh("truncate -s 5G new && truncate -s 5G tracked");
    expect(await diff()).toMatch(/Large file, not shown: new\nLarge file, not shown: tracked\n$/);
    expect(await changedFiles({ workspace: project.dir, base: "HEAD" }, new Date(0))).toEqual([
      { path: "new", change: "added", added: null, removed: null },
      { path: "tracked", change: "modified", added: null, removed: null },
    ]);
  });
});
