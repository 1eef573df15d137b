import { existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { RalphError } from "../errors.js";
import { capture } from "../process/capture.js";
import { type Companion, startCompanion } from "../process/companion.js";
import { withOuterPath } from "../process/outer-path.js";
import type { Exit } from "../process/run.js";
import { makeFolders } from "../state/files.js";
import { pipesFolder } from "../state/home.js";
import { type GitFiles, gitFiles } from "./git-files.js";
import { insistOnNoLinks, linksIn } from "./git-links.js";
import { hostsFor, isWholeMachine } from "./hosts.js";
import { freePlaces, holdPlaces, insistOnPlaces, isThere, type Place, watchedPlaces } from "./places.js";
import { heldPlaces, protectedFiles } from "./protected.js";
import { withRefusedHosts } from "./refused-hosts.js";
import type { Call, Sandbox, SandboxPlace, SandboxSpec, SandboxType } from "./sandbox.js";
import { otherHomes, secretPaths } from "./secrets.js";
import { type Policy, portsOf, srtConfig } from "./srt-config.js";
import { kernelFilter } from "./srt-filter.js";
import { findSrt } from "./srt-find.js";
import type { Answer, Question } from "./srt-helper.js";
import { outsideScript } from "./srt-outside.js";
import { readOnlyKernel, startScript } from "./srt-start.js";
import { stateFiles } from "./state-files.js";

/** The sandbox-runtime library: bubblewrap on Linux, Seatbelt on macOS, a filtering proxy on both. */
export const srt: SandboxType = {
  find: findSrt,
  getReady(workspace) {
    ready ??= startHelper(workspace);
  },
  open: openSrt,
  allows({ allowWrite }, hosts, agents) {
    const keepsState = agents.some(({ needs }) => (needs?.state.length ?? 0) > 0);
    const more = ["a temporary one", ...(keepsState ? ["its own state"] : []), ...allowWrite];
    const written = ["this folder", ...more.slice(0, -1)].join(", ");
    const reached = hosts.length === 0 ? "no host" : hosts.join(", ");
    return `the agent writes in ${written} and ${more.at(-1)}, reads no keys and logins, reaches ${reached}`;
  },
};

const HELPER = fileURLToPath(new URL("./srt-helper.js", import.meta.url));

interface Helper {
  /** Folder of this sandbox alone, which agents cannot write, wherever it is. */
  own: string;
  /** The one that they can. */
  temp: string;
  helper: Companion;
  /** Fails where the library does. */
  begun: Promise<unknown>;
}

/** One that was started early, and waits to be used. */
let ready: Helper | undefined;

/** What ralph writes for a start must not lie where agents can put a link in its place. */
function startHelper(workspace: string): Helper {
  const own = mkdtempSync(join(realpathSync(tmpdir()), "ralph-sandbox-"));
  const [temp, cwd] = [`${own}-tmp`, join(own, "cwd")];
  for (const folder of [temp, cwd]) mkdirSync(folder, { mode: 0o700 });
  // With the user's home the library would let some folders in it be written.
  const mine = { HOME: own, TMPDIR: own, CLAUDE_CODE_TMPDIR: temp };
  const env = { ...withOuterPath(process.env, workspace), ...mine };
  const helper = startCompanion({ file: process.execPath, args: [HELPER, own, temp], cwd, env });
  // What is allowed is said with each command; until then it is nothing that anybody listens to.
  const begun = ask(helper, { begin: srtConfig({ ...NOTHING, hosts: ["localhost:1"], allowWrite: [temp] }) });
  // Whoever wraps first is told.
  begun.catch(() => {});
  return { own, temp, helper, begun };
}

async function openSrt(spec: SandboxSpec, place: SandboxPlace): Promise<Sandbox> {
  const { own, temp, helper, begun } = ready ?? startHelper(place.workspace);
  ready = undefined;
  const hosts = hostsFor(place.agents, place.env, spec.allowHosts);
  const [{ places: left }, policy, restoresSignals] = await Promise.all([
    guardedIn(place),
    policyFor(spec, place, hosts, { own, temp }),
    canRestoreSignals(place),
  ]);
  // A ralph that was killed may have left them behind; no repository and no settings are empty.
  freePlaces(left);
  const kernelTable = keepKernel(own);
  const filter = keepFilter(own);
  let held: Place[] = [];
  let watched: Place[] = [];
  let git: { folders: string[]; links: string[] } = { folders: [], links: [] };
  let refused: string[] = [];
  let calls = 0;
  const noteOf = (call: number): string => join(temp, `.ended-${call}`);
  return {
    reachesLoop: true,
    hasOwnPrograms: false,
    async wrap(call) {
      await begun;
      calls += 1;
      const { repository, places } = await guardedIn(place);
      held = holdPlaces(places);
      watched = watchedPlaces(places);
      git = { folders: repository.writes, links: linksIn(repository.writes) };
      const full = fullPolicy(policy, place, call, { repository, places, held });
      const script = join(own, `start-${calls}`);
      const { platform } = process;
      const env = withOuterPath(call.command.env, place.workspace);
      const start = {
        command: call.command,
        temp,
        restoresSignals,
        platform,
        kernelTable,
        note: noteOf(calls),
        path: call.command.env["PATH"] === env["PATH"] ? undefined : call.command.env["PATH"],
      };
      const ports = portsOf(full.hosts, full.ports);
      const reachesMachine = full.hosts.some(isWholeMachine);
      writeFileSync(script, startScript({ ...start, ports, reachesMachine }), { mode: 0o600, flag: "wx" });
      const wrapped = await ask(helper, {
        wrap: `exec /bin/sh ${script}`,
        config: srtConfig(full),
        held,
      });
      const outside = outsideScript({ wrapped, filter, restoresSignals, platform });
      // -p: no file that BASH_ENV names is read.
      return { ...call.command, env, file: "/bin/bash", args: ["-p", "-c", outside] };
    },
    async ended(exit) {
      rmSync(join(own, `start-${calls}`), { force: true });
      ({ refused = [] } = await answerTo(helper, { done: true }));
      freePlaces(held);
      insistOnPlaces(watched);
      insistOnNoLinks(git.folders, git.links);
      return !restoresSignals || hasNote(noteOf(calls)) ? asSignal(exit) : exit;
    },
    explain: (error) => withRefusedHosts(error, refused),
    wasPaused() {},
    close: () => helper.end(),
  };
}

/** undefined: the kernel does not obey this user anyway. */
function keepKernel(own: string): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const table = join(own, "kernel");
  writeFileSync(table, readOnlyKernel(isThere));
  return table;
}

/** undefined: there is none for this machine. */
function keepFilter(own: string): string | undefined {
  const bytes = process.platform === "linux" ? kernelFilter(process.arch) : undefined;
  if (bytes === undefined) return undefined;
  const file = join(own, "filter");
  writeFileSync(file, bytes);
  return file;
}

const NOTHING = { ports: [], denyRead: [], denyWrite: [] };

interface Guarded {
  repository: GitFiles;
  places: Place[];
  held: Place[];
}

async function guardedIn({ workspace }: SandboxPlace): Promise<Pick<Guarded, "repository" | "places">> {
  const repository = await gitFiles(workspace);
  return { repository, places: [...heldPlaces(workspace), ...repository.places] };
}

async function policyFor(
  spec: SandboxSpec,
  place: SandboxPlace,
  hosts: string[],
  { own, temp }: Pick<Helper, "own" | "temp">,
): Promise<Policy> {
  const { workspace, home, env, agents } = place;
  const from = (path: string): string => resolve(workspace, path.replace(/^~(?=\/|$)/, home));
  const names = agents.map(({ name }) => name);
  const state = stateFiles(agents, home, env);
  const others = otherHomes(home);
  const secrets = (await secretPaths(home, env, names, others)).filter(
    (path) => existsSync(path) || !others.some((other) => path.startsWith(`${other}/`)),
  );
  const allowed = spec.allowWrite.map(from);
  makeAllowed(allowed);
  return {
    hosts,
    ports: [],
    denyRead: [...secrets, pipesFolder(place.ralphHome), ...spec.denyRead.map(from)],
    allowWrite: [workspace, temp, ...state.writes, ...allowed],
    denyWrite: [own, ...state.protects, ...spec.denyWrite.map(from)],
  };
}

/** Only what is there can be let through. With `recursive`, Node tries for ever where none can be made, as in /proc. */
function makeAllowed(paths: string[]): void {
  for (const path of paths) {
    try {
      if (!path.includes("*") && !existsSync(path)) makeFolders(path);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new RalphError(`sandbox.filesystem.allowWrite: ${path} is missing and cannot be made: ${why}`, {
        code: "sandbox_failed",
      });
    }
  }
}

/** What is there can change between two calls. */
function fullPolicy(
  policy: Policy,
  { workspace, ralphHome }: SandboxPlace,
  { ports = [], writes = [] }: Call,
  { repository, places, held }: Guarded,
): Policy {
  const stay = [...repository.protects, ...protectedFiles(workspace)].filter(isThere);
  const empty = held.filter(({ isAbove }) => !isAbove).map(({ path }) => path);
  return {
    ...policy,
    ports,
    // The folder of a file that stays must not be moved away with it.
    allowWrite: [
      ...policy.allowWrite,
      ...repository.writes,
      ...places.map(({ path }) => dirname(path)),
      ...writes,
    ].filter(isFirst),
    denyWrite: [...policy.denyWrite, ...stay, ...empty, ...(writes.length === 0 ? [ralphHome] : [])].filter(
      isFirst,
    ),
  };
}

function isFirst(path: string, at: number, all: string[]): boolean {
  return all.indexOf(path) === at;
}

async function ask(helper: Companion, question: Question): Promise<string> {
  return (await answerTo(helper, question)).command;
}

async function answerTo(helper: Companion, question: Question): Promise<Exclude<Answer, { error: string }>> {
  const answer = (await helper.ask(question).catch((error: Error) => ({ error: error.message }))) as Answer;
  if ("command" in answer) return answer;
  throw new RalphError(`the sandbox srt cannot be made: ${answer.error}`, {
    code: "sandbox_failed",
    hint: "ralph doctor looks at what it needs; --no-sandbox goes without it",
  });
}

/** Not every `env` can. */
async function canRestoreSignals({ workspace, env }: SandboxPlace): Promise<boolean> {
  const outer = withOuterPath(env, workspace);
  const command = { file: "env", args: ["--default-signal=TERM", "true"], cwd: workspace, env: outer };
  return (await capture(command)).ok;
}

/** An agent can put anything there, so it is not opened. */
function hasNote(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  rmSync(path, { recursive: true, force: true });
  return stat?.isFile() === true && stat.size > 0;
}

/** Told as a shell tells it: a signal is 128 and its number. */
function asSignal(exit: Exit): Exit {
  const number = (exit.exitCode ?? 0) - 128;
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name === undefined ? exit : { ...exit, exitCode: null, signal: name as NodeJS.Signals };
}
