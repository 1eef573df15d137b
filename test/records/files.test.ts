import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolders, openFresh, removeBegun, writeAtomic, writeFully } from "../../src/records/files.js";
import { temporaryFolder } from "../kit.js";

const FILES = join(import.meta.dirname, "../../dist/records/files.js");

describe("makeFolders", () => {
  it("makes what is missing, and takes what is there", () => {
    const folder = join(temporaryFolder(), "a", "b");
    makeFolders(folder);
    makeFolders(folder);
    makeFolders("/");
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it("gives up where the system makes none", () => {
    const code = `import(${JSON.stringify(FILES)}).then(({ makeFolders }) => makeFolders("/proc/nope/a"))`;
    const { status, stderr } = spawnSync(process.execPath, ["-e", code], {
      encoding: "utf8",
      timeout: 10_000,
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("ENOENT") as string });
  });
});

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
  it("replaces a symbolic link without touching its target", () => {
    const folder = temporaryFolder();
    const [target, path] = [join(folder, "target"), join(folder, "check.log")];
    writeFileSync(target, "precious");
    symlinkSync(target, path);
    const file = openFresh(path);
    writeFully(file, Buffer.from("log"));
    closeSync(file);
    expect(lstatSync(path).isFile()).toBe(true);
    expect([readFileSync(target, "utf8"), readFileSync(path, "utf8")]).toEqual(["precious", "log"]);
  });

  it("makes nothing behind a dangling link", () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "missing"), join(folder, "check.log"));
    closeSync(openFresh(join(folder, "check.log")));
    expect(existsSync(join(folder, "missing"))).toBe(false);
  });

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
