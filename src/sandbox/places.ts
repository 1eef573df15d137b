import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { RalphError } from "../errors.js";

/**
 * What is not there can only be kept away by something in its place: a file with this content, or an empty
 * folder, which git does not see. A link cannot be kept from being replaced, so it is looked at afterwards.
 */
export interface Place {
  path: string;
  content?: string;
  link?: string;
  /** Nothing can stand there in its place: it is looked for afterwards. */
  isWatched?: true;
  /** Only made because something in it is held. */
  isAbove?: boolean;
}

/** Fills those that are empty. Returns them, with the folders above that had to be made. */
export function holdPlaces(places: Place[]): Place[] {
  const empty = places.filter(({ path, isWatched }) => !isWatched && !isThere(path));
  return empty.flatMap((place) => (isThere(place.path) ? [] : [...foldersFor(place), hold(place)]));
}

function foldersFor({ path }: Place): Place[] {
  const above = dirname(path);
  return isThere(above) ? [] : [...foldersFor({ path: above }), hold({ path: above, isAbove: true })];
}

function hold(place: Place): Place {
  const { path, content } = place;
  if (content === undefined) mkdirSync(path);
  else writeFileSync(path, content, { flag: "wx" });
  return place;
}

/** Also true of a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Takes away those that are still as they were made. */
export function freePlaces(places: Place[]): void {
  for (const place of [...places].reverse()) {
    try {
      free(place);
    } catch {
      // Somebody has put something in, or it is gone.
    }
  }
}

function free(place: Place): void {
  if (place.link !== undefined || place.isWatched) return;
  if (place.content === undefined) rmdirSync(place.path);
  else if (isIntact(place)) unlinkSync(place.path);
}

/** Files and links that are as they should be now, and have to be afterwards. */
export function watchedPlaces(places: Place[]): Place[] {
  return places.filter(
    (place) => (place.content ?? place.link ?? place.isWatched) !== undefined && isIntact(place),
  );
}

function isIntact({ path, content, link, isWatched }: Place): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (isWatched) return stat === undefined;
  if (link !== undefined) return stat?.isSymbolicLink() === true && readlinkSync(path) === link;
  return stat?.isFile() === true && readFileSync(path, "utf8") === content;
}

/** No program outside may obey what came to be all the same: it is set aside, and the run ends. */
export function insistOnPlaces(watched: Place[]): void {
  const broken = watched.filter((place) => !isIntact(place) && (isThere(place.path) || place.link));
  for (const { path, link } of broken) {
    if (isThere(path)) renameSync(path, `${path}.refused-${Date.now()}`);
    if (link !== undefined) symlinkSync(link, path);
  }
  const [first] = broken;
  if (first === undefined) return;
  throw new RalphError(
    `the agent has ${first.isWatched ? "made" : "replaced"} ${first.path}, which programs outside of the sandbox obey`,
    {
      code: "sandbox_broken",
      hint: `what it made is called ${first.path}.refused-… now`,
    },
  );
}
