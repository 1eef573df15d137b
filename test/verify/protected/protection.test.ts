import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createProtection,
  type ProtectedChange,
  type Protection,
} from "../../../src/verify/protected/protection.js";
import { eventually, temporaryFolder } from "../../kit.js";

const GIT = "git -c user.name=a -c user.email=a@example.invalid";

function place(git: boolean) {
  const root = temporaryFolder();
  const [workspace, records, outside] = ["project", "records", "outside"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const write = (path: string, content: string): void => {
    const file = join(workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  for (const folder of [workspace, records, outside]) mkdirSync(folder);
  write("tests/a.txt", "A");
  write("tests/deep/b.txt", "B");
  write("src/main.txt", "main");
  write("prd.md", "PRD");
  const sh = (command: string): string =>
    execFileSync("sh", ["-c", command], { cwd: workspace, encoding: "utf8" }).trim();
  if (git) sh(`git init -q . && git add . && ${GIT} commit -qm init`);
  const protect = (...patterns: string[]): Protection =>
    createProtection(patterns, { workspace, records, folderFor: (n) => join(records, `iteration-${n}`) });
  return { workspace, records, outside, write, sh, protect };
}

/** Names and contents of all files, with their modes. */
const STATE =
  'find . -path ./.git -prune -o \\( -type f -o -type l \\) -printf "%p %m %l " -exec sh -c \'test -L "$1" || cat "$1"; echo\' - {} \\; | sort; find . -path ./.git -prune -o -type d -print | sort';

function words(undone: ProtectedChange[]): string[] {
  return undone.map(({ file, what }) => `${file}: ${/ is (.*?)(?= \(|$)/.exec(what)?.[1]}`).sort();
}

const BACK = {
  changed: "protected, but it changed: ralph restored it",
  deleted: "protected, but it was deleted: ralph restored it",
};
const GONE = "new among the protected files: ralph removed it";

describe("protected files", () => {
  it.each<[string, string, string[]]>([
    [
      "an edit with the old time",
      "touch -r tests/a.txt t; printf X > tests/a.txt; touch -r t tests/a.txt; rm t",
      [`tests/a.txt: ${BACK.changed}`],
    ],
    [
      "a deleted folder",
      "rm -r tests",
      [`tests/a.txt: ${BACK.deleted}`, `tests/deep/b.txt: ${BACK.deleted}`],
    ],
    ["a new file in new folders", "mkdir -p tests/x/y && echo x > tests/x/y/z", [`tests/x/y/z: ${GONE}`]],
    ["a rename", "mv tests/a.txt tests/c.txt", [`tests/a.txt: ${BACK.deleted}`, `tests/c.txt: ${GONE}`]],
    [
      "a commit",
      `echo x > tests/a.txt; rm prd.md; git add -A; ${GIT} commit -qm sly`,
      [`prd.md: ${BACK.deleted}, also in HEAD`, `tests/a.txt: ${BACK.changed}, also in HEAD`],
    ],
    ["a link in place of a file", "ln -sf ../src/main.txt tests/a.txt", [`tests/a.txt: ${BACK.changed}`]],
    ["a folder that was closed", "chmod 000 tests/deep", []],
  ])("are what they were after %s", async (_, command, expected) => {
    const { sh, protect } = place(true);
    // What is not committed is the user's state all the same.
    sh("echo dirty >> tests/deep/b.txt; echo new > tests/untracked.txt");
    const before = sh(STATE);
    const protection = protect("tests/**", "prd.md");
    await protection.begin(1, false);
    sh(command);
    const undone = words(await protection.undo(1));
    const untracked = undone.filter((line) => !line.startsWith("tests/untracked.txt"));
    sh("chmod 755 tests/deep; rm -rf gone testsx; printf main > src/main.txt");
    expect({ undone: untracked, state: sh(STATE) }).toEqual({ undone: expected, state: before });
    expect(await protection.undo(1)).toEqual([]);
  });

  it("are the same without a repository", async () => {
    const { sh, protect } = place(false);
    const before = sh(STATE);
    const protection = protect("**/*.txt");
    await protection.begin(1, false);
    sh("rm -r tests; echo x > src/main.txt; echo y > new.txt");
    expect(words(await protection.undo(1))).toEqual([
      `new.txt: ${GONE}`,
      `src/main.txt: ${BACK.changed}`,
      `tests/a.txt: ${BACK.deleted}`,
      `tests/deep/b.txt: ${BACK.deleted}`,
    ]);
    expect(sh(STATE)).toBe(before);
  });

  it("are seen to be changed long after they were last compared, also when the time was set back", async () => {
    const { sh, protect, workspace } = place(true);
    const file = join(workspace, "tests/a.txt");
    const protection = protect("tests");
    await protection.begin(1, false);
    await eventually(() => Date.now() - statSync(file).ctimeMs > 1100);
    expect(await protection.undo(1)).toEqual([]);
    sh("cp -p tests/a.txt t; printf X > tests/a.txt; touch -r t tests/a.txt; rm t");
    expect(words(await protection.undo(1))).toEqual([`tests/a.txt: ${BACK.changed}`]);
  });

  it("keep what was there in the records", async () => {
    const { sh, protect, records } = place(true);
    const protection = protect("tests");
    await protection.begin(7, false);
    sh("echo better > tests/a.txt; echo new > tests/c.txt");
    const kept = (name: string): string => join(records, "iteration-7/protected/tests", name);
    expect(await protection.undo(7)).toEqual([
      {
        file: "tests/a.txt",
        what: "tests/a.txt is protected, but it changed: ralph restored it",
        kept: kept("a.txt"),
      },
      {
        file: "tests/c.txt",
        what: "tests/c.txt is new among the protected files: ralph removed it",
        kept: kept("c.txt"),
        isNew: true,
      },
    ]);
    expect(readFileSync(kept("a.txt"), "utf8")).toBe("better\n");
  });

  it("are what links lead to, too, inside and outside of the project", async () => {
    const { sh, protect, outside, workspace } = place(true);
    writeFileSync(join(outside, "spec.md"), "SPEC");
    mkdirSync(join(outside, "cases"));
    writeFileSync(join(outside, "cases/one"), "1");
    sh("ln -s ../outside/spec.md spec.md; ln -s ../outside/cases cases; ln -s src/main.txt main");
    const before = sh(STATE);
    const protection = protect("spec.md", "cases/**", "main", "cases/sub/x");
    await protection.begin(1, false);
    sh("echo x > spec.md; echo x > cases/one; echo x > cases/two; echo x > main; rm cases; mkdir cases");
    const undone = words(await protection.undo(1));
    expect(undone).toEqual([
      `cases/one: ${BACK.changed}`,
      `cases: ${BACK.deleted}`,
      `main: ${BACK.changed}`,
      `spec.md: ${BACK.changed}`,
    ]);
    expect(sh(STATE)).toBe(before);
    expect(["spec.md", "cases/one"].map((name) => readFileSync(join(outside, name), "utf8"))).toEqual([
      "SPEC",
      "1",
    ]);
    expect(existsSync(join(outside, "cases/two"))).toBe(true);
    expect(readFileSync(join(workspace, "src/main.txt"), "utf8")).toBe("main");
  });

  it("are not hidden by rules that an agent writes for git", async () => {
    const { sh, protect } = place(true);
    const protection = protect("tests/**");
    await protection.begin(1, false);
    sh(
      "echo 'new*' >> .gitignore; echo 'sly*' >> .git/info/exclude; mkdir tests/x; echo '*' > tests/x/.gitignore",
    );
    sh("echo x > tests/new.txt; echo x > tests/sly.txt; echo x > tests/x/y");
    expect(words(await protection.undo(1))).toEqual(
      ["new.txt", "sly.txt", "x/.gitignore", "x/y"].map((name) => `tests/${name}: ${GONE}`),
    );
  });

  it("are in the index what they were, whatever was staged or hidden there", async () => {
    const { sh, protect } = place(true);
    sh("echo mine > tests/a.txt");
    const protection = protect("tests/**", "prd.md");
    await protection.begin(1, false);
    sh(`echo x > prd.md; echo x > tests/new; git add -A; ${GIT} commit -qm sly; echo y > tests/deep/b.txt
      git add -A; git update-index --skip-worktree tests/deep/b.txt; git update-index --assume-unchanged prd.md`);
    await protection.undo(1);
    expect(sh("git status --porcelain; git ls-files -v tests prd.md")).toBe(
      ["H prd.md", "H tests/a.txt", "H tests/deep/b.txt"].join("\n"),
    );
  });

  it("are not what git ignores, unless a pattern is exactly its name; bytecode beside them is dropped", async () => {
    const { sh, protect, write } = place(true);
    write(".gitignore", "*.pyc\n.env\n__snapshots__\n");
    write(".env", "KEY=1");
    write("tests/old.pyc", "1");
    write("tests/__snapshots__/old", "1");
    const protection = protect("tests/**", ".env", "**/*.cache");
    await protection.begin(1, false);
    sh(
      "echo 2 > tests/old.pyc; echo 2 > tests/new.pyc; echo KEY=2 > .env; mkdir tests/__pycache__; echo x > tests/__pycache__/y; mkdir src/__pycache__; echo 2 > tests/__snapshots__/old",
    );
    expect(words(await protection.undo(1))).toEqual([`.env: ${BACK.changed}`]);
    expect(
      sh("cat .env tests/__snapshots__/old; ls -d tests/*.pyc tests/__pycache__ src/__pycache__ || :"),
    ).toBe("KEY=12\nsrc/__pycache__");
  });

  it("are taken anew when the user had a chance to change them, and put back when nobody did", async () => {
    const { sh, protect } = place(true);
    const protection = protect("prd.md");
    expect(await protection.begin(1, false)).toEqual([]);
    protection.end();
    sh("echo stray > prd.md");
    expect(words(await protection.begin(2, false))).toEqual([`prd.md: ${BACK.changed}`]);
    protection.end();
    sh("echo mine > prd.md");
    protection.release();
    expect(await protection.begin(3, false)).toEqual([]);
    protection.end();
    sh("echo later > prd.md");
    const resumed = protect("prd.md");
    expect(await resumed.begin(4, false)).toEqual([]);
    sh("echo cut off > prd.md");
    const afterCrash = protect("prd.md");
    expect(words(await afterCrash.begin(4, false))).toEqual([`prd.md: ${BACK.changed}`]);
    sh("echo answered > prd.md");
    const verifiedLater = protect("prd.md");
    expect(await verifiedLater.begin(4, true)).toEqual([]);
    expect(words(await verifiedLater.undo(4))).toEqual([`prd.md: ${BACK.changed}`]);
    expect(sh("cat prd.md")).toBe("later");
  });
});
