import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { orElse } from "../../src/errors.js";
import { readReceipt } from "../../src/receipts/read.js";
import { claudeProject, eventually, type Project, type Step } from "../kit.js";

const DONE = "<response>DONE</response>";
const WORK: Step = { bash: "echo new > made; git add -A; git commit -qm work", text: DONE };
const SCHEMA = join(import.meta.dirname, "../../schemas/receipt.v1.json");

/** A project with a receipt of committed work, in a file. */
async function verified(step = WORK, ...flags: string[]): Promise<Project & { file: string }> {
  const p = claudeProject(step);
  const { code } = await p.ralph("run", "-p", "x", "--check", "grep -q new made", ...flags);
  expect(code).toBe(0);
  const file = join(p.root, "receipt.json");
  for (const end of ["", ".sig"])
    if (existsSync(join(p.runFolder(), `receipt.json${end}`)))
      copyFileSync(join(p.runFolder(), `receipt.json${end}`), `${file}${end}`);
  return { ...p, file };
}

describe("ralph verify", () => {
  it("runs the checks on the commit of the receipt, whatever is checked out, and leaves nothing", async () => {
    const p = await verified();
    p.sh("git rm -q made; git commit -qm gone; echo dirty > README.md");
    const before = p.sh("git status --porcelain; git worktree list; git show-ref; ls -A");
    const { code, stdout } = await p.ralph("verify");
    expect({ code, end: stdout.trimEnd().split("\n").slice(-2) }).toEqual({
      code: 0,
      end: [
        "✅ grep -q new made: passed then (exit 0), passes now (exit 0)",
        expect.stringMatching(/^✅ The same: 1 check on commit [0-9a-f]{12}$/),
      ],
    });
    expect(p.sh("git status --porcelain; git worktree list; git show-ref; ls -A")).toBe(before);
    expect(readdirSync(p.root).filter((name) => name.startsWith("ralph-verify"))).toEqual([]);
  });

  it("works in another clone with the receipt alone, which is what its schema says", async () => {
    const p = await verified();
    const schema = JSON.parse(readFileSync(SCHEMA, "utf8")) as object;
    expect(new Ajv2020({ strict: false }).validate(schema, JSON.parse(readFileSync(p.file, "utf8")))).toBe(
      true,
    );
    p.sh("git clone -q . ../clone");
    const there = ["verify", p.file, "--repo", join(p.root, "clone"), "--json"];
    const { code, stdout } = await p.ralph(...there);
    expect({ code, result: (JSON.parse(stdout) as { result: string }).result }).toEqual({
      code: 0,
      result: "same",
    });
    p.sh("git init -q ../other");
    const without = await p.ralph("verify", p.file, "--repo", join(p.root, "other"));
    expect(without).toMatchObject({ code: 2 });
    expect(without.stderr).toMatch(
      /^ralph: error: the receipt cannot be checked: commit [0-9a-f]{12} is not in /,
    );
  });

  it("finds work again that was not committed, by the records of the run", async () => {
    const p = await verified({ bash: "echo new > made; mkdir sub; echo x > sub/y", text: DONE });
    expect(readFileSync(p.file, "utf8")).not.toContain("gitCommit");
    p.sh("rm -r made sub");
    expect((await p.ralph("verify")).code).toBe(0);
    const alone = await p.ralph("verify", p.file);
    expect(alone).toMatchObject({ code: 2, stdout: "" });
    expect(alone.stderr).toContain("its work was not committed when it was verified");
  });

  it("takes nothing of the environment but PATH, and says what differs and what cannot run", async () => {
    const p = claudeProject(WORK);
    const env = ["--check", 'test -z "$ONLY_HERE" || exit 0; exit 7', "--check", "grep -q new made"];
    p.env["ONLY_HERE"] = "1";
    p.program("tool", "#!/bin/sh\nexit 0\n");
    expect((await p.ralph("run", "-p", "x", ...env, "--check", "tool")).code).toBe(0);
    p.program("tool", "#!/bin/sh\nexit 127\n");
    const { code, stdout } = await p.ralph("verify");
    expect(code).toBe(1);
    expect(stdout).toMatch(/❌ test -z .*: passed then \(exit 0\), fails now \(exit 7\)/);
    expect(stdout).toContain("tool: passed then (exit 0), not run now: a program that it needs is not here");
  });

  it("runs hidden checks again only where their commands are given", async () => {
    const p = await verified(WORK, "--hidden-check", "test -f made");
    const without = await p.ralph("verify", p.file);
    expect(without).toMatchObject({ code: 0, stdout: expect.stringContaining("; 1 check not run") });
    const { code, stdout } = await p.ralph("verify", p.file, "--hidden-check", "test -f made");
    expect({ code, end: stdout.includes("The same: 2 checks") }).toEqual({ code: 0, end: true });
    expect(await p.ralph("verify", p.file, "--hidden-check", "true")).toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: "ralph: error: --hidden-check true: expected the command of a hidden check of the receipt\n",
    });
  });

  it("checks commands of several lines, and ones that would steer a terminal", async () => {
    const p = claudeProject(WORK);
    const checks = ["grep -q new made\necho two", "true # \u001b[31mred \u202eevil"];
    const flags = checks.flatMap((command) => ["--check", command]);
    expect((await p.ralph("run", "-p", "x", ...flags)).code).toBe(0);
    expect(readFileSync(join(p.runFolder(), "receipt.json"), "utf8")).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
    const { code, stdout } = await p.ralph("verify");
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/true # +\[31mred +evil: passed then/),
    });
    expect(stdout).toContain("✅ grep -q new made echo two: passed then");
  });

  it("is interrupted by a signal, and says nothing of the check", async () => {
    const p = claudeProject(WORK);
    const check = 'case "$PWD" in */work) touch ../../at; sleep 60;; esac';
    expect((await p.ralph("run", "-p", "x", "--check", check)).code).toBe(0);
    const running = p.start(["verify"]);
    await eventually(() => existsSync(join(p.root, "at")));
    running.child.kill("SIGINT");
    expect(await running.result).toMatchObject({
      code: 130,
      stderr: "ralph: error: interrupted before the receipt was checked\n",
    });
    expect(readdirSync(p.root).filter((name) => name.startsWith("ralph-verify"))).toEqual([]);
  });

  it("checks submodules out where their commits are here, and cannot tell where they are not", async () => {
    const p = claudeProject(WORK);
    p.sh("git init -q ../lib && cd ../lib && echo lib > lib.txt && git add -A && git commit -qm lib");
    p.sh('git -c protocol.file.allow=always submodule add -q "$PWD/../lib" vendor/lib && git commit -qm lib');
    expect((await p.ralph("run", "-p", "x", "--check", "grep lib vendor/lib/lib.txt")).code).toBe(0);
    expect((await p.ralph("verify")).code).toBe(0);
    p.sh("git clone -q . ../clone");
    const without = await p.ralph(
      "verify",
      join(p.runFolder(), "receipt.json"),
      "--repo",
      join(p.root, "clone"),
    );
    expect(without).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("the commit of a submodule is not here: vendor/lib"),
    });
  });

  it("has no receipt where a submodule holds work that is not committed", async () => {
    const p = claudeProject({ ...WORK, bash: `echo more >> vendor/lib/lib.txt; ${WORK.bash}` });
    p.sh("git init -q ../lib && cd ../lib && echo lib > lib.txt && git add -A && git commit -qm lib");
    p.sh('git -c protocol.file.allow=always submodule add -q "$PWD/../lib" vendor/lib && git commit -qm lib');
    const { finished } = await p.ralph("run", "-p", "x", "--check", "true", "--json");
    expect(finished.unproven).toContain("the submodule vendor/lib has work that is not committed");
  });

  it("cannot tell where the files of a commit go through a filter", async () => {
    const p = claudeProject(WORK);
    p.sh('git config filter.up.clean "tr a-z A-Z"; git config filter.up.smudge "tr A-Z a-z"');
    p.sh('echo "*.dat filter=up" > .gitattributes; echo hello > a.dat; git add -A; git commit -qm dat');
    expect((await p.ralph("run", "-p", "x", "--check", "grep hello a.dat")).code).toBe(0);
    const { code, stdout } = await p.ralph("verify");
    expect({ code, stdout }).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("a filter of git that does not run here: up"),
    });
  });

  it("finds every byte of what it says that was changed", async () => {
    const p = await verified();
    const text = readFileSync(p.file, "utf8");
    const bytes = readFileSync(p.file);
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const isFound = orElse(() => readReceipt(changed.toString(), p.file).isEdited, true);
      expect(isFound, `byte ${at}`).toBe(true);
    }
    const words = [...text.matchAll(/[\w:./-]+(?=")|\d+(?=,?\n)|null/g)].filter((_, at) => at % 12 === 0);
    for (const { 0: word, index } of words) {
      const other = word === "null" ? '"x"' : `${word.slice(0, -1)}${word.endsWith("1") ? "2" : "1"}`;
      writeFileSync(p.file, text.slice(0, index) + other + text.slice(index + word.length));
      const { code, stderr } = await p.ralph("verify", p.file);
      expect([1, 2], `${word} at ${index}`).toContain(code);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  });

  it("says first that a commit is not here, also of a receipt that was changed", async () => {
    const p = await verified();
    const text = readFileSync(p.file, "utf8");
    writeFileSync(p.file, text.replace(/"gitCommit": "\w+"/, `"gitCommit": "${"0".repeat(40)}"`));
    expect(await p.ralph("verify", p.file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("commit 000000000000 is not in"),
    });
    writeFileSync(p.file, text.replace('"confirmed": 0', '"confirmed": 1'));
    expect(await p.ralph("verify", p.file)).toEqual(
      expect.objectContaining({
        code: 1,
        stderr: "ralph: error: the receipt is wrong: it was changed after it was written\n",
      }),
    );
  });

  const UNUSABLE: [what: string, change: (text: string) => string, message: string][] = [
    ["no receipt", () => "{}", "is not a receipt of ralph"],
    ["no JSON", () => "hello", "is not a receipt of ralph"],
    ["of a newer version", (text) => text.replace('"v": 1', '"v": 2'), "comes from a newer ralph"],
    [
      "about something else",
      (text) => text.replace(/"gitCommit": "\w+"/, '"gitCommit": "main"'),
      "has a subject that is not a commit",
    ],
    [
      "with a name that steers the terminal",
      (text) => text.replace('"name": "grep', '"name": "\\u001b[2Jgrep'),
      "has control characters",
    ],
    [
      "with too many checks",
      (text) => {
        const receipt = JSON.parse(text) as { predicate: Record<string, { checks: unknown[] }> };
        const details = receipt.predicate["urn:ralph-loop:receipt"];
        if (details) details.checks = Array.from({ length: 10_000 }, () => details.checks[0]);
        return JSON.stringify(receipt);
      },
      "more than 1000 checks",
    ],
  ];

  it("refuses a file that is no receipt, or one that it cannot trust to show", async () => {
    const p = await verified();
    const text = readFileSync(p.file, "utf8");
    for (const [what, change, message] of UNUSABLE) {
      writeFileSync(p.file, change(text));
      const { code, stdout, stderr } = await p.ralph("verify", p.file);
      expect.soft([code, stdout, stderr], what).toEqual([2, "", expect.stringMatching(/^.+\n$/)]);
      expect.soft(stderr).toContain(message);
    }
  });
});

describe("--sign", () => {
  /** A key of the user, and one of somebody else. */
  function keys(p: Project): void {
    p.sh('mkdir -p "$HOME/.ssh"; ssh-keygen -q -t ed25519 -N "" -f "$HOME/.ssh/id_ed25519"');
    p.sh('ssh-keygen -q -t ed25519 -N "" -f "$HOME/other"');
  }
  const allow = (p: Project, key: string, options = ""): string =>
    p.sh(
      `echo "a@example.invalid ${options} $(cut -d' ' -f1,2 "$HOME/${key}.pub")" > "$HOME/allowed"; git config gpg.ssh.allowedSignersFile "$HOME/allowed"`,
    );

  it("signs the receipt with the user's key, and every changed byte is found", async () => {
    const p = claudeProject(WORK);
    keys(p);
    expect((await p.ralph("run", "-p", "x", "--check", "true", "--sign")).code).toBe(0);
    expect((await p.ralph("verify")).stdout).toContain("gpg.ssh.allowedSignersFile is not set");
    allow(p, ".ssh/id_ed25519");
    const { code, stdout } = await p.ralph("verify");
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("(a@example.invalid)"),
    });
    const file = join(p.runFolder(), "receipt.json");
    const bytes = readFileSync(file);
    for (const at of [0, 1, 400, bytes.length - 2]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(file, changed);
      const result = await p.ralph("verify");
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toContain("the receipt or its signature was changed after it was signed");
    }
    writeFileSync(file, bytes);
    const signature = readFileSync(`${file}.sig`);
    for (const at of [signature.indexOf("\n"), signature.length - 1]) {
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(`${file}.sig`, changed);
      expect(await p.ralph("verify"), `byte ${at}`).toMatchObject({ code: 1, stdout: "" });
    }
    p.sh(`rm "${file}.sig"`);
    expect(await p.ralph("verify")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("claims to be signed, but its signature is missing"),
    });
  });

  it("trusts no other key, and none that has expired", async () => {
    const p = claudeProject(WORK);
    keys(p);
    expect((await p.ralph("run", "-p", "x", "--check", "true", "--sign")).code).toBe(0);
    allow(p, "other");
    const unknown = await p.ralph("verify");
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("its signer is unknown: SHA256:"),
    });
    allow(p, ".ssh/id_ed25519", 'valid-before="20200101"');
    const expired = await p.ralph("verify");
    expect(expired).toMatchObject({ code: 1, stderr: expect.stringContaining("has expired") });
    const file = join(p.runFolder(), "receipt.json");
    p.sh(`rm "${file}.sig"; ssh-keygen -q -Y sign -n ralph-receipt -f "$HOME/other" "${file}"`);
    allow(p, "other");
    const another = await p.ralph("verify");
    expect(another).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("with a different key than it names"),
    });
  });

  it("starts nothing where there is no key", async () => {
    const p = claudeProject(WORK);
    const { code, stdout, stderr } = await p.ralph("run", "-p", "x", "--check", "true", "--sign");
    expect({ code, stdout, calls: p.calls() }).toEqual({ code: 2, stdout: "", calls: 0 });
    expect(stderr).toContain("--sign: there is no ssh key to sign with");
  });
});
