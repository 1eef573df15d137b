import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workerNamed, workerOrRun } from "../../src/commands/find.js";
import { runsIn } from "../../src/records/runs.js";
import { createProject, temporaryFolder } from "../kit.js";

/** A home with a folder beside those of runs and workers that looks like both. */
function homeWithOther(): string {
  const home = temporaryFolder();
  for (const folder of ["runs", "workers", "other"]) mkdirSync(join(home, folder));
  for (const file of ["spec.json", "state.json", "worker.json", "journal.ndjson"]) {
    writeFileSync(join(home, "other", file), "{}\n");
  }
  return home;
}

describe.each(["../other", "..", ".", "", "x/../../other", "../other/", "%2e%2e/other", "..\\other", "\0"])(
  "the name %j",
  (name) => {
    it.each([
      ["a run", (home: string, given: string) => runsIn(home).find(given)],
      ["a worker", (home: string, given: string) => workerNamed(given, home)],
      ["a worker or a run", (home: string, given: string) => workerOrRun(given, home)],
    ])("is not that of %s", (_, find) => {
      expect(() => find(homeWithOther(), name)).toThrow(/^no (?:run|worker)/);
    });
  },
);

it("a command that deletes leaves alone what a name leads to", async () => {
  const p = createProject({ git: false });
  const home = join(p.home, ".ralph");
  p.sh(`mkdir -p ${home}/workers ${home}/other && echo '{}' > ${home}/other/state.json`);
  const { code } = await p.ralph("clean", "../other");
  expect({ code, left: p.sh(`ls ${home}/other`) }).toEqual({ code: 2, left: "state.json\n" });
});
