import { isUnknown } from "../call.js";
import { isInside, resolvePath } from "../paths.js";
import type { Scope } from "../shell/scope.js";

export const OTHER_REPOSITORY = "git runs what the settings of that repository say";

/** A folder that is no usual place of a repository: `.git`, a bare `x.git`, or one for the files of a home. */
export function isOtherRepository(folder: string, scope: Scope): boolean {
  if (folder === "" || isUnknown(folder)) return false;
  const path = resolvePath(folder, scope);
  const isOfHome =
    isInside(path, scope.place.home) && /^\/\.[^/]+$/.test(path.slice(scope.place.home.length));
  return !/\.git(\/|$)/.test(path) && !isOfHome;
}

const TEMPORARY = /^\/(private\/)?(tmp|var\/tmp|dev\/shm|var\/folders)\/./;

/** Neither the project nor a temporary folder. */
export function isElsewhere(path: string, { place }: Scope): boolean {
  return !isUnknown(path) && !isInside(path, place.workspace) && !TEMPORARY.test(path);
}
