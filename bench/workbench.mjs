// What the rows of the table are measured with: a project of its own, in memory where that is possible, so that
// the code is measured and not the disk of the day.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const RALPH = join(import.meta.dirname, "../bin/ralph.js");

export function createWorkbench() {
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ralph-bench-"));
  const project = join(root, "project");
  const bin = join(root, "bin");
  for (const folder of [project, bin]) mkdirSync(folder);
  // It makes every start of Node slower, ralph's and the others'.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = {
    ...inherited,
    PATH: `${bin}:${process.env.PATH}`,
    RALPH_HOME: join(root, "home"),
    IS_SANDBOX: "1",
    CI: "",
  };
  const author = ["-c", "user.name=b", "-c", "user.email=b@example.invalid"];
  spawnSync("git", ["init", "-q", "."], { cwd: project });
  spawnSync("git", [...author, "commit", "-q", "--allow-empty", "-m", "i"], { cwd: project });

  /** One run of a command to its end. */
  function call(file, args, { env: more, input = "" } = {}) {
    const options = { cwd: project, env: { ...env, ...more }, input, encoding: "utf8", maxBuffer: 64e6 };
    const ended = spawnSync(file, args, options);
    if (ended.status === 0 || ended.status === 1) return ended;
    throw new Error(`${file} ${args.join(" ")}: exit ${ended.status}: ${ended.stderr}`);
  }

  /** The same, in milliseconds. */
  function time(file, args, more) {
    const begun = performance.now();
    call(file, args, more);
    return performance.now() - begun;
  }

  return {
    root,
    project,
    env,
    call,
    time,
    ralph: (...args) => time(process.execPath, [RALPH, ...args]),
    bash: (script) => time("bash", ["-c", script]),
    node: () => time(process.execPath, ["-e", "0"]),
    /** Puts a program on PATH. */
    program(name, content) {
      writeFileSync(join(bin, name), content);
      chmodSync(join(bin, name), 0o755);
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Medians of two measurements that are taken in turns, so that both see the same machine. */
export function inTurns(times, ours, theirs) {
  const taken = { ours: [], theirs: [] };
  for (let round = 0; round < times; round += 1) {
    taken.theirs.push(theirs());
    taken.ours.push(ours());
  }
  return { ours: median(taken.ours), theirs: median(taken.theirs) };
}
