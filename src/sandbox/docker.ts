import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withOuterPath } from "../process/outer-path.js";
import type { Command } from "../process/run.js";
import { linkAuthState, prepareAuthState, setGitIdentity } from "./auth-state.js";
import { dockerRunner, dockerWords, insist, isListed, nameFor, networkPolicy } from "./docker-cli.js";
import { findDocker } from "./docker-find.js";
import { gitFiles } from "./git-files.js";
import { changesSince, contentOf, type Glance, glance } from "./host-changes.js";
import { hostsFor } from "./hosts.js";
import type { Call, DockerProgram, Sandbox, SandboxPlace, SandboxSpec, SandboxType } from "./sandbox.js";

/** A virtual machine of Docker: `docker sandbox`, or its successor `sbx`. */
export const docker: SandboxType = {
  find: findDocker,
  open: openDocker,
  allows({ program = "docker" }, hosts) {
    const isTold = program === "docker" || hosts.length === 0;
    const reached = isTold ? `reaches ${hosts.join(", ") || "no host"}` : "reaches what sbx policy ls says";
    return `the agent works in a virtual machine of ${program === "docker" ? "docker sandbox" : "sbx"} that has this folder, and ${reached}`;
  },
};

async function openDocker(spec: SandboxSpec, place: SandboxPlace): Promise<Sandbox> {
  const { program = "docker" } = spec;
  const { workspace, stop } = place;
  const hosts = hostsFor(place.agents, place.env, spec.allowHosts);
  const name = nameFor(program, workspace, hosts);
  const run = dockerRunner(program, place);
  await makeReady(program, name, hosts, place);
  let before: Glance | undefined;
  let isStale = false;
  const restart = async (): Promise<void> => {
    // The next command starts it again, and then it sees the files as they are.
    await insist(run, program, ["stop", name]);
  };
  const catchUp = async (): Promise<void> => {
    const changed = isStale
      ? "all"
      : before === undefined
        ? []
        : changesSince(before, await glance(workspace));
    isStale = false;
    if (changed === "all") return restart();
    for (const path of changed) {
      const full = join(workspace, path);
      const content = contentOf(full);
      if (content === undefined) return restart();
      await insist(run, program, ["exec", "-i", name, "sh", "-c", 'cat > "$1"', "sh", full], content);
    }
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
        await dockerRunner(program, { ...place, stop: new AbortController().signal })(["stop", name]);
      await sleep(spec.settleMs, undefined, { signal: stop }).catch(() => {});
      before = await glance(workspace);
      return exit;
    },
    explain: (error) => explain(error, program, name),
    wasPaused() {
      isStale = true;
    },
    close: async () => {},
  };
}

async function makeReady(
  program: DockerProgram,
  name: string,
  hosts: string[],
  { agents, env, home, workspace, ...place }: SandboxPlace,
): Promise<void> {
  const run = dockerRunner(program, { ...place, workspace, env });
  const state = prepareAuthState(home);
  if (!isListed(await insist(run, program, ["ls"]), name)) {
    const repository = (await gitFiles(workspace)).folders.filter(
      (path) => !path.startsWith(`${workspace}/`),
    );
    const template = templateFor(agents[0]?.name);
    await insist(run, program, ["create", "--name", name, template, workspace, ...repository, state]);
    try {
      await insist(run, program, ["exec", "-u", "root", name, ...linkAuthState(state)]);
      await insist(run, program, ["exec", name, ...setGitIdentity()]);
    } catch (error) {
      // One that is only half ready would be taken for a ready one the next time.
      await run(["rm", name]);
      throw error;
    }
  }
  await insist(run, program, networkPolicy(program, name, hosts));
}

const TEMPLATES = ["claude", "codex", "gemini", "opencode"];

function templateFor(agent: string | undefined): string {
  return agent !== undefined && TEMPLATES.includes(agent) ? agent : "shell";
}

/** One argument can be no longer than this, and has to share it with nobody. */
const MAX_ARGUMENT_BYTES = 120_000;

/** `run` hands its arguments to the agent that the sandbox was made for; everything else is executed inside. */
export function asDocker(program: DockerProgram, name: string, { command, agent, isTyped }: Call): Command {
  const { stdin = "", args } = command;
  const isShort = Buffer.byteLength(stdin) < MAX_ARGUMENT_BYTES;
  const words =
    agent === "claude" && !isTyped && isShort
      ? [
          "run",
          name,
          "--",
          "-p",
          stdin.toString(),
          ...args.filter((arg) => arg !== "-p" && arg !== "--print"),
        ]
      : ["exec", ...execFlags(command, isTyped), name, command.file, ...args];
  const [file = "", ...rest] = dockerWords(program, ...words);
  const asArgument = words[0] === "run";
  const { stdin: _, ...bare } = command;
  return { ...bare, file, args: rest, ...(!asArgument && command.stdin !== undefined && { stdin }) };
}

/** Variables by their names alone: values would be seen in the list of processes. */
function execFlags({ stdin, cwd, env }: Command, isTyped = false): string[] {
  const own = Object.keys(env).filter((name) => env[name] !== process.env[name] && env[name] !== undefined);
  const input = isTyped ? ["-it"] : stdin === undefined ? [] : ["-i"];
  return [...input, "-w", cwd, ...own.flatMap((name) => ["-e", name])];
}

function explain(error: string, program: DockerProgram, name: string): string {
  if (!/not logged in|please run \/login|invalid api key|authentication_error/i.test(error)) return error;
  const how = dockerWords(program, "run", name).join(" ");
  return `the agent is not logged in inside the sandbox: start ${how} once and log in there (${error})`;
}
