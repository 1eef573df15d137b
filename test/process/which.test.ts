import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { which } from "../../src/process/which.js";
import { temporaryFolder } from "../kit.js";

function program(path: string, mode = 0o755): string {
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, mode);
  return path;
}

function folders(): [first: string, second: string] {
  const root = temporaryFolder();
  const [first, second] = [join(root, "first"), join(root, "second")];
  mkdirSync(first);
  mkdirSync(second);
  return [first, second];
}

describe("which", () => {
  it("takes the first program of that name on PATH", () => {
    const [first, second] = folders();
    program(join(second, "agent"));
    expect(which("agent", "/", `${first}:${second}`)).toEqual({
      status: "found",
      path: join(second, "agent"),
    });
    program(join(first, "agent"));
    expect(which("agent", "/", `${first}:${second}`)).toEqual({
      status: "found",
      path: join(first, "agent"),
    });
  });

  it("passes over what cannot be executed while there is something that can", () => {
    const [first, second] = folders();
    program(join(first, "agent"), 0o644);
    const path = `${first}:${second}`;
    expect(which("agent", "/", path)).toEqual({ status: "not_executable", path: join(first, "agent") });
    program(join(second, "agent"));
    expect(which("agent", "/", path)).toEqual({ status: "found", path: join(second, "agent") });
  });

  it("does not find what is nowhere", () => {
    const [first] = folders();
    expect(which("agent", "/", first)).toEqual({ status: "not_found" });
    expect(which("agent", "/", "")).toEqual({ status: "not_found" });
    expect(which("agent", "/", `${first}/missing:${first}`)).toEqual({ status: "not_found" });
  });

  it("does not look into the current folder for a plain name", () => {
    const [first, second] = folders();
    program(join(first, "agent"));
    expect(which("agent", first, second)).toEqual({ status: "not_found" });
    expect(which("agent", first, `:${second}:`)).toEqual({ status: "not_found" });
  });

  it("takes anything with a slash as a path", () => {
    const [first, second] = folders();
    const path = program(join(first, "agent"));
    expect(which(path, "/", second)).toEqual({ status: "found", path });
    expect(which("./agent", first, second)).toEqual({ status: "found", path });
    expect(which("../first/agent", second, "")).toEqual({ status: "found", path });
    expect(which("./agent", second, first)).toEqual({ status: "not_found" });
  });

  it("tells a folder and a plain file from a program", () => {
    const [first, second] = folders();
    const file = program(join(first, "file"), 0o644);
    expect(which(file, "/")).toEqual({ status: "not_executable", path: file });
    expect(which(second, "/")).toEqual({ status: "not_found" });
  });

  it("follows links to programs and finds nothing behind a dangling one", () => {
    const [first, second] = folders();
    symlinkSync(program(join(second, "real")), join(first, "agent"));
    symlinkSync(join(second, "missing"), join(first, "dangling"));
    expect(which("agent", "/", first)).toEqual({ status: "found", path: join(first, "agent") });
    expect(which("dangling", "/", first)).toEqual({ status: "not_found" });
  });
});
