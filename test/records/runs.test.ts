import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ralphHome } from "../../src/records/home.js";
import { createRunFolder, runsIn } from "../../src/records/runs.js";
import { temporaryFolder } from "../kit.js";

describe("run folders", () => {
  it("are for the user alone, and for one run", () => {
    const home = temporaryFolder();
    const { path } = createRunFolder(home, "20260126-185500-3f9a");
    expect(path).toBe(join(home, "runs", "20260126-185500-3f9a"));
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(() => createRunFolder(home, "20260126-185500-3f9a")).toThrow("EEXIST");
  });
});

describe("runs", () => {
  const IDS = ["20251231-235959-3f9a", "20260126-185500-ffff", "20260126-185501-0000"];
  const homeWithRuns = (): string => {
    const home = temporaryFolder();
    for (const id of IDS) writeFileSync(createRunFolder(home, id).specFile, "{}");
    mkdirSync(join(home, "runs", "20260126-185502-dead"));
    writeFileSync(join(home, "runs", "notes.txt"), "");
    return home;
  };
  const idsOf = (runs: { id: string }[]): string[] => runs.map(({ id }) => id);

  it("are listed in the order of time, all or the newest; what is no run is left out", () => {
    expect(runsIn(temporaryFolder()).list()).toEqual([]);
    const runs = runsIn(homeWithRuns());
    expect([idsOf(runs.list()), idsOf(runs.list(2))]).toEqual([IDS, IDS.slice(1)]);
  });

  it("are found by their id, the beginning of it, or the name of their worker", () => {
    const home = homeWithRuns();
    mkdirSync(join(home, "workers", "api"), { recursive: true });
    writeFileSync(join(home, "workers", "api", "worker.json"), JSON.stringify({ run: IDS[1] }));
    const find = (name: string): string => runsIn(home).find(name).id;
    expect(["2025", IDS[2] ?? "", "20260126-185500", "api"].map(find)).toEqual([
      IDS[0],
      IDS[2],
      IDS[1],
      IDS[1],
    ]);
    expect(() => find("20260126")).toThrow("several runs begin with 20260126");
    expect(() => find("../workers/api")).toThrow("no run is called ../workers/api");
  });

  it("have no state before they have a journal, and cannot be read without their spec", () => {
    const run = createRunFolder(temporaryFolder(), "a");
    expect(run.state()).toBeUndefined();
    writeFileSync(run.journal, "");
    expect(run.read()).toMatchObject({ unreadable: 0, state: { run: "a", startedAt: "", iterations: 0 } });
    expect(() => run.shown()).toThrow(`the record of run a cannot be read: ${run.specFile}`);
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
