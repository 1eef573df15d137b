import { existsSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { RalphError } from "../../errors.js";
import { realPlace } from "../../records/files.js";
import { STORIES_FOLDER } from "./story-files.js";

/** Where the stories of a project are. */
export interface StoriesPlace {
  /** The project. */
  project: string;
  /** The folder of the stories, from the project on. */
  dir: string;
}

export interface PlaceFlags {
  projectDir?: string;
  ralphDir?: string;
}

export function storiesPlace({ projectDir = ".", ralphDir = STORIES_FOLDER }: PlaceFlags): StoriesPlace {
  const given = resolve(projectDir);
  if (!existsSync(given) || !statSync(given).isDirectory()) {
    throw new RalphError(`no such project folder: ${projectDir}`, { code: "folder_missing" });
  }
  const project = realpathSync(given);
  const dir = relative(project, resolve(project, ralphDir));
  // A repository can bring a link in its place or above it: what ralph writes must not land elsewhere.
  if (isBelow(dir) && isBelow(relative(project, realPlace(resolve(project, dir))))) return { project, dir };
  throw new RalphError(`--ralph-dir ${ralphDir}: expected a folder inside the project`, {
    code: "flag_invalid",
  });
}

function isBelow(path: string): boolean {
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}

/** The same where the stories have to be there. */
export function existingStories(flags: PlaceFlags): StoriesPlace {
  const place = storiesPlace(flags);
  if (existsSync(resolve(place.project, place.dir))) return place;
  throw new RalphError(`no ${place.dir} folder in ${place.project}`, {
    code: "stories_missing",
    hint: "ralph stories init makes it",
  });
}
