import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { openRecords } from "../../src/ask/call.js";
import { writeFiles } from "../../src/ask/run-agent.js";
import { archiveStories } from "../../src/recipes/stories/archive.js";
import { ignoreActiveFile, storiesFolder, writeTemplates } from "../../src/recipes/stories/folder.js";
import { writeAtomic } from "../../src/records/files.js";
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

describe("the folder of a report", () => {
  it.each([
    ["that the agent made a link of is not filled", "", "mkdir ../elsewhere; ln -s ../elsewhere out", ""],
    [
      "that the agent led elsewhere is not filled",
      "mkdir a ../elsewhere; ln -s a out",
      "ln -sfn ../elsewhere out",
      "",
    ],
  ])("%s", async (_, before, bash, files) => {
    const p = createProject();
    p.sh(before || "true");
    p.agent([{ bash, text: "COMPLETE" }]);
    const { code, stderr } = await p.ralph("loop", "t", "--check", "true", "--report-file", "out/r.json");
    const said = stderr.includes("cannot write the report out/r.json: its folder now points elsewhere");
    expect({ code, said, files: p.sh("ls -A ../elsewhere") }).toEqual({ code: 0, said: files === "", files });
  });
});

describe("a link that a repository brings along", () => {
  it("in place of PROMPT.md is replaced by ralph init --prompt --force", async () => {
    const p = createProject();
    p.sh("echo keep me > ../precious; ln -s ../precious PROMPT.md");
    const { code } = await p.ralph("init", "--prompt", "--force");
    expect([code, p.read("../precious"), p.sh("find . -name PROMPT.md -type f")]).toEqual([
      ...[0, "keep me\n", "./PROMPT.md\n"],
    ]);
  });

  it("above the folder of the stories is not followed, also where it leads nowhere", () => {
    const { root, folder } = planted();
    symlinkSync(root, join(folder, "docs"));
    symlinkSync(join(root, "missing"), join(folder, "nowhere"));
    const place = (ralphDir: string) => () => storiesFolder({ projectDir: folder, ralphDir });
    expect(place("docs/st")).toThrow("expected a folder inside the project");
    expect(place("nowhere/st")).toThrow("expected a folder inside the project");
    expect(place("new/st")()).toEqual({ project: folder, dir: "new/st" });
  });

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
