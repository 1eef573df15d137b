import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseLine } from "../../src/records/read.js";
import { mount } from "../mount.js";
import { processesOf } from "./ending.js";
import { projectFor, SCRIPTS } from "./scripts.js";

const isRoot = process.getuid?.() === 0;

/** More than the disk holds, said between two lines of the agent's own. */
const NOISE = `yes '{"type":"system","subtype":"noise"}' | head -c 400000; echo`;

const LOCAL = SCRIPTS.filter(({ worker, name }) => worker === undefined && !name.includes("limit"));

describe.runIf(isRoot)("a disk that does not take what is written", () => {
  test.each(LOCAL)(
    "$name: full under the records, it ends with a reason; with room again it ends as it should",
    async (script) => {
      const p = projectFor(script);
      const home = mount(join(p.root, "records"), "size=128k");
      const env = { RALPH_HOME: home };
      appendFileSync(join(p.home, "work.sh"), `\n${NOISE}\n`);
      const stopped = await p.start([...script.command, "--json"], { env }).result;
      expect({ code: stopped.code, reason: stopped.finished.reason }).toEqual({ code: 1, reason: "error" });
      expect(stopped.finished.message).toContain("no space left on the disk");
      execFileSync("mount", ["-o", "remount,size=64m", home]);
      const again = await p.start(["resume", "--json"], { env }).result;
      expect({ code: again.code, success: again.finished.success }).toEqual({ code: 0, success: true });
      const journal = readFileSync(join(home, "runs", again.finished.run, "journal.ndjson"), "utf8");
      expect(
        journal
          .trimEnd()
          .split("\n")
          .filter((line) => parseLine(line) === undefined),
      ).toEqual([]);
      expect(processesOf(p.root)).toEqual([]);
    },
  );

  test.each(LOCAL)("$name: a home that is read-only is told before anything starts", async (script) => {
    const p = projectFor(script);
    const home = mount(join(p.root, "records"), "size=64k,ro");
    const { code, stderr } = await p.start(script.command, { env: { RALPH_HOME: home } }).result;
    expect({
      code,
      lines: stderr.split("\n").filter((line) => line.startsWith("ralph: error:")).length,
    }).toEqual({ code: 2, lines: 1 });
    expect(stderr).toMatch(/read-only/);
  });

  test.each(LOCAL)(
    "$name: a folder .ralph that is read-only loses logs, and changes nothing else",
    async (script) => {
      const p = projectFor(script);
      const folder = join(p.dir, ".ralph");
      cpSync(folder, join(p.root, "kept"), { recursive: true });
      mount(folder, "size=64k");
      cpSync(join(p.root, "kept"), folder, { recursive: true });
      execFileSync("mount", ["-o", "remount,ro", folder]);
      const { code, finished } = await p.ralph(...script.command, "--json");
      expect({ code, success: finished.success }).toEqual({ code: 0, success: true });
      expect(processesOf(p.root)).toEqual([]);
    },
  );
});
