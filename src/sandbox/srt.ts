import { lstatSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { capture } from "../process/capture.js";
import { withOuterPath } from "../process/outer-path.js";
import type { Exit } from "../process/run.js";
import { insistOnNoLinks, linksIn } from "./git-links.js";
import { hostsFor, isWholeMachine } from "./hosts.js";
import { type Mount, mountFlags } from "./own-state.js";
import { freePlaces, holdPlaces, insistOnPlaces, isThere, type Place, watchedPlaces } from "./places.js";
import { withRefusedHosts } from "./refused-hosts.js";
import type { Sandbox, SandboxPlace, SandboxSpec, SandboxType } from "./sandbox.js";
import { portsOf, srtConfig } from "./srt-config.js";
import { kernelFilter } from "./srt-filter.js";
import { findSrt } from "./srt-find.js";
import { answerTo, ask, type Helper, startHelper } from "./srt-library.js";
import { outsideScript } from "./srt-outside.js";
import { checkedPaths, fullPolicy, guardedIn, policyFor } from "./srt-policy.js";
import { readOnlyKernel, startScript } from "./srt-start.js";

/** The sandbox-runtime library: bubblewrap on Linux, Seatbelt on macOS, a filtering proxy on both. */
export const srt: SandboxType = {
  find: findSrt,
  getReady(workspace) {
    ready ??= startHelper(workspace);
  },
  open: openSrt,
  async check(spec, place) {
    await checkedPaths(spec, place);
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

/** One that was started early, and waits to be used. */
let ready: Helper | undefined;

async function openSrt(spec: SandboxSpec, place: SandboxPlace): Promise<Sandbox> {
  const { own, temp, helper, begun, end } = ready ?? startHelper(place.workspace);
  ready = undefined;
  const hosts = hostsFor(place.agents, place.env, spec.allowHosts);
  const [{ places: left }, { policy, mounts }, restoresSignals] = await Promise.all([
    guardedIn(place),
    policyFor(spec, place, hosts, { own, temp }),
    canRestoreSignals(place),
  ]);
  // A ralph that was killed may have left them behind; no repository and no settings are empty.
  freePlaces(left);
  const kernelTable = keepKernel(own);
  const files = { filter: keepFilter(own), mounts: keepMounts(own, mounts) };
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
      const outside = outsideScript({ wrapped, ...files, restoresSignals, platform });
      // -p: no file that BASH_ENV names is read.
      return { ...call.command, env, file: "/bin/bash", args: ["-p", "-c", outside] };
    },
    async ended(exit) {
      rmSync(join(own, `start-${calls}`), { force: true });
      try {
        ({ refused = [] } = await answerTo(helper, { done: true }));
      } finally {
        freePlaces(held);
      }
      insistOnPlaces(watched);
      insistOnNoLinks(git.folders, git.links);
      return !restoresSignals || hasNote(noteOf(calls)) ? asSignal(exit) : exit;
    },
    explain: (error) => withRefusedHosts(error, refused),
    wasPaused() {},
    close: end,
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

function keepMounts(own: string, mounts: Mount[]): string {
  const file = join(own, "mounts");
  writeFileSync(file, mountFlags(mounts));
  return file;
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
