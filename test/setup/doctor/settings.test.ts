import { describe, expect, it } from "vitest";
import { RalphError } from "../../../src/errors.js";
import { examineSettings } from "../../../src/setup/doctor/examine.js";
import { createProject } from "../../kit.js";
import { machine, realGit, SETTINGS } from "./machine.js";

const FILES = {
  name: "files",
  status: "ok",
  message: "valid: .ralph/settings.json",
  files: [".ralph/settings.json"],
};

function withScm(command: string) {
  const scm = { command, tasks: ["commit", "push"], stage: "all" as const };
  const files = [{ name: ".ralph/settings.json", content: {} }];
  return { settings: { settings: { ...SETTINGS, scm }, files } };
}

describe("settings", () => {
  it("that are refused are a problem with the words of ralph run", async () => {
    const settings = new RalphError('.ralph/settings.json: unknown key "x"', { code: "settings_invalid" });
    expect(await examineSettings(machine(createProject(), { settings }))).toEqual([
      {
        name: "files",
        status: "problem",
        message: '.ralph/settings.json: unknown key "x"',
        fix: "correct the file and run ralph doctor again",
      },
    ]);
  });

  it("with scm need its command and a repository", async () => {
    const p = createProject();
    realGit(p);
    expect(await examineSettings(machine(p, withScm("git")))).toEqual([
      FILES,
      { name: "scm", status: "ok", message: "git: commit, push" },
    ]);
    expect((await examineSettings(machine(p, withScm("hgx"))))[1]).toEqual({
      name: "scm",
      status: "problem",
      message: "scm command not found: hgx",
      fix: "install it, or change scm.command in the settings",
    });
    const outside = machine(p, { ...withScm("git"), workspace: p.home });
    expect((await examineSettings(outside))[1]).toMatchObject({
      status: "problem",
      message: `not a git repository: ${p.home}`,
    });
  });
});
