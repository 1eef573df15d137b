import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Limits, LoopEvent, RunFinished } from "../src/events.js";
import { DEFAULT_LIMITS } from "../src/settings/limits.js";
import { type Step, scriptedAgent } from "./agents/scripted.js";
import { runWarm } from "./warm-ralph.js";

export type { Step };

/** Limits that nothing reaches by chance. */
export const LIMITS: Limits = { ...DEFAULT_LIMITS, inactivityTimeoutMs: 0 };

const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "bin", "ralph.js");

interface Elsewhere {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

export interface Result {
  code: number | null;
  stdout: string;
  /** Without the line that says that there is no sandbox. */
  stderr: string;
  /** Everything. */
  all: string;
  /** The events of `--json`. */
  events: LoopEvent[];
  finished: LoopEvent & RunFinished;
}

const cleanups: (() => unknown)[] = [];

/** After each test, by `clean-up.ts`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0)) await cleanup();
}

/** Before the folders of the test are removed. */
export function atEnd(action: () => unknown): void {
  cleanups.unshift(action);
}

export function temporaryFolder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ralph-test-")));
  cleanups.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/** A project in a folder of its own, with its own home and its own programs first on PATH. */
export function createProject(options: { git?: boolean } = {}) {
  const root = temporaryFolder();
  const [dir, home, bin] = ["project", "home", "bin"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [dir, home, bin]) mkdirSync(folder);
  const env: NodeJS.ProcessEnv = {
    HOME: home,
    RALPH_HOME: join(home, ".ralph"),
    PATH: `${bin}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    TMPDIR: root,
    LANG: "C.UTF-8",
    IS_SANDBOX: "1",
    NO_COLOR: "1",
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@example.invalid",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@example.invalid",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const sh = (command: string): string =>
    execFileSync("bash", ["-c", command], { cwd: dir, env, encoding: "utf8" });
  const write = (path: string, content: string): string => {
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  if (options.git ?? true) cpSync(firstCommit(env), dir, { recursive: true });

  /** `through`: the program that starts it, with its arguments. */
  const start = (args: string[], more: Elsewhere & { through?: string[] } = {}): Started => {
    const [file = "", ...words] = [...(more.through ?? []), process.execPath, BIN, ...args];
    const child = spawn(file, words, {
      cwd: more.cwd ?? dir,
      env: { ...env, ...more.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    atEnd(() => child.kill("SIGKILL"));
    return follow(child);
  };

  const ended = async (more: Elsewhere, ...args: string[]): Promise<Result> => {
    const call = { args, env: { ...env, ...more.env }, cwd: more.cwd ?? dir };
    const warm = await runWarm(call);
    return warm === undefined
      ? start(args, more).result
      : describeResult(warm.code, warm.stdout, warm.stderr);
  };

  return {
    ...{ root, dir, home, bin, env, sh, write, start },
    read: (path: string): string => readFileSync(join(dir, path), "utf8"),
    exists: (path: string): boolean => existsSync(join(dir, path)),
    settings: (settings: unknown): string => write(".ralph/settings.json", JSON.stringify(settings)),
    /** In a warm process where that will do; `start` makes one of its own. */
    ralph: (...args: string[]): Promise<Result> => ended({}, ...args),
    /** The same with other variables, or in another folder. */
    ralphWith: ended,
    /** Puts a program on PATH. */
    program(name: string, content: string): string {
      const file = join(bin, name);
      writeFileSync(file, content);
      chmodSync(file, 0o755);
      return file;
    },
    /** Puts the scripted agent on PATH. */
    agent(steps: Step[], more: { name?: string; commit?: string; help?: string } = {}): void {
      const name = more.name ?? "claude";
      const file = join(bin, name);
      writeFileSync(file, scriptedAgent(steps, more.commit));
      chmodSync(file, 0o755);
      rmSync(`${file}.calls`, { force: true });
      if (more.help !== undefined) writeFileSync(`${file}.help`, more.help);
    },
    calls: (name = "claude"): number => {
      const file = join(bin, `${name}.calls`);
      return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
    },
    prompt: (call: number, name = "claude"): string =>
      readFileSync(join(bin, `${name}.prompt.${call}`), "utf8"),
    args: (call: number, name = "claude"): string[] =>
      readFileSync(join(bin, `${name}.args.${call}`), "utf8")
        .split("\0")
        .slice(0, -1),
    /** Folder of the only or latest run. */
    runFolder(): string {
      const runs = join(home, ".ralph", "runs");
      return join(runs, readdirSync(runs).sort().at(-1) as string);
    },
  };
}

/** A project whose agent is the scripted one, with more settings. */
export function projectWith(settings: object, ...steps: Step[]): Project {
  const p = createProject();
  p.settings({ agent: { command: "claude" }, ...settings });
  p.agent(steps);
  return p;
}

export const claudeProject = (...steps: Step[]): Project => projectWith({}, ...steps);

let repository: string | undefined;

/** A repository with one commit. It is made once: hundreds of tests begin with a copy of it. */
function firstCommit(env: NodeJS.ProcessEnv): string {
  if (repository !== undefined) return repository;
  const made = mkdtempSync(join(tmpdir(), "ralph-test-repository-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  const script = "git init -q -b main . && echo hi > README.md && git add . && git commit -qm init";
  execFileSync("bash", ["-c", script], { cwd: made, env });
  repository = made;
  return made;
}

export type Project = ReturnType<typeof createProject>;

export interface Started {
  child: ChildProcess;
  result: Promise<Result>;
  /** Resolves when its output so far satisfies the condition. */
  until(condition: (output: string) => boolean): Promise<void>;
}

function follow(child: ChildProcess): Started {
  let stdout = "";
  let stderr = "";
  let wake = (): void => {};
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    wake();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    wake();
  });
  const result = new Promise<Result>((resolve) => {
    child.once("close", (code) => resolve(describeResult(code, stdout, stderr)));
  });
  return {
    child,
    result,
    async until(condition) {
      while (!condition(stdout + stderr)) {
        await Promise.race([new Promise<void>((resolve) => (wake = resolve)), failWhenEnded(result)]);
      }
    },
  };
}

async function failWhenEnded(result: Promise<Result>): Promise<void> {
  const { all } = await result;
  throw new Error(`it ended first: ${all}`);
}

/** The first line of every run that nobody shuts in. */
export const NO_SANDBOX = "ralph: sandbox: none (the agent can do everything that you can)\n";

function describeResult(code: number | null, stdout: string, allStderr: string): Result {
  const stderr = allStderr.replace(NO_SANDBOX, "");
  const lines = stdout.split("\n").filter((line) => line.startsWith('{"v":'));
  const events = lines.map((line) => JSON.parse(line) as LoopEvent);
  const finished = events.findLast((event) => event.type === "run.finished") as LoopEvent & RunFinished;
  return { code, stdout, stderr, all: stdout + allStderr, events, finished };
}

/** Waits for something that another process does. What takes long is looked at less often: looking costs, too. */
export async function eventually(condition: () => boolean, timeoutMs = 90_000): Promise<void> {
  const begin = Date.now();
  while (!condition()) {
    const waited = Date.now() - begin;
    if (waited > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 + waited / 20, 200)));
  }
}

/** A zombie is dead. Tests ask again and again, so that a process for each question would be too much. */
export function isAlive(pid: number): boolean {
  if (!existsSync("/proc/self/stat"))
    return /^[^ZX]/.test(spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout);
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
