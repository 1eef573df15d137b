import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withOuterPath } from "../process/outer-path.js";
import type { Command } from "../process/run.js";
import { git } from "../workspace/git.js";
import { ACTIVE_FILE, RUNTIME_FOLDER } from "../workspace/runtime.js";
import {
  type DockerCli,
  dockerCli,
  dockerWords,
  findDocker,
  networkPolicy,
  sandboxName,
} from "./docker-cli.js";
import { gitFiles } from "./git-files.js";
import { hostsFor } from "./hosts.js";
import type { Call, DockerProgram, Sandbox, SandboxScope, SandboxSpec, SandboxType } from "./sandbox.js";

/** A virtual machine of Docker: `docker sandbox`, or its successor `sbx`. */
export const docker: SandboxType = {
  find: findDocker,
  open,
  allows({ program = "docker" }, hosts) {
    const isTold = program === "docker" || hosts.length === 0;
    const reached = isTold ? `reaches ${hosts.join(", ") || "no host"}` : "reaches what sbx policy ls says";
    return `the agent works in a virtual machine of ${dockerWords(program).join(" ")} that has this folder, and ${reached}`;
  },
};

async function open(spec: SandboxSpec, scope: SandboxScope): Promise<Sandbox> {
  const { program = "docker" } = spec;
  const { workspace, stop } = scope;
  const hosts = hostsFor(scope.agents, scope.env, spec.allowHosts);
  const name = sandboxName(program, workspace, hosts);
  const cli = dockerCli(program, scope);
  await create(cli, name, scope);
  await cli.insist(networkPolicy(program, name, hosts));
  let before: Snapshot | undefined;
  let isStale = false;
  const catchUp = async (): Promise<void> => {
    const changed = before === undefined ? [] : changesSince(before, await snapshot(workspace));
    const files = changed === "all" ? [] : changed.map((path) => join(workspace, path));
    const isTooMuch = changed === "all" || files.some((path) => statSync(path).size > MAX_BYTES);
    if (isStale || isTooMuch) {
      isStale = false;
      // The next command starts it again, and then it sees the files as they are.
      await cli.insist(["stop", name]);
      return;
    }
    for (const path of files)
      await cli.insist(
        ["exec", "-i", name, "sh", "-c", 'cat > "$1"', "sh", path],
        readFileSync(path, "utf8"),
      );
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
      // The program outside is gone; what it started inside need not be.
      if (exit.signal !== null)
        await dockerCli(program, { ...scope, stop: new AbortController().signal }).run(["stop", name]);
      await sleep(spec.settleMs, undefined, { signal: stop }).catch(() => {});
      before = await snapshot(workspace);
      return exit;
    },
    explain(error) {
      if (!/not logged in|please run \/login|invalid api key|authentication_error/i.test(error)) return error;
      const how = dockerWords(program, "run", name).join(" ");
      return `the agent is not logged in inside the sandbox: start ${how} once and log in there (${error})`;
    },
    wasPaused() {
      isStale = true;
    },
    close: async () => {},
  };
}

/** Run inside as root: the agent's own files become links to its state outside. */
const LINK_STATE = `rm -rf /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true
ln -s "$1/.claude" /home/agent/.claude
ln -s "$1/.claude.json" /home/agent/.claude.json
chown -h agent:agent /home/agent/.claude /home/agent/.claude.json 2>/dev/null || true`;

/** Commits inside need a name. */
const SET_IDENTITY = `git config --global user.email "ralph@localhost"
git config --global user.name "Ralph Loop"`;

async function create(
  cli: DockerCli,
  name: string,
  { agents, home, workspace }: SandboxScope,
): Promise<void> {
  const state = prepareState(home);
  const listing = await cli.insist(["ls"]);
  // As a word of its own: one project can be called like the beginning of another.
  if (listing.split(/\s+/).includes(name)) return;
  const { folders } = await gitFiles(workspace);
  const repository = folders.filter((path) => !path.startsWith(`${workspace}/`));
  const [first] = agents;
  const template = first?.needs?.dockerTemplate ? first.name : "shell";
  await cli.insist(["create", "--name", name, template, workspace, ...repository, state]);
  try {
    await cli.insist(["exec", "-u", "root", name, "bash", "-c", LINK_STATE, "bash", state]);
    await cli.insist(["exec", name, "bash", "-c", SET_IDENTITY]);
  } catch (error) {
    // The next run would take one that is half ready for a ready one.
    await cli.run(["rm", name]);
    throw error;
  }
}

/** Where agents in sandboxes of Docker keep their login, so that it outlives the sandbox. What is there stays. */
export function prepareState(home: string): string {
  const folder = join(home, ".dclaude_state");
  mkdirSync(join(folder, ".claude"), { recursive: true, mode: 0o700 });
  const file = join(folder, ".claude.json");
  // An empty file is no JSON, and the agent would not start with it.
  if (!existsSync(file) || readFileSync(file, "utf8").trim() === "")
    writeFileSync(file, "{}\n", { mode: 0o600 });
  return folder;
}

/** One argument can be no longer than this, and has to share it with nobody. */
const MAX_ARGUMENT_BYTES = 120_000;

/** `run` hands its arguments to the agent that the sandbox was made for; everything else is executed inside. */
export function asDocker(program: DockerProgram, name: string, { command, agent, isTyped }: Call): Command {
  const { stdin, ...bare } = command;
  const { args, cwd, env } = bare;
  const prompt = stdin?.toString() ?? "";
  if (agent === "claude" && !isTyped && Buffer.byteLength(prompt) < MAX_ARGUMENT_BYTES) {
    const flags = args.filter((arg) => arg !== "-p" && arg !== "--print");
    const [file = "", ...rest] = dockerWords(program, "run", name, "--", "-p", prompt, ...flags);
    return { ...bare, file, args: rest };
  }
  const input = isTyped ? ["-it"] : stdin === undefined ? [] : ["-i"];
  // Variables by their names alone: the list of processes would show values.
  const own = Object.keys(env).filter((key) => env[key] !== process.env[key] && env[key] !== undefined);
  const options = [...input, "-w", cwd, ...own.flatMap((key) => ["-e", key])];
  const [file = "", ...rest] = dockerWords(program, "exec", ...options, name, command.file, ...args);
  return { ...command, file, args: rest };
}

/** The commit and the files of a workspace, as they are outside. */
export interface Snapshot {
  head: string;
  files: Map<string, string>;
}

/** Written by ralph, and not seen by git. */
const OWN = [ACTIVE_FILE, join(RUNTIME_FOLDER, "progress.md")];
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 50;

async function snapshot(workspace: string): Promise<Snapshot> {
  const [listing, head] = await Promise.all([
    git(workspace, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]),
    git(workspace, ["rev-parse", "HEAD"]),
  ]);
  const names = [...new Set([...listing.stdout.split("\0").filter(Boolean), ...OWN])];
  const entries = names.flatMap((name) => {
    const stat = statSync(join(workspace, name), { throwIfNoEntry: false });
    return stat?.isFile() ? [[name, `${stat.mtimeMs}:${stat.size}`] as const] : [];
  });
  return { head: head.stdout.trim(), files: new Map(entries) };
}

/** Files that are to be written inside, or `all` where that is not enough. */
export function changesSince(before: Snapshot, now: Snapshot): string[] | "all" {
  if (before.head !== now.head || [...before.files.keys()].some((name) => !now.files.has(name))) return "all";
  const changed = [...now.files].filter(([name, state]) => before.files.get(name) !== state);
  return changed.length > MAX_FILES ? "all" : changed.map(([name]) => name);
}
