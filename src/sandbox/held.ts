import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { orElse, RalphError } from "../errors.js";

/** A path that an agent must not write, create or replace. */
export interface HeldPath {
  path: string;
  /** Takes its place while missing: a file with this content; null: an empty folder, which git ignores. */
  standIn?: string | null;
  /** Nothing can take its place: ralph checks afterwards. */
  isWatched?: true;
  /** If it exists, the agent may write to it. */
  isOpen?: true;
}

export interface HeldPaths {
  /** To remove after the call, whatever happens. */
  standIns: HeldPath[];
  denyWrite: string[];
  /** Throws if the agent has created something that outside programs obey. */
  requireKept(): void;
}

/** Creates stand-ins for missing paths, and records the state of the others and of git's links. */
export function hold(paths: HeldPath[], gitFolders: string[]): HeldPaths {
  const standIns = paths.flatMap(make);
  const denied = paths.filter((held) => isThere(held.path) && (!held.isOpen || standIns.includes(held)));
  // Nothing can prevent the replacement of a link.
  const compared = paths.filter(
    ({ path, standIn, isWatched }) =>
      (standIn !== undefined && isLink(path)) ||
      (isWatched && !isThere(path)) ||
      (typeof standIn === "string" && contentAt(path) === standIn),
  );
  const before = new Map(compared.map(({ path }) => [path, contentAt(path)]));
  const links = linksIn(gitFolders);
  return {
    standIns,
    denyWrite: denied.map(({ path }) => path),
    requireKept() {
      requireSame(before);
      requireNoLinks(linksIn(gitFolders).filter((path) => !links.includes(path)));
    },
  };
}

/** Returns what it made, parents first. */
function make(held: HeldPath): HeldPath[] {
  const { path, standIn } = held;
  if (standIn === undefined || isThere(path)) return [];
  const folders = make({ path: dirname(path), standIn: null });
  if (standIn === null) mkdirSync(path);
  else writeFileSync(path, standIn, { flag: "wx" });
  return [...folders, held];
}

/** True also for a dangling link. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A file created there would land elsewhere. */
export function isBehindLink(path: string, workspace: string): boolean {
  const above = dirname(path);
  return above.startsWith(`${workspace}/`) && (isLink(above) || isBehindLink(above, workspace));
}

export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

const LINK = "link to ";

/** undefined: nothing exists there. */
function contentAt(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink()) return `${LINK}${readlinkSync(path)}`;
  return stat?.isFile() ? readFileSync(path, "utf8") : stat && "no file";
}

/** Removes each stand-in that is still unchanged. */
export function removeStandIns(paths: HeldPath[]): void {
  for (const { path, standIn } of paths.toReversed()) {
    // The folder may have content by now, or be gone.
    if (standIn === null) orElse(() => rmdirSync(path), undefined);
    else if (standIn !== undefined) orElse(() => contentAt(path) === standIn && unlinkSync(path), undefined);
  }
}

/** Outside programs must not obey what the agent created: ralph renames it, and ends the run. */
function requireSame(before: Map<string, string | undefined>): void {
  const broken = [...before].filter(
    ([path, was]) => contentAt(path) !== was && (isThere(path) || was?.startsWith(LINK)),
  );
  for (const [path, was] of broken) {
    if (isThere(path)) renameSync(path, `${path}.refused-${Date.now()}`);
    if (was?.startsWith(LINK)) symlinkSync(was.slice(LINK.length), path);
  }
  const [[path, was] = []] = broken;
  if (path === undefined) return;
  const did = was === undefined ? "made" : "replaced";
  throw new RalphError(`the agent has ${did} ${path}, which programs outside of the sandbox obey`, {
    code: "sandbox_broken",
    hint: `what it made is called ${path}.refused-… now`,
  });
}

/** Links and pipes in folders of git. Git creates none, and writes through them. */
function linksIn(folders: string[]): string[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) return [path];
      // Objects are named by their content, and never rewritten.
      if (basename(folder) === "objects") return [];
      return entry.isFIFO() ? [path] : entry.isDirectory() ? linksIn([path]) : [];
    }),
  );
}

/** Git outside would write through the agent's links: ralph removes new ones, and ends the run. */
function requireNoLinks(planted: string[]): void {
  const [first] = planted;
  if (first === undefined) return;
  const what = isLink(first) ? `a link to ${readlinkSync(first)}` : "a pipe";
  for (const path of planted) rmSync(path, { force: true });
  throw new RalphError(`the agent has made ${first} ${what}, where git outside of the sandbox would write`, {
    code: "sandbox_broken",
    hint: "ralph has removed it: look at what else the agent did",
  });
}
