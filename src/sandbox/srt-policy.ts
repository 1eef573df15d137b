import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { makeFolders } from "../state/files.js";
import { pipesFolder } from "../state/home.js";
import { type GitFiles, gitFiles } from "./git-files.js";
import { isThere, type Place } from "./places.js";
import { heldPlaces, protectedFiles } from "./protected.js";
import type { Call, SandboxPlace, SandboxSpec } from "./sandbox.js";
import { otherHomes, secretPaths } from "./secrets.js";
import type { Policy } from "./srt-config.js";
import { insistOnRepository, insistOnSense } from "./srt-sense.js";
import { stateFiles } from "./state-files.js";

interface Guarded {
  repository: GitFiles;
  places: Place[];
  held: Place[];
}

export async function guardedIn({
  workspace,
}: SandboxPlace): Promise<Pick<Guarded, "repository" | "places">> {
  const repository = await gitFiles(workspace);
  return { repository, places: [...heldPlaces(workspace), ...repository.places] };
}

export async function policyFor(
  spec: SandboxSpec,
  place: SandboxPlace,
  hosts: string[],
  { own, temp }: { own: string; temp: string },
): Promise<Policy> {
  const { workspace, home, env, agents } = place;
  const from = (path: string): string => resolve(workspace, path.replace(/^~(?=\/|$)/, home));
  const names = agents.map(({ name }) => name);
  const state = stateFiles(agents, home, env);
  const others = otherHomes(home);
  const secrets = (await secretPaths(home, env, names, others)).filter(
    (path) => existsSync(path) || !others.some((other) => path.startsWith(`${other}/`)),
  );
  const [allowed, hidden] = [spec.allowWrite.map(from), spec.denyRead.map(from)];
  const kept = spec.denyWrite.map(from);
  insistOnSense(workspace, { allowed, hidden, kept, secrets });
  await insistOnRepository(workspace, hidden);
  makeAllowed(allowed);
  return {
    hosts,
    ports: [],
    denyRead: [...secrets, pipesFolder(place.ralphHome), ...hidden],
    allowWrite: [workspace, temp, ...state.writes, ...allowed],
    denyWrite: [own, ...state.protects, ...kept],
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
