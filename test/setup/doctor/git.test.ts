import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { examineGit } from "../../../src/setup/doctor/examine.js";
import { createProject } from "../../kit.js";
import { machine, realGit } from "./machine.js";

/** No identity but the one that a configuration file gives. */
const NOBODY = {
  GIT_AUTHOR_NAME: undefined,
  GIT_AUTHOR_EMAIL: undefined,
  GIT_COMMITTER_NAME: undefined,
  GIT_COMMITTER_EMAIL: undefined,
};

describe("git", () => {
  it("in a repository with a commit and an identity is fine", async () => {
    const p = createProject();
    const path = realGit(p);
    mkdirSync(join(p.dir, "below"));
    expect(await examineGit(machine(p, { workspace: join(p.dir, "below") }))).toEqual([
      {
        name: "git",
        status: "ok",
        message: expect.stringMatching(/^\d+\.\d+\S* at /),
        installed: true,
        path,
        version: expect.stringMatching(/^\d+\.\d+/),
      },
      { name: "repository", status: "ok", message: p.dir, path: p.dir },
      { name: "commit", status: "ok", message: p.sh("git rev-parse --short HEAD").trim() },
      { name: "identity", status: "ok", message: "a <a@example.invalid>" },
    ]);
  });

  it("outside a repository is a warning", async () => {
    const p = createProject({ git: false });
    realGit(p);
    expect((await examineGit(machine(p))).slice(1, 2)).toEqual([
      {
        name: "repository",
        status: "warning",
        message: "this folder is not in a git repository: you could not undo anything",
        fix: "git init",
      },
    ]);
  });

  it.each([
    ["nothing", {}, "warning"],
    ["a name alone", { "user.name": "Ada" }, "warning"],
    ["an address alone", { "user.email": "ada@example.invalid" }, "warning"],
    ["both", { "user.name": "Ada", "user.email": "ada@example.invalid" }, "ok"],
  ])("with %s configured", async (_, config, status) => {
    const p = createProject();
    realGit(p);
    for (const [key, value] of Object.entries(config)) p.sh(`git config --global ${key} ${value}`);
    const identity = (await examineGit(machine(p, { env: NOBODY }))).at(-1);
    expect(identity).toMatchObject({ name: "identity", status });
    if (status === "ok") expect(identity?.message).toBe("Ada <ada@example.invalid>");
    else expect(identity?.fix).toContain("git config --global user.email");
  });

  it("that refuses a folder of somebody else says how to allow it", async () => {
    const p = createProject();
    const said = `fatal: detected dubious ownership in repository at '${p.dir}'`;
    p.program(
      "git",
      `#!/bin/sh\ntest "$1" = --version && echo git version 2.40.0 && exit\necho "${said}" >&2; exit 128\n`,
    );
    expect((await examineGit(machine(p)))[1]).toEqual({
      name: "repository",
      status: "warning",
      message: `git does not read it: ${said} (exit 128)`,
      fix: `git config --global --add safe.directory ${p.dir}`,
    });
  });
});
