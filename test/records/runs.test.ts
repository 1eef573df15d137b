import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ralphHome } from "../../src/records/home.js";
import {
  createRunFolder,
  iterationFolder,
  listRunFolders,
  newRunId,
  readRun,
  readSpecText,
  runFolder,
} from "../../src/records/runs.js";
import { temporaryFolder } from "../kit.js";

describe("run ids", () => {
  it("carry the time in UTC", () => {
    expect(newRunId(new Date("2026-01-26T18:55:00.999Z"))).toMatch(/^20260126-185500-[0-9a-f]{6}$/);
    expect(newRunId(new Date("2026-12-31T23:59:59+00:00"))).toMatch(/^20261231-235959-/);
  });

  it("sort by time and do not repeat", () => {
    const begun = Date.parse("2025-12-31T23:50:00Z");
    const ids = Array.from({ length: 1000 }, (_, second) => newRunId(new Date(begun + second * 1000)));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(1000);
  });

  it("differ at the same moment", () => {
    const now = new Date();
    const ids = new Set(Array.from({ length: 4000 }, () => newRunId(now)));
    expect(ids.size).toBe(4000);
  });
});

describe("run folders", () => {
  it("are for the user alone, and for one run", () => {
    const home = temporaryFolder();
    const folder = createRunFolder(home, "20260126-185500-3f9a");
    writeFileSync(folder.spec, '{"a":1}\n');
    const path = join(home, "runs", "20260126-185500-3f9a");
    expect(folder).toEqual({
      id: "20260126-185500-3f9a",
      path,
      spec: join(path, "spec.json"),
      journal: join(path, "journal.ndjson"),
      pause: join(path, "paused"),
    });
    expect(readSpecText(folder)).toBe('{"a":1}\n');
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(() => createRunFolder(home, "20260126-185500-3f9a")).toThrow("EEXIST");
  });

  it("hold a folder for each iteration", () => {
    const folder = createRunFolder(temporaryFolder(), "a");
    const paths = [1, 42, 1000, 1].map((iteration) => iterationFolder(folder, iteration));
    expect(paths).toEqual(["001", "042", "1000", "001"].map((name) => join(folder.path, "iterations", name)));
    expect(paths.every(existsSync)).toBe(true);
  });

  it("are listed in the order of time; what is no run is left out", () => {
    const home = temporaryFolder();
    expect(listRunFolders(home)).toEqual([]);
    const ids = ["20260126-185501-0000", "20260126-185500-ffff", "20251231-235959-3f9a"];
    for (const id of ids) writeFileSync(createRunFolder(home, id).spec, "{}");
    mkdirSync(join(home, "runs", "20260126-185502-dead"));
    writeFileSync(join(home, "runs", "notes.txt"), "");
    expect(listRunFolders(home)).toEqual([...ids].reverse().map((id) => runFolder(home, id)));
  });

  it("without a journal have no state yet", () => {
    const folder = createRunFolder(temporaryFolder(), "a");
    expect(readRun(folder)).toBeUndefined();
    writeFileSync(folder.journal, "");
    expect(readRun(folder)).toMatchObject({
      unreadable: 0,
      state: { run: "a", startedAt: "", iterations: 0 },
    });
  });

  it("without a readable spec are told with their name", () => {
    const folder = runFolder(temporaryFolder(), "a");
    expect(() => readSpecText(folder)).toThrow(
      expect.objectContaining({
        name: "RalphError",
        code: "spec_unreadable",
        exitCode: 2,
        message: `cannot read ${folder.spec}: no such file`,
      }),
    );
  });
});

describe("ralph's home", () => {
  it("is RALPH_HOME, else a folder in the user's home", () => {
    expect(ralphHome({ RALPH_HOME: "/somewhere/else" })).toBe("/somewhere/else");
    expect(ralphHome({ RALPH_HOME: "records" })).toBe(join(process.cwd(), "records"));
    expect(ralphHome({ RALPH_HOME: "" })).toBe(join(homedir(), ".ralph"));
    expect(ralphHome({})).toBe(join(homedir(), ".ralph"));
  });
});
