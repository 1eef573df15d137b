import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { PACKAGE_FOLDER } from "../package-folder.cjs";
import { type AllowedCommands, readAllowedCommands } from "./allowed-commands.js";

/** Where a command would run. */
export interface Site {
  cwd: string;
  home: string;
  /** The project: the nearest folder above with `.git`, else `cwd`. */
  workspace: string;
  ralphHome: string;
  /** Where ralph itself is installed. */
  ralphItself: string;
  allowed: AllowedCommands;
}

export function siteAt(folder: string, homes: Pick<Site, "home" | "ralphHome">): Site {
  const cwd = resolve(folder);
  const workspace = projectOf(cwd, homes.home);
  return { cwd, ...homes, workspace, ralphItself: PACKAGE_FOLDER, allowed: readAllowedCommands(workspace) };
}

function projectOf(cwd: string, home: string): string {
  for (let folder = cwd; folder !== dirname(folder) && folder !== home; folder = dirname(folder)) {
    if (existsSync(`${folder}/.git`)) return folder;
  }
  return cwd;
}
