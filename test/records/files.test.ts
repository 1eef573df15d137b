import { closeSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openFresh, removeBegun, writeAtomic } from "../../src/records/files.js";
import { temporaryFolder } from "../kit.js";

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
