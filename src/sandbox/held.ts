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

/**
 * A path that an agent must not make or replace. While it is missing, something stands in for it: a file with this
 * content, or an empty folder, which git does not see.
 */
export interface HeldPath {
  path: string;
  content?: string;
  /** It is a link, which cannot be kept from being replaced: ralph compares it afterwards. */
  link?: string;
  /** Nothing can stand in for it: ralph looks for it afterwards. */
  isWatched?: true;
  /** A folder that was only made for a path in it. */
  isAbove?: boolean;
}

export interface Hold {
  /** Have to be removed after the call, whatever happens. */
  standIns: HeldPath[];
  /** Throws where the agent has made what programs outside obey. */
  requireKept(): void;
}

/** Makes what stands in for missing paths, and remembers how the others are, and which links git's folders hold. */
export function hold(paths: HeldPath[], gitFolders: string[]): Hold {
  const standIns = paths.flatMap((held) => (held.isWatched || isThere(held.path) ? [] : standIn(held)));
  const compared = paths.filter(
    (held) => (held.content ?? held.link ?? held.isWatched) !== undefined && isIntact(held),
  );
  const links = linksIn(gitFolders);
  return {
    standIns,
    requireKept() {
      requireIntact(compared);
      requireNoLinks(linksIn(gitFolders).filter((path) => !links.includes(path)));
    },
  };
}

/** Returns what it made: folders above first. */
function standIn(held: HeldPath): HeldPath[] {
  const { path, content } = held;
  const above = dirname(path);
  const folders = isThere(above) ? [] : standIn({ path: above, isAbove: true });
  if (content === undefined) mkdirSync(path);
  else writeFileSync(path, content, { flag: "wx" });
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
    if (held.link !== undefined || held.isWatched) continue;
    try {
      if (held.content === undefined) rmdirSync(held.path);
      else if (isIntact(held)) unlinkSync(held.path);
    } catch {
      // It has got content, or is gone.
    }
  }
}

function isIntact({ path, content, link, isWatched }: HeldPath): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (isWatched) return stat === undefined;
  if (link !== undefined) return stat?.isSymbolicLink() === true && readlinkSync(path) === link;
  return stat?.isFile() === true && readFileSync(path, "utf8") === content;
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
