import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RalphError } from "../errors.js";
import { type Capture, type Command, capture } from "../process/run.js";
import { which, withOuterPath } from "../process/which.js";
import { stateOf } from "../workspace/content.js";
import { treeState } from "../workspace/fingerprint.js";
import { gitFolders, headCommit } from "../workspace/git.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "../workspace/runtime.js";
import {
  type Availability,
  type DockerProgram,
  type FindOptions,
  hostsFor,
  type Sandbox,
  type SandboxCall,
  type SandboxScope,
  type SandboxSpec,
  type SandboxType,
} from "./sandbox.js";

/** A virtual machine of Docker: `docker sandbox`, or its successor `sbx`. */
export const docker: SandboxType = {
  find,
  open,
  allows({ program = "docker" }, hosts) {
    const isTold = program === "docker" || hosts.length === 0;
    const reached = isTold ? `reaches ${hosts.join(", ") || "no host"}` : "reaches what sbx policy ls says";
    return `the agent works in a virtual machine of ${PROGRAMS[program].words.join(" ")} that contains this folder, and ${reached}`;
  },
};

/** Both have the same commands; the successor comes first. */
const PROGRAMS = {
  /** It accepts no underscores. `plain`: paths that map to distinct names. */
  sbx: { words: ["sbx"], signIn: "sbx login", plain: /^[A-Za-z0-9./]*$/ },
  docker: {
    words: ["docker", "sandbox"],
    signIn: "docker login, or sign in to Docker Desktop",
    plain: /^[A-Za-z0-9./-]*$/,
  },
} satisfies Record<DockerProgram, unknown>;

const INSTALL = "install sbx, or Docker Desktop 4.58 or later (https://docs.docker.com/ai/sandboxes/)";
const NO_SANDBOX = /is not a docker command|unknown command|unknown (shorthand )?flag/i;

/** A program that can list its sandboxes works. */
async function find({ env, workspace, timeoutMs, stop }: FindOptions): Promise<Availability> {
  const problems: string[] = [];
  for (const program of Object.keys(PROGRAMS) as DockerProgram[]) {
    if (which(program, workspace, env["PATH"]).status !== "found") continue;
    const limits = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(stop ? [stop] : [])]);
    const { words, signIn } = PROGRAMS[program];
    const result = await ask(program, { workspace, env, stop: limits }, ["ls"]);
    if (result.ok) return { status: "works", about: words.join(" "), program };
    const why = complaint(result);
    if (isSignedOut(why)) return { status: "broken", why: notSignedIn(program), fix: signIn };
    problems.push(NO_SANDBOX.test(why) ? "this docker has no sandboxes" : `${program}: ${why}`);
  }
  if (problems.length === 0)
    return { status: "missing", why: "neither sbx nor docker is installed", fix: INSTALL };
  return { status: "broken", why: problems.join("; "), fix: INSTALL };
}

/** Creating a sandbox may download an image. */
const TIMEOUT_MS = 15 * 60_000;

type Caller = Pick<SandboxScope, "workspace" | "env" | "stop">;

function ask(
  program: DockerProgram,
  { workspace: cwd, env, stop }: Caller,
  words: string[],
  stdin?: string,
): Promise<Capture> {
  const [file = "", ...args] = [...PROGRAMS[program].words, ...words];
  const command = { file, args, cwd, env: withOuterPath(env, cwd), ...(stdin !== undefined && { stdin }) };
  return capture(command, { timeoutMs: TIMEOUT_MS, stop });
}

/** The program's answer to these words. A failure fails the run. */
type Insist = (words: string[], stdin?: string) => Promise<string>;

function insistOn(program: DockerProgram, scope: Caller): Insist {
  return async (words, stdin) => {
    const result = await ask(program, scope, words, stdin);
    if (result.ok) return result.stdout;
    const why = complaint(result);
    const { signIn, words: first } = PROGRAMS[program];
    if (isSignedOut(why))
      throw new RalphError(notSignedIn(program), { code: "sandbox_not_logged_in", hint: signIn });
    throw new RalphError(`${first.join(" ")} ${words[0]} failed: ${why}`, {
      code: "sandbox_failed",
      hint: "--no-sandbox runs without it",
    });
  };
}

function notSignedIn(program: DockerProgram): string {
  return `${program} is not logged in to Docker`;
}

export function isSignedOut(text: string): boolean {
  return /not (signed|logged) in|no valid user session|sign in to docker|session (has )?expired|401 unauthorized|not authenticated/i.test(
    text,
  );
}

function complaint({ stderr, stdout, spawnError, exitCode, timedOut }: Capture): string {
  if (spawnError !== undefined) return spawnError.message;
  if (timedOut) return "it did not answer in time";
  const lines = `${stderr}\n${stdout}`.split("\n").map((line) => line.trim());
  return lines.find(isSignedOut) ?? lines.find((line) => line !== "") ?? `exit code ${exitCode}`;
}

async function open(spec: SandboxSpec, scope: SandboxScope): Promise<Sandbox> {
  const { program = "docker" } = spec;
  const { workspace, stop } = scope;
  const hosts = hostsFor(scope.agents, scope.env, spec.allowHosts);
  const name = sandboxName(program, workspace, hosts);
  const insist = insistOn(program, scope);
  await create(insist, name, scope);
  await insist(networkPolicy(program, name, hosts));
  let before: OuterFiles | undefined;
  let isStale = false;
  const catchUp = async (): Promise<void> => {
    const changed = before === undefined ? [] : changesSince(before, await snapshot(workspace));
    const files = changed === "all" ? [] : changed.map((path) => join(workspace, path));
    const stats = files.map((path) => statSync(path, { throwIfNoEntry: false }));
    const areSmall = stats.every((stat) => stat?.isFile() && stat.size <= MAX_BYTES);
    if (isStale || changed === "all" || !areSmall) {
      isStale = false;
      // The next command starts it again with the current files.
      await insist(["stop", name]);
      return;
    }
    for (const path of files)
      await insist(["exec", "-i", name, "sh", "-c", 'cat > "$1"', "sh", path], readFileSync(path, "utf8"));
  };
  return {
    reachesLoop: false,
    hasOwnPrograms: true,
    async wrap(call) {
      await catchUp();
      const command = asDocker(program, name, call);
      return { ...command, env: withOuterPath(command.env, workspace) };
    },
    async ended(exit) {
      // The program outside has exited; what it started inside may still run.
      if (exit.signal !== null)
        await ask(program, { ...scope, stop: new AbortController().signal }, ["stop", name]);
      await sleep(spec.settleMs, undefined, { signal: stop }).catch(() => {});
      before = await snapshot(workspace);
      return exit;
    },
    explain(error) {
      if (!/not logged in|please run \/login|invalid api key|authentication_error/i.test(error)) return error;
      const how = [...PROGRAMS[program].words, "run", name].join(" ");
      return `the agent is not logged in inside the sandbox: start ${how} once and log in there (${error})`;
    },
    wasPaused() {
      isStale = true;
    },
    close: async () => {},
  };
}

/**
 * The folder's path, as far as a name can express it. sbx never revokes a denial, so the sandbox without
 * network has its own name.
 */
export function sandboxName(program: DockerProgram, workspace: string, hosts: string[]): string {
  const text = `ralph-${workspace.replace(/[^A-Za-z0-9._-]/g, "_")}`;
  const name = program === "docker" ? text : text.replaceAll("_", "-").replace(/-+/g, "-");
  const digest = createHash("sha256").update(workspace).digest("hex").slice(0, 8);
  const unique = PROGRAMS[program].plain.test(workspace) ? name : `${name}-${digest}`;
  return program === "sbx" && hosts.length === 0 ? `${unique}-offline` : unique;
}

/** Allows these hosts and, if the program can, no others. */
export function networkPolicy(program: DockerProgram, name: string, hosts: string[]): string[] {
  if (program === "docker")
    return ["network", "proxy", name, "--policy", "deny", ...hosts.flatMap((host) => ["--allow-host", host])];
  const [rule, what] = hosts.length === 0 ? ["deny", "**"] : ["allow", hosts.join(",")];
  return ["policy", rule, "network", "--sandbox", name, what];
}

/** Run inside as root: links the agent's own files to its state outside. */
const LINK_STATE = `rm -rf /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true
ln -s "$1/.claude" /home/agent/.claude
ln -s "$1/.claude.json" /home/agent/.claude.json
chown -h agent:agent /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true`;

/** Commits inside need a name. */
const SET_IDENTITY = `git config --global user.email "ralph@localhost"
git config --global user.name "Ralph Loop"`;

async function create(
  insist: Insist,
  name: string,
  { agents, home, workspace }: SandboxScope,
): Promise<void> {
  const state = prepareState(home);
  // Compare whole words: one project's name can begin with another's.
  if ((await insist(["ls"])).split(/\s+/).includes(name)) return;
  const repository = gitFolders(workspace).filter((path) => !path.startsWith(`${workspace}/`));
  const [first] = agents;
  const template = first?.needs?.dockerTemplate ? first.name : "shell";
  await insist(["create", "--name", name, template, workspace, ...repository, state]);
  try {
    await insist(["exec", "-u", "root", name, "bash", "-c", LINK_STATE, "bash", state]);
    await insist(["exec", name, "bash", "-c", SET_IDENTITY]);
  } catch (error) {
    // The next run would use a half-made sandbox.
    await insist(["rm", name]).catch(() => {});
    throw error;
  }
}

/** Where agents in Docker's sandboxes keep their login, beyond one sandbox. Existing content stays. */
export function prepareState(home: string): string {
  const folder = join(home, ".dclaude_state");
  mkdirSync(join(folder, ".claude"), { recursive: true, mode: 0o700 });
  const file = join(folder, ".claude.json");
  // An empty file is not JSON, and the agent would not start with it.
  if (!existsSync(file) || readFileSync(file, "utf8").trim() === "")
    writeFileSync(file, "{}\n", { mode: 0o600 });
  return folder;
}

/** No argument can be longer, and other text shares it. */
const MAX_ARGUMENT_BYTES = 120_000;

/** `run` passes its arguments to the agent of the sandbox; everything else runs through `exec`. */
export function asDocker(
  program: DockerProgram,
  name: string,
  { command, agent, isTyped }: SandboxCall,
): Command {
  const { stdin, ...bare } = command;
  const { args, cwd, env } = bare;
  const prompt = stdin?.toString() ?? "";
  const [file, ...first] = PROGRAMS[program].words as [string, ...string[]];
  if (agent === "claude" && !isTyped && Buffer.byteLength(prompt) < MAX_ARGUMENT_BYTES) {
    const flags = args.filter((arg) => arg !== "-p" && arg !== "--print");
    return { ...bare, file, args: [...first, "run", name, "--", "-p", prompt, ...flags] };
  }
  const input = isTyped ? ["-it"] : stdin === undefined ? [] : ["-i"];
  // Variables by name only: the process list would show values. Outer git settings do not exist inside.
  const own = Object.keys(env).filter(
    (key) =>
      env[key] !== process.env[key] && env[key] !== undefined && !/^GIT_CONFIG_(GLOBAL|SYSTEM)$/.test(key),
  );
  const options = [...input, "-w", cwd, ...own.flatMap((key) => ["-e", key])];
  return { ...command, file, args: [...first, "exec", ...options, name, command.file, ...args] };
}

interface OuterFiles {
  head: string | undefined;
  files: ReadonlyMap<string, string>;
}

/** Files that ralph writes and git ignores. */
const OWN = [ACTIVE_FILE, join(RUNTIME_FOLDER, "progress.md")];
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 50;

async function snapshot(workspace: string): Promise<OuterFiles> {
  const own = OWN.filter((name) => existsSync(join(workspace, name)));
  const stamps = own.map((name): [string, string] => [name, stateOf(join(workspace, name), MAX_BYTES)]);
  const [tree, head] = await Promise.all([treeState(workspace), headCommit(workspace)]);
  return { head, files: new Map([...tree.files(), ...stamps]) };
}

/** Files to write inside, or `all` if that is not enough. */
export function changesSince(before: OuterFiles, now: OuterFiles): string[] | "all" {
  if (before.head !== now.head || [...before.files.keys()].some((name) => !now.files.has(name))) return "all";
  const changed = [...now.files].filter(([name, state]) => before.files.get(name) !== state);
  return changed.length > MAX_FILES ? "all" : changed.map(([name]) => name);
}
