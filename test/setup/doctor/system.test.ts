import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { versionIn } from "../../../src/setup/doctor/context.js";
import { examineSystem, nodeFinding, roomFinding } from "../../../src/setup/doctor/examine.js";
import { createProject } from "../../kit.js";
import { mount } from "../../mount.js";
import { machine, prints } from "./machine.js";

const isRoot = process.getuid?.() === 0;

describe("node", () => {
  it.each([
    ["20.19.0", "ok"],
    ["20.18.3", "problem"],
  ])("%s is %s", (version, status) => {
    const node = { version, path: "/n", needed: ">=20.19" };
    expect(nodeFinding(machine(createProject(), { node })).status).toBe(status);
  });
});

describe("the first version that is printed", () => {
  it.each([
    ["2.1.325 (Claude Code)", "2.1.325"],
    ["0.0.1774569934-g39e3ec (released 2026-03-27T00:09:23.250Z, 7mo ago)", "0.0.1774569934-g39e3ec"],
    ["a new release is out!\n\u001b[1m1.2.3-beta.4+5\u001b[0m\n9.9", "1.2.3-beta.4+5"],
    ["version 7", undefined],
  ])("%j: %s", (text, version) => {
    expect(versionIn(text)).toBe(version);
  });
});

describe("free disk", () => {
  it.each([
    [12_345_000_000, "ok", "12.3 GB free"],
    [999_999_999, "warning", "999 MB free"],
    [99_999_999, "problem", "99 MB free"],
  ])("%d bytes are %s", (freeBytes, status, said) => {
    const fix = status === "ok" ? {} : { fix: "free space on it" };
    const base = { name: "records", status, message: `/r, ${said}`, path: "/r", freeBytes };
    expect(roomFinding("records", "/r", { freeBytes })).toEqual({ ...base, ...fix });
  });
});

describe("the system", () => {
  const named = async (name: string, context: ReturnType<typeof machine>) =>
    (await examineSystem(context)).find((finding) => finding.name === name);

  it("without tmux is a warning with the command that installs it", async () => {
    const p = createProject();
    const told = {
      name: "tmux",
      status: "warning",
      message: "not installed: workers need it (ralph spawn)",
      installed: false,
    };
    expect(await named("tmux", machine(p))).toEqual({ ...told, fix: "install tmux" });
    const mac = machine(p, { platform: "darwin" });
    expect(await named("tmux", mac)).toEqual({ ...told, fix: "brew install tmux" });
    prints(p, "apt-get", "");
    expect(await named("tmux", machine(p))).toEqual({ ...told, fix: "sudo apt-get install tmux" });
    expect(await named("tmux", machine(p, { uid: 0 }))).toEqual({ ...told, fix: "apt-get install tmux" });
  });
});

describe.runIf(isRoot)("disks of their own", () => {
  const stateOf = async (context: ReturnType<typeof machine>) =>
    (await examineSystem(context))
      .map(({ name, status, message }) => ({ name, status, message }))
      .slice(2, 4);

  it("small ones are told, each by what is free on it", async () => {
    const p = createProject();
    const records = mount(join(p.root, "records"), "size=50m");
    const workspace = mount(join(p.root, "work"), "size=500m");
    expect(await stateOf(machine(p, { records, workspace }))).toEqual([
      { name: "records", status: "problem", message: `${records}, 52 MB free` },
      { name: "project", status: "warning", message: `${workspace}, 524 MB free` },
    ]);
  });

  it("read-only ones are problems", async () => {
    const p = createProject();
    const records = mount(join(p.root, "records"), "size=1m,ro");
    const workspace = mount(join(p.root, "work"), "size=1m,ro");
    expect(await stateOf(machine(p, { records, workspace }))).toEqual([
      {
        name: "records",
        status: "problem",
        message: `cannot keep records in ${records}: read-only file system`,
      },
      { name: "project", status: "problem", message: `the project folder is read-only: ${workspace}` },
    ]);
  });
});
