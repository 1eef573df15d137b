import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerState } from "../../src/workers/state-file.js";
import { atEnd, createProject, eventually, isAlive, type Project, type Result } from "../kit.js";

function loopsIn(locks: string): number[] {
  if (!existsSync(locks)) return [];
  const files = readdirSync(locks).filter((name) => name.endsWith(".json"));
  return files.map((name) => (JSON.parse(readFileSync(join(locks, name), "utf8")) as { pid: number }).pid);
}

/** The server of tmux that the workers of a project live in; it is ended with the test. */
export function serverOf({ env }: Pick<Project, "env">): string {
  const home = env["RALPH_HOME"] as string;
  const socket = `ralph-${createHash("sha256").update(home).digest("hex").slice(0, 10)}`;
  const locks = join(home, "locks");
  atEnd(async () => {
    const alive = loopsIn(locks).filter(isAlive);
    // It may have gone with its last window.
    spawnSync("tmux", ["-L", socket, "kill-server"]);
    await eventually(() => !alive.some(isAlive));
  });
  return socket;
}

/** A project with workers of its own: a home and a server of tmux that nobody else has. */
export function createWorkers(options: { git?: boolean } = {}) {
  const p = createProject(options);
  const home = p.env["RALPH_HOME"] as string;
  const socket = serverOf(p);
  const locks = join(home, "locks");
  p.write("PROMPT.md", "do the thing");
  const file = (name: string, of: string): string => join(home, "workers", of, name);
  const state = (name = "w"): WorkerState => JSON.parse(readFileSync(file("state.json", name), "utf8"));
  const spawn = (command: string[], ...flags: string[]): Promise<Result> =>
    p.ralph("spawn", ..."--name w --prompt-file PROMPT.md".split(" "), ...limited(flags), "--", ...command);
  const limited = (flags: string[]): string[] =>
    flags.some((flag) => ["-n", "--max-iterations"].includes(flag)) ? flags : ["-n", "3", ...flags];
  /** Its closing summary has been printed. */
  const hasClosed = (name: string): boolean => {
    const output = file("output.log", name);
    return existsSync(output) && /^ {2}log /m.test(readFileSync(output, "utf8"));
  };
  return {
    ...p,
    ralphHome: home,
    socket,
    file,
    state,
    spawn,
    /** What a command prints to stdout, or to stderr, behind its exit code. */
    out: async (...args: string[]) => p.ralph(...args).then(({ code, stdout }) => [code, stdout]),
    err: async (...args: string[]) => p.ralph(...args).then(({ code, stderr }) => [code, stderr]),
    sh: (script: string, ...flags: string[]): Promise<Result> => spawn(["bash", "-c", script], ...flags),
    tmux: (...args: string[]): string => {
      try {
        return execFileSync("tmux", ["-L", socket, ...args], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
      } catch {
        return "";
      }
    },
    log: (name = "w"): string =>
      existsSync(file("iterations.log", name)) ? readFileSync(file("iterations.log", name), "utf8") : "",
    output: (name = "w"): string =>
      existsSync(file("output.log", name)) ? readFileSync(file("output.log", name), "utf8") : "",
    exists: (name = "w"): boolean => existsSync(join(home, "workers", name)),
    /** Process of the loop. */
    loops: (): number[] => loopsIn(locks),
    ended: (name = "w", status = "stopped"): Promise<void> =>
      eventually(
        () => existsSync(file("state.json", name)) && state(name).status === status && hasClosed(name),
        30_000,
      ),
  };
}

export type Workers = ReturnType<typeof createWorkers>;
