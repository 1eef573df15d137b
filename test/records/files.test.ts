import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openFresh, removeBegun, writeAtomic } from "../../src/records/files.js";
import { temporaryFolder } from "../kit.js";

const FILES = join(import.meta.dirname, "../../dist/records/files.js");

describe("writeAtomic", () => {
  it("writes the content and leaves nothing else behind", () => {
    const folder = temporaryFolder();
    writeAtomic(join(folder, "spec.json"), "öne");
    writeAtomic(join(folder, "spec.json"), "two");
    expect(readdirSync(folder)).toEqual(["spec.json"]);
    expect(readFileSync(join(folder, "spec.json"), "utf8")).toBe("two");
    expect(statSync(join(folder, "spec.json")).mode & 0o777).toBe(0o600);
    // The records of a run that somebody deleted are not made again by halves.
    expect(() => writeAtomic(join(folder, "gone", "spec.json"), "x")).toThrow("ENOENT");
  });

  it("shows a reader the old content or the new one while it is written again and again", async () => {
    const path = join(temporaryFolder(), "state.json");
    const size = 300_000;
    writeAtomic(path, "0".repeat(size));
    const code = `
      const { writeAtomic } = await import(${JSON.stringify(FILES)});
      process.stdin.resume().on("end", () => process.exit());
      console.log("ready");
      const step = (n) => { writeAtomic(${JSON.stringify(path)}, String(n % 10).repeat(${size})); setImmediate(step, n + 1); };
      step(1);`;
    const writer = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      await new Promise((resolve) => writer.stdout.once("data", resolve));
      const torn: string[] = [];
      const seen = new Set<string>();
      for (let reads = 0; (reads < 300 || seen.size < 5) && reads < 20_000; reads += 1) {
        const content = readFileSync(path, "latin1");
        const first = content[0] ?? "";
        seen.add(first);
        if (content !== first.repeat(size)) torn.push(`${content.length} ${first}`);
      }
      expect(torn).toEqual([]);
      expect(seen.size).toBeGreaterThanOrEqual(5);
    } finally {
      writer.kill("SIGKILL");
    }
  });

  it("leaves the old content and no rest when it cannot write", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "taken", "inside"), { recursive: true });
    expect(() => writeAtomic(join(folder, "taken"), "new")).toThrow();
    expect(readdirSync(folder)).toEqual(["taken"]);
    expect(readdirSync(join(folder, "taken"))).toEqual(["inside"]);
  });
});

describe("openFresh", () => {
  it("replaces a hard link without touching its other name", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "target"), "precious");
    linkSync(join(folder, "target"), join(folder, "check.log"));
    closeSync(openFresh(join(folder, "check.log")));
    expect(readFileSync(join(folder, "target"), "utf8")).toBe("precious");
  });

  it("does not remove a folder", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "check.log", "inside"), { recursive: true });
    expect(() => openFresh(join(folder, "check.log"))).toThrow();
    expect(existsSync(join(folder, "check.log", "inside"))).toBe(true);
  });
});

describe("what a kill has cut off", () => {
  it("is removed when a run goes on, and nothing else", () => {
    const folder = temporaryFolder();
    for (const name of ["spec.json", "spec.json.123.tmp", "state.tmp", "1.tmp.json"])
      writeFileSync(join(folder, name), "");
    removeBegun(folder);
    expect(readdirSync(folder).sort()).toEqual(["1.tmp.json", "spec.json", "state.tmp"]);
  });
});
