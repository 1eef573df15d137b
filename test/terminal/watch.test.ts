import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { LoopRow } from "../../src/workers/worker.js";
import { createProject, eventually, type Project } from "../kit.js";
import { row as glance } from "../views/rows.js";
import { openTerminal, type Terminal } from "./tmux.js";

const DIST = join(import.meta.dirname, "../../dist");

/** The screen over a file of rows; what it is asked to do is written down, and attaching reads a line. */
const SCREEN = `#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { appendFileSync, closeSync, fstatSync, readFileSync, writeFileSync } from "node:fs";
const { watch } = await import("${DIST}/commands/watch.js");
writeFileSync("pid", String(process.pid));
const effects = {
  rows() {
    appendFileSync("looks", ".");
    return JSON.parse(readFileSync("rows.json", "utf8"));
  },
  async page(page, name) {
    return page + " of " + name + "\\n+new line\\n";
  },
  async *follow(run, from, signal) {
    const event = { v: 1, ts: "2026-01-01T10:00:00.000Z", run, type: "agent.event", iteration: 1 };
    const said = { type: "text", text: run === "r2" ? "docs says hello" : "auth says hello" };
    if (from === undefined) yield { event: { ...event, event: said }, offset: 1 };
  },
  async act(action, name, text = "") {
    appendFileSync("acts", action + " " + name + text + "\\n");
    if (action === "pause") throw new Error(name + " cannot be paused");
    if (action === "kill") await new Promise((resolve) => setTimeout(resolve, 300));
    if (action === "attach") spawnSync("sh", ["-c", "echo attached; read line"], { stdio: "inherit" });
    return action + " of " + name + " is done";
  },
};
const code = await watch({ emoji: false }, effects).catch((error) => (console.error(error.message), 1));
// As ralph does before it ends: Node 20 aborts where the terminal is gone.
for (const file of [0, 1, 2]) try { if (fstatSync(file).isCharacterDevice()) closeSync(file); } catch {}
process.exit(code);
`;

async function start(p: Project, rows: LoopRow[], columns = 80): Promise<Terminal> {
  p.program("screen.mjs", SCREEN);
  show(p, rows);
  const terminal = await openTerminal(p, columns, 24, { NO_COLOR: "1" });
  terminal.type("clear; screen.mjs; echo code $?; stty -a | grep -o '.icanon'\n");
  await terminal.shows("ralph watch");
  return terminal;
}

function show(p: Project, rows: LoopRow[]): void {
  writeFileSync(join(p.dir, "rows.json"), JSON.stringify(rows));
}

const ROWS = [
  glance({ name: "auth", lastLine: "日本語" }),
  glance({ name: "docs", status: "stopped", reason: "completed", run: "r2" }),
];
const RESTORED = "cursor 1, alternate screen 0, wrapping 1";

describe("ralph watch", () => {
  it("shows what is on disk as it changes, in the size that the terminal has", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, []);
    await terminal.shows("No loop runs, and none ended today. Start one: ralph spawn");
    show(p, ROWS);
    await terminal.shows("> auth  running   3/10    6m7s  $1.20  日本語\n  docs  done ");
    terminal.resize(40, 8);
    await terminal.shows(
      /^ralph watch, 1 running, 1 done\n.*COST\n> auth.*1\.20\n {2}docs.*\n\n\n\na answer/,
    );
    p.write("rows.json", "{");
    await terminal.shows(/^cannot look: Expected.*\n.*COST\n> auth/);
    show(p, [glance({ name: "new" })]);
    await terminal.shows(/^ralph watch, 1 running\n.*\n> new/);
  });

  it("does what keys ask for, and lends the terminal to what is attached", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, ROWS);
    await terminal.shows("> auth");
    terminal.type("p");
    await terminal.shows("auth cannot be paused");
    terminal.type("jr");
    await terminal.shows("resume of docs is done");
    terminal.type("KnK");
    await terminal.shows("Kill docs? (y/N)");
    terminal.type("y");
    await terminal.shows("kill of docs is done");
    terminal.press("Enter");
    await terminal.shows("attached");
    expect(terminal.modes()).toBe(RESTORED);
    terminal.press("C-c");
    await terminal.shows("attach of docs is done");
    terminal.type("q");
    await terminal.shows(/code 0\n icanon/);
    expect(p.read("acts").split("\n")).toEqual(["pause auth", "resume docs", "kill docs", "attach docs", ""]);
  });

  it("shows what the selected one says, takes words for it, and opens its pages", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, [glance({ question: "which one?" }), ...ROWS.slice(1)], 140);
    await terminal.shows(/\| asks: which one\? \(a answers\)\n.*\| auth says hello/);
    terminal.type("j");
    await terminal.shows(/> docs[\s\S]*\| docs says hello/);
    terminal.type("d");
    await terminal.shows(/^ralph watch, diff of docs\ndiff of docs\n\+new line/);
    terminal.press("Escape");
    await terminal.shows("> docs");
    terminal.type("l");
    await terminal.shows(/^ralph watch, log of docs\ndocs says hello/);
    terminal.press("Escape");
    await terminal.shows("> docs");
    terminal.type("ka");
    await terminal.shows("Answer auth: _");
    terminal.type("The q one");
    await terminal.shows("Answer auth: The q one_");
    terminal.press("Enter");
    await terminal.shows("answer of auth is done");
    terminal.type("?q");
    await terminal.shows(/code 0\n icanon/);
    expect(p.read("acts")).toBe("answer authThe q one\n");
  });

  it("sends nothing to the terminal while nothing changes, and one line where one has changed", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, ROWS);
    await terminal.shows(/> auth[\s\S]*\nprompt, \/work\nauth says hello\n/);
    const sent = join(p.root, "sent");
    terminal.record(sent);
    const looks = statSync(join(p.dir, "looks")).size;
    await eventually(() => statSync(join(p.dir, "looks")).size > looks + 1);
    show(p, [
      ...ROWS.slice(0, 1),
      glance({ name: "docs", status: "stopped", reason: "completed", lastLine: "changed" }),
    ]);
    await terminal.shows("changed");
    await eventually(() => existsSync(sent) && readFileSync(sent, "utf8").endsWith("l"));
    expect(readFileSync(sent, "utf8")).toBe(
      "\u001b[?2026h\u001b[4;1H  docs  done      3/10    6m7s  $1.20  changed\u001b[0m\u001b[K\u001b[?2026l",
    );
  });

  it("leaves the terminal as it was, however it ends", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, ROWS);
    const signal = (name: NodeJS.Signals) => process.kill(Number(p.read("pid")), name);
    const ways: [() => void, string][] = [
      [() => terminal.press("C-c"), "code 130"],
      [() => signal("SIGTERM"), "code 130"],
      [() => signal("SIGHUP"), "code 130"],
      [() => p.write("rows.json", '[{"status":"running","lastLine":"","tags":[]}]'), "code 1"],
    ];
    for (const [end, code] of ways) {
      await terminal.shows("> auth");
      end();
      await terminal.shows(new RegExp(`${code}\n icanon`));
      expect(terminal.modes()).toBe(RESTORED);
      show(p, ROWS);
      terminal.type("clear; screen.mjs; echo code $?; stty -a | grep -o '.icanon'\n");
    }
  });

  it("can be stopped with Ctrl+Z, and goes on where it was", async () => {
    const p = createProject({ git: false });
    const terminal = await start(p, ROWS);
    await terminal.shows("> auth");
    terminal.press("C-z");
    await terminal.shows("Stopped");
    expect(terminal.modes()).toBe(RESTORED);
    terminal.type("fg\n");
    await terminal.shows("> auth");
    expect(terminal.modes()).toBe("cursor 0, alternate screen 1, wrapping 0");
    terminal.type("j");
    await terminal.shows("> docs");
  });

  it("starts as people start it, and q leaves it", async () => {
    const terminal = await openTerminal(createProject({ git: false }));
    terminal.type("ralph watch; echo code $?\n");
    await terminal.shows("No loop runs, and none ended today");
    terminal.type("q");
    await terminal.shows("code 0");
  });

  it("ends with its terminal", async () => {
    const p = createProject({ git: false });
    p.program("screen.mjs", SCREEN);
    show(p, ROWS);
    const terminal = await openTerminal(p);
    terminal.type("trap '' HUP; screen.mjs; echo $? > code; exit\n");
    await terminal.shows("> auth");
    terminal.close();
    await eventually(() => p.exists("code") && p.read("code") !== "");
    expect(p.read("code")).toBe("130\n");
  });
});
