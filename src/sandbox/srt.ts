import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxRuntimeConfig } from "@anthropic-ai/sandbox-runtime";
import { RalphError } from "../errors.js";
import { inPackage, PROGRAM } from "../package-folder.cjs";
import { startCompanion } from "../process/companion.js";
import { killTree } from "../process/kill.js";
import { type Command, capture } from "../process/run.js";
import { which, withOuterPath } from "../process/which.js";
import { quoteWord } from "../words.js";
import { type HeldPaths, removeStandIns } from "./held.js";
import { callPolicy, checkedPaths, type FilePolicy, runPolicy } from "./policy.js";
import {
  type Availability,
  type FindOptions,
  hostsFor,
  type Network,
  networkOf,
  type Sandbox,
  type SandboxScope,
  type SandboxSpec,
  type SandboxType,
  withRefusedHosts,
} from "./sandbox.js";
import type { HelperAnswer, HelperQuestion } from "./srt-helper.js";

/** The sandbox-runtime library: bubblewrap on Linux, Seatbelt on macOS, a filtering proxy on both. */
export const srt: SandboxType = {
  find,
  open,
  async check(spec, scope) {
    await checkedPaths(spec, scope);
  },
  allows({ allowWrite, denyRead, denyWrite }, hosts, agents) {
    const keepsState = process.platform !== "linux" && agents.some(({ needs }) => needs !== undefined);
    const more = ["a temporary one", ...(keepsState ? ["its own state"] : []), ...allowWrite];
    const written = ["this folder", ...more.slice(0, -1)].join(", ");
    const reached = hosts.length === 0 ? "no host" : hosts.join(", ");
    const but = denyRead.length + denyWrite.length === 0 ? "" : ", but nothing that the settings deny";
    return `the agent writes in ${written} and ${more.at(-1)}, reads no keys and logins${but}, reaches ${reached}`;
  },
};

const LIBRARY = "@anthropic-ai/sandbox-runtime";
/** What the library needs on Linux, by the names of programs and of packages. */
const PROGRAMS = { bwrap: "bubblewrap", socat: "socat", rg: "ripgrep", bash: "bash" };
const TRIAL = "--ro-bind / / --unshare-all --proc /proc --dev /dev --die-with-parent true".split(" ");

/** Whether the library is installed and a namespace can be made. */
async function find({ env, workspace, platform, timeoutMs, stop }: FindOptions): Promise<Availability> {
  const isHere = (name: string): boolean => which(name, workspace, env["PATH"]).status === "found";
  try {
    createRequire(PROGRAM).resolve(LIBRARY);
  } catch {
    return { status: "missing", why: `${LIBRARY} is not installed`, fix: `npm install -g ${LIBRARY}` };
  }
  if (platform === "darwin" && isHere("sandbox-exec")) return { status: "works", about: "sandbox-exec" };
  if (platform !== "linux") return { status: "broken", why: "not for this system", fix: "use docker" };
  const missing = Object.entries(PROGRAMS).filter(([name]) => !isHere(name));
  if (missing.length > 0) {
    const why = `${missing.map(([name]) => name).join(", ")} not found`;
    const packages = missing.map(([, name]) => name);
    const fix = `install ${packages.join(", ")} (Debian: apt-get install ${packages.join(" ")})`;
    return { status: "missing", why, fix, packages };
  }
  const command = { file: "bwrap", args: TRIAL, cwd: workspace, env };
  const trial = await capture(command, { timeoutMs, ...(stop && { stop }) });
  if (trial.ok) return { status: "works", about: "bubblewrap" };
  const why = trial.stderr.trim().split("\n")[0] || "bwrap does not work";
  return { status: "broken", why, fix: "allow user namespaces (ralph doctor tells how)" };
}

/**
 * Starts the helper with two folders of this sandbox alone: agents can write in `temp`, and never in `own`, wherever
 * it is. What ralph writes for a start must not lie where agents can put a link in its place.
 */
function startHelper(workspace: string) {
  const own = mkdtempSync(join(realpathSync(tmpdir()), "ralph-sandbox-"));
  const [temp, cwd] = [`${own}-tmp`, join(own, "cwd")];
  for (const folder of [temp, cwd]) mkdirSync(folder, { mode: 0o700 });
  // With the user's home the library would let some folders in it be written.
  const mine = { HOME: own, TMPDIR: own, CLAUDE_CODE_TMPDIR: temp };
  const env = { ...withOuterPath(process.env, workspace), ...mine };
  const args = [inPackage("dist/sandbox/srt-helper.js"), own, temp];
  const helper = startCompanion({ file: process.execPath, args, cwd, env });
  const ask = async (question: HelperQuestion): Promise<Exclude<HelperAnswer, { error: string }>> => {
    const said = helper.ask(question).catch((error: Error) => ({ error: error.message }));
    const answer = (await said) as HelperAnswer;
    if ("command" in answer) return answer;
    throw new RalphError(`the sandbox srt cannot be used: ${answer.error}`, {
      code: "sandbox_failed",
      hint: "ralph doctor checks what it needs; --no-sandbox runs without it",
    });
  };
  // Each call says what is allowed; until then it is a port that nothing listens to.
  const nothing = { denyRead: [], allowWrite: [temp], denyWrite: [] };
  const begun = ask({ begin: configOf(["localhost:1", "127.0.0.1:1"], nothing) });
  // The first call reports it.
  begun.catch(() => {});
  // What a killed helper leaves: its bridge to the proxy, the agent, which has no proxy any more, and files.
  const cleared = helper.gone.then(async () => {
    if (!existsSync(own)) return;
    await killTree({ marker: `CLAUDE_CODE_TMPDIR=${temp}` }, 0);
    for (const folder of [own, temp]) rmSync(folder, { recursive: true, force: true });
  });
  const end = async (): Promise<void> => {
    await helper.end();
    await cleared;
  };
  return { own, temp, ask, begun, end };
}

function configOf(domains: string[], { denyRead, allowWrite, denyWrite }: FilePolicy): SandboxRuntimeConfig {
  const network = { allowedDomains: domains, deniedDomains: [] };
  return { network, filesystem: { denyRead, allowWrite, denyWrite } };
}

async function open(spec: SandboxSpec, scope: SandboxScope): Promise<Sandbox> {
  const { own, temp, ask, begun, end } = startHelper(scope.workspace);
  const hosts = hostsFor(scope.agents, scope.env, spec.allowHosts);
  const outer = { cwd: scope.workspace, env: withOuterPath(scope.env, scope.workspace) };
  const [policy, { ok: restoresSignals }] = await Promise.all([
    runPolicy(spec, scope, { own, temp }),
    // Not every `env` can.
    capture({ ...outer, file: "env", args: ["--default-signal=TERM", "true"] }),
  ]);
  const { platform } = process;
  let current: (FilePolicy & HeldPaths) | undefined;
  let refused: string[] = [];
  let calls = 0;
  const script = (): string => join(own, `start-${calls}`);
  return {
    reachesLoop: true,
    hasOwnPrograms: false,
    async wrap(call) {
      await begun;
      calls += 1;
      const { command } = call;
      current = await callPolicy(policy, scope, call);
      const reached = networkOf(hosts, call.ports);
      const env = withOuterPath(command.env, scope.workspace);
      const path = command.env["PATH"] === env["PATH"] ? undefined : command.env["PATH"];
      const inside = insideScript({ command, temp, network: reached, path, restoresSignals, platform });
      writeFileSync(script(), inside, { mode: 0o600, flag: "wx" });
      const config = configOf(reached.domains, current);
      const wrap = `exec /bin/sh ${script()}`;
      const { command: wrapped } = await ask({ wrap, config, held: current.standIns });
      const outside = outsideScript(wrapped, { mounts: policy.mounts, restoresSignals, platform });
      // -p: no file that BASH_ENV names is read.
      return { ...command, env, file: "/bin/bash", args: ["-p", "-c", outside] };
    },
    async ended(exit) {
      rmSync(script(), { force: true });
      try {
        ({ refused = [] } = await ask({ done: true }));
      } finally {
        removeStandIns(current?.standIns ?? []);
      }
      current?.requireKept();
      // As a shell says it: a signal is 128 and its number.
      const number = (exit.exitCode ?? 0) - 128;
      const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
      return name === undefined ? exit : { ...exit, exitCode: null, signal: name as NodeJS.Signals };
    },
    explain: (error) => withRefusedHosts(error, refused),
    wasPaused() {},
    async close() {
      await end();
      // Of a call that never started.
      removeStandIns(current?.standIns ?? []);
    },
  };
}

interface InsideOptions {
  command: Pick<Command, "file" | "args">;
  temp: string;
  network: Pick<Network, "ports" | "reachesMachine">;
  /** Restores the default action of signals that the sandbox ignores. */
  restoresSignals: boolean;
  platform: NodeJS.Platform;
  /** The command's PATH, if it differs from that of ralph's own programs. */
  path: string | undefined;
}

/** The shell script that starts inside and runs the command. */
export function insideScript(options: InsideOptions): string {
  const { command, temp, network, restoresSignals, platform, path } = options;
  const { ports, reachesMachine } = network;
  const isLinux = platform === "linux";
  const withPath = path === undefined ? [] : ["env", `PATH=${path}`];
  const locked = isLinux && process.getuid?.() === 0 ? LOCKED : [];
  const words = [...locked, ...withPath, command.file, ...command.args].map(quoteWord).join(" ");
  return [
    ...["TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"].map((name) => `export ${name}=${quoteWord(temp)}`),
    ...(reachesMachine ? ["export NO_PROXY= no_proxy="] : []),
    ...(isLinux && ports.length > 0 ? forwarding(ports) : []),
    // The shell ignores SIGTERM, outlives the command, and prints nothing about its end.
    ...(restoresSignals
      ? ["exec 3>&2 2>/dev/null", `(exec env --default-signal=TERM ${words} 2>&3 3>&-)`, "exit $?"]
      : [`exec ${words}`]),
    "",
  ].join("\n");
}

/** Inside a namespace, not even root can undo or repeat a mount from outside. */
const LOCKED = ["unshare", "--user", "--map-root-user", "--mount", "--"];

/** Unix sockets cannot be opened inside, so the traffic goes through the proxy, which knows these ports. */
function forwarding(ports: number[]): string[] {
  const entry = (port: number): string =>
    `:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 0A`;
  return [
    "proxy=$" + "{HTTP_PROXY#http://}",
    "proxy=$" + "{proxy%@*}",
    ...ports.map(
      (port) =>
        `socat TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr PROXY:localhost:127.0.0.1:${port},proxyport=3128,proxyauth="$proxy" </dev/null >/dev/null 2>&1 &`,
    ),
    // Waits until socat listens: on a busy machine its start takes a while.
    ...ports.map(
      (port) => `for _ in $(seq 100); do grep -q '${entry(port)}' /proc/net/tcp && break; sleep 0.1; done`,
    ),
  ];
}

/** A descriptor that ralph inherited could be a folder outside, or be writable. */
const CLOSE_INHERITED =
  "for fd in /dev/fd/*; do fd=$" +
  '{fd##*/}; case $fd in [012]|*[!0-9]*) ;; *) eval "exec $fd>&-";; esac; done';

const LAST_FLAGS = " --proc /proc -- ";

/** Files by which root steers the kernel of all of the machine, whatever else a sandbox takes away. */
const KERNEL = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"];

/**
 * The script of the shell outside, which becomes bubblewrap or Seatbelt: the command of the library, with more flags
 * of bubblewrap.
 */
function outsideScript(
  wrapped: string,
  {
    mounts,
    restoresSignals,
    platform,
  }: Pick<InsideOptions, "restoresSignals" | "platform"> & {
    mounts: string[];
  },
): string {
  // The whole tree gets SIGTERM: bubblewrap must not end before the agent has had its time.
  const ignore = restoresSignals ? "trap '' TERM\n" : "";
  const head = `${CLOSE_INHERITED}\n${ignore}exec`;
  if (platform !== "linux") return `${head} ${wrapped} `;
  const last = wrapped.indexOf(LAST_FLAGS);
  if (last === -1)
    throw new RalphError("the sandbox srt cannot be made: its library starts bubblewrap in an unknown way", {
      code: "sandbox_failed",
      hint: "install the version that ralph names; --no-sandbox runs without it",
    });
  const kernel = KERNEL.flatMap((name) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`]);
  // Memory and queues that programs share are those of this sandbox alone.
  const more = ["--proc", "/proc", "--unshare-ipc", ...mounts, ...kernel].map(quoteWord).join(" ");
  return `${head} ${wrapped.slice(0, last)} ${more} -- ${wrapped.slice(last + LAST_FLAGS.length)}`;
}
