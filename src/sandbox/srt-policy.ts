import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { StateFolder } from "../agents/agent.js";
import { RalphError } from "../errors.js";
import { makeFolders } from "../records/files.js";
import { pipesFolder } from "../records/home.js";
import { type GitFiles, gitFiles } from "./git-files.js";
import { type Mount, ownState, stateFolders } from "./own-state.js";
import { isThere, type Place } from "./places.js";
import { alwaysKept, heldPlaces, protectedFiles } from "./protected.js";
import type { Call, SandboxPlace, SandboxSpec } from "./sandbox.js";
import { otherHomes, secretPaths } from "./secrets.js";
import type { Policy } from "./srt-config.js";
import { insistOnRepository, insistOnSense, type Paths } from "./srt-sense.js";

interface Guarded {
  repository: GitFiles;
  places: Place[];
  held: Place[];
}

export async function guardedIn(place: SandboxPlace): Promise<Pick<Guarded, "repository" | "places">> {
  const repository = await gitFiles(place.workspace);
  return { repository, places: [...heldPlaces(place), ...repository.places] };
}

/** What the settings ask for, as paths. Throws where that makes no sense. */
export async function checkedPaths(spec: SandboxSpec, place: SandboxPlace): Promise<Paths> {
  const { workspace, home, env, agents, ralphHome } = place;
  const from = (path: string): string => resolve(workspace, path.replace(/^~(?=\/|$)/, home));
  const names = agents.map(({ name }) => name);
  const others = otherHomes(home);
  const secrets = (await secretPaths(home, env, names, others)).filter(
    (path) => existsSync(path) || !others.some((other) => path.startsWith(`${other}/`)),
  );
  const [allowed, hidden] = [spec.allowWrite.map(from), spec.denyRead.map(from)];
  const kept = spec.denyWrite.map(from);
  const own = [ralphHome, ...alwaysKept(workspace)];
  insistOnSense(workspace, { allowed, hidden, kept, secrets, own });
  await insistOnRepository(workspace, hidden);
  makeAllowed(allowed);
  return { allowed, hidden, kept, secrets, own };
}

export async function policyFor(
  spec: SandboxSpec,
  place: SandboxPlace,
  hosts: string[],
  { own, temp }: { own: string; temp: string },
): Promise<{ policy: Policy; mounts: Mount[] }> {
  const { allowed, hidden, kept, secrets } = await checkedPaths(spec, place);
  const state = stateFolders(place);
  const denyRead = [...secrets, pipesFolder(place.ralphHome), ...hidden];
  // Seatbelt puts nothing in the place of anything else.
  const [writes, protects] =
    process.platform === "linux" ? [[], []] : [state.map(({ path }) => path), obeyedIn(state)];
  return {
    policy: {
      hosts,
      ports: [],
      denyRead,
      allowWrite: [place.workspace, temp, ...writes, ...allowed],
      denyWrite: [own, ...protects, ...kept],
    },
    mounts:
      process.platform === "linux"
        ? ownState(state, { folder: join(own, "state"), hidden: denyRead, allowed })
        : [],
  };
}

function obeyedIn(state: StateFolder[]): string[] {
  return state.flatMap(({ path, obeys = [] }) => obeys.map((name) => join(path, name)));
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
export function fullPolicy(
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
