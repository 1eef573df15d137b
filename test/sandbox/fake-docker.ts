import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sandboxName } from "../../src/sandbox/docker.js";
import { createProject, type Project } from "../kit.js";

/** What the program plays: texts of `run` in order, and words that make a command fail. */
export interface Play {
  answers?: string[];
  /** By the command: what it says before it fails. */
  fails?: Record<string, string>;
  /** What the agent does outside, before it answers. */
  bash?: string;
}

const PROGRAM = `#!/usr/bin/env node
const fs = require("node:fs");
const { execSync } = require("node:child_process");
const self = process.argv[1];
const play = JSON.parse(fs.readFileSync(self + ".play", "utf8"));
const words = process.argv.slice(2);
const args = words[0] === "sandbox" ? words.slice(1) : words;
const stdin = args.includes("-i") ? fs.readFileSync(0, "utf8") : undefined;
fs.appendFileSync(self + ".calls", JSON.stringify(stdin === undefined ? words : [...words, { stdin }]) + "\\n");
const file = self + ".made";
const made = fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
const failure = Object.entries(play.fails ?? {}).find(([start]) => args.join(" ").startsWith(start));
if (failure) { console.error(failure[1]); process.exit(1); }
if (args[0] === "ls") console.log("SANDBOX  AGENT  STATUS  WORKSPACE\\n" + made);
if (args[0] === "create") fs.appendFileSync(file, args[2] + "  claude  running  " + args[4] + "\\n");
if (args[0] === "rm") fs.rmSync(file, { force: true });
if (args[0] === "run" || args.at(-1) === "-") {
  const counter = self + ".runs";
  const count = fs.existsSync(counter) ? Number(fs.readFileSync(counter, "utf8")) : 0;
  fs.writeFileSync(counter, String(count + 1));
  if (play.bash) execSync(play.bash, { stdio: "ignore" });
  const text = (play.answers ?? ["<response>DONE</response>"])[count] ?? "<response>DONE</response>";
  const isError = text.includes("/login");
  if (text !== "") console.log(JSON.stringify({ type: "result", subtype: "success", is_error: isError, result: text }));
  if (isError) process.exit(1);
}
`;

/** A project on a machine that has docker or sbx, and no agent. */
export function dockerProject(program: "docker" | "sbx", play: Play = {}) {
  const p = createProject();
  p.env["PATH"] = p.bin;
  for (const name of ["git", "env", "bash", "sh"]) {
    const path = ["/usr/bin", "/bin", "/usr/local/bin"].map((folder) => join(folder, name)).find(existsSync);
    p.program(name, `#!/bin/sh\nexec ${path} "$@"\n`);
  }
  p.program("node", `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
  p.env["PATH"] = `${p.bin}:${dirname(p.bin)}`;
  const file = p.program(program, PROGRAM.replace("#!/usr/bin/env node", `#!${process.execPath}`));
  p.write("../bin/".concat(program, ".play"), JSON.stringify(play));
  p.settings({ sandbox: { kind: "docker", settle: 0 }, agent: { command: "claude" } });
  p.sh("git add -A && git commit -qm settings");
  return { ...p, name: nameFor(p, program), calls: () => callsIn(p, file) };
}

function nameFor({ dir }: Project, program: "docker" | "sbx"): string {
  return sandboxName(program, dir, ["h"]);
}

/** What the program was called with, shortened to what can be compared. */
function callsIn(p: Project, file: string): string[] {
  const lines = existsSync(`${file}.calls`) ? readFileSync(`${file}.calls`, "utf8").trim().split("\n") : [];
  return lines.map((line) =>
    (JSON.parse(line) as (string | { stdin: string })[])
      .map((word) => (typeof word === "string" ? word : `<${word.stdin}>`))
      .join(" ")
      .replaceAll(nameFor(p, "docker"), "NAME")
      .replaceAll(nameFor(p, "sbx"), "NAME")
      .replaceAll(p.dir, "DIR")
      .replaceAll(p.home, "HOME"),
  );
}
