import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { openRecords } from "../../src/ask/records.js";
import { writeFiles } from "../../src/ask/run-agent.js";
import { writeAtomic } from "../../src/state/files.js";
import { createRunFolder, iterationFolder } from "../../src/state/runs.js";
import { archiveStories } from "../../src/stories/archive.js";
import { ignoreActiveFile, writeTemplates } from "../../src/stories/set-up.js";
import { createProject, temporaryFolder } from "../kit.js";
import { story, tasks } from "../recipes/stories/samples.js";

/** A file that nobody may touch, and a folder in which links to it are planted. */
function planted(...names: string[]) {
  const root = temporaryFolder();
  const folder = join(root, "work");
  mkdirSync(folder);
  const precious = join(root, "precious");
  writeFileSync(precious, "keep me");
  for (const name of names) symlinkSync(precious, join(folder, name));
  return { root, folder, kept: () => readFileSync(precious, "utf8") };
}

describe("a link that was planted is not followed", () => {
  const id = (text: string): string => text;

  test.each<[string, string[], (folder: string) => void]>([
    [
      "by what is renamed into its place",
      [`state.json.${process.pid}.tmp`, "state.json"],
      (folder) => writeAtomic(join(folder, "state.json"), "x"),
    ],
    ["by the prompt of an iteration", ["prompt.md"], (folder) => openRecords(folder, "log", "x", id)],
    [
      "by the files of a call",
      ["settings.json"],
      (folder) => writeFiles({ [join(folder, "settings.json")]: "x" }),
    ],
    [
      "by the templates of the stories",
      [],
      (folder) => {
        mkdirSync(join(folder, "ralph"));
        symlinkSync("../../precious", join(folder, "ralph/prd.md"));
        writeTemplates({ project: folder, dir: "ralph" }, { replace: ["prd"] });
      },
    ],
    ["by the line in .gitignore", [".gitignore"], (folder) => ignoreActiveFile(folder)],
  ])("%s", (_, names, write) => {
    const { folder, kept } = planted(...names);
    write(folder);
    expect(kept()).toBe("keep me");
  });

  it("by the folder of an iteration", () => {
    const { root, folder } = planted();
    const run = createRunFolder(folder, "id");
    mkdirSync(join(run.path, "iterations"));
    symlinkSync(root, join(run.path, "iterations/002"));
    expect(iterationFolder(run, 2)).toBe(join(run.path, "iterations/002"));
    openRecords(iterationFolder(run, 2), "log", "x", id).close();
    expect(() => readFileSync(join(root, "prompt.md"))).toThrow("ENOENT");
  });

  it("by an archive", async () => {
    const { root, folder } = planted();
    mkdirSync(join(folder, "ralph"));
    writeFileSync(join(folder, "ralph/tasks.json"), JSON.stringify(tasks(story("US-001"))));
    symlinkSync(root, join(folder, "ralph-archive"));
    const archived = archiveStories({ project: folder, dir: "ralph" }, "x");
    await expect(archived).rejects.toThrow("ralph-archive is not a folder");
  });
});

it("links that the agent plants where the report and the progress go change no other file", async () => {
  const p = createProject();
  p.write("../precious", "keep me");
  const plant = (place: string): string => `mkdir -p $(dirname ${place}); ln -sf ${p.root}/precious ${place}`;
  const files = ["report.json", ".ralph/progress.md", ".ralph/.gitignore"];
  p.agent([{ bash: files.map(plant).join("; "), text: "COMPLETE" }]);
  const { code } = await p.ralph("loop", "t", "--check", "true", "--report-file", "report.json");
  expect({ code, precious: p.read("../precious") }).toEqual({ code: 0, precious: "keep me" });
  expect(JSON.parse(p.read("report.json"))).toMatchObject({ success: true });
});

describe("a link that a repository brings along", () => {
  it.each([
    [".ralph", ["init", "--yes"], ".ralph is not a folder"],
    [".ralph", ["pipeline", "init"], ".ralph is not a folder"],
    ["ralph", ["stories", "init"], "expected a folder inside the project"],
  ])("in place of %s is not filled by ralph %j", async (name, args, message) => {
    const p = createProject();
    p.agent([{ text: "" }]);
    p.sh(`mkdir ../elsewhere && ln -s ../elsewhere ${name}`);
    const { code, stderr } = await p.ralph(...args);
    expect({ code, stderr, files: p.sh("ls -A ../elsewhere") }).toEqual({
      code: 2,
      stderr: expect.stringContaining(message),
      files: "",
    });
  });
});
