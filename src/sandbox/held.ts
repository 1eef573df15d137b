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
import { RalphError } from "../errors.js";

/** A path that an agent must not write, make or replace. */
export interface HeldPath {
  path: string;
  /** What stands in for it while it is missing: a file with this content; null: an empty folder, which git does not see. */
  standIn?: string | null;
  /** It is a link, which cannot be kept from being replaced: ralph compares it afterwards. */
  link?: string;
  /** Nothing can stand in for it: ralph looks for it afterwards. */
  isWatched?: true;
  /** Where it is there, it may be written. */
  isOpen?: true;
}

export interface Hold {
  /** Have to be removed after the call, whatever happens. */
  standIns: HeldPath[];
  denyWrite: string[];
  /** Throws where the agent has made what programs outside obey. */
  requireKept(): void;
}

/** Makes what stands in for missing paths, and remembers how the others are, and which links git's folders hold. */
export function hold(paths: HeldPath[], gitFolders: string[]): Hold {
  const standIns = paths.flatMap(make);
  const compared = paths.filter(
    (held) => (held.standIn ?? held.link ?? held.isWatched) !== undefined && isIntact(held),
  );
  const denied = paths.filter((held) => isThere(held.path) && (!held.isOpen || standIns.includes(held)));
  const links = linksIn(gitFolders);
  return {
    standIns,
    denyWrite: denied.map(({ path }) => path),
    requireKept() {
      requireIntact(compared);
      requireNoLinks(linksIn(gitFolders).filter((path) => !links.includes(path)));
    },
  };
}

/** Returns what it made: folders above first. */
function make(held: HeldPath): HeldPath[] {
  const { path, standIn } = held;
  if (standIn === undefined || isThere(path)) return [];
  const folders = make({ path: dirname(path), standIn: null });
  if (standIn === null) mkdirSync(path);
  else writeFileSync(path, standIn, { flag: "wx" });
  return [...folders, held];
}

/** Also true of a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** What is made there would land elsewhere. */
export function isBehindLink(path: string, workspace: string): boolean {
  const above = dirname(path);
  return above.startsWith(`${workspace}/`) && (isLink(above) || isBehindLink(above, workspace));
}

export function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Removes what still is as it was made. */
export function removeStandIns(paths: HeldPath[]): void {
  for (const held of paths.toReversed()) {
    try {
      if (held.standIn === null) rmdirSync(held.path);
      else if (held.standIn !== undefined && isIntact(held)) unlinkSync(held.path);
    } catch {
      // It has got content, or is gone.
    }
  }
}

function isIntact({ path, standIn, link, isWatched }: HeldPath): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (isWatched) return stat === undefined;
  if (link !== undefined) return stat?.isSymbolicLink() === true && readlinkSync(path) === link;
  return stat?.isFile() === true && readFileSync(path, "utf8") === standIn;
}

/** Programs outside must not obey what the agent made all the same: ralph renames it, and the run ends. */
function requireIntact(compared: HeldPath[]): void {
  const broken = compared.filter((held) => !isIntact(held) && (isThere(held.path) || held.link));
  for (const { path, link } of broken) {
    if (isThere(path)) renameSync(path, `${path}.refused-${Date.now()}`);
    if (link !== undefined) symlinkSync(link, path);
  }
  const [first] = broken;
  if (first === undefined) return;
  throw new RalphError(
    `the agent has ${first.isWatched ? "made" : "replaced"} ${first.path}, which programs outside of the sandbox obey`,
    { code: "sandbox_broken", hint: `what it made is called ${first.path}.refused-… now` },
  );
}

/** Links and pipes in folders of git. git makes none, and what it writes goes where they lead. */
function linksIn(folders: string[]): string[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) return [path];
      // Objects are named by their content, and never written twice.
      if (basename(folder) === "objects") return [];
      return entry.isFIFO() ? [path] : entry.isDirectory() ? linksIn([path]) : [];
    }),
  );
}

/** git outside would write there for the agent: ralph removes new ones, and the run ends. */
function requireNoLinks(planted: string[]): void {
  const [first] = planted;
  if (first === undefined) return;
  const what = lstatSync(first).isSymbolicLink() ? `a link to ${readlinkSync(first)}` : "a pipe";
  for (const path of planted) rmSync(path, { force: true });
  throw new RalphError(`the agent has made ${first} ${what}, where git outside of the sandbox would write`, {
    code: "sandbox_broken",
    hint: "ralph has removed it: look at what else the agent did",
  });
}
