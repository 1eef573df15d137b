import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { prepareRuntimeFolder, RUNTIME_FOLDER } from "../workspace/runtime.js";
import { ACTIVE_FILE } from "../workspace/uncommitted.js";

/** What other programs of the user obey, where it is there. */
const OBEYED = [".claude", ".mcp.json", ".vscode", ".idea", ".husky", ACTIVE_FILE, RUNTIME_FOLDER];
/** What must not come to be, either: git outside would obey a new repository. */
const HELD = [".claude", ".git"];

/** Paths of the workspace that stay as they are, with the places that are held. */
export function protectedFiles(workspace: string, held: string[]): string[] {
  const here = OBEYED.map((name) => join(workspace, name)).filter((path) => existsSync(path));
  return [...new Set([...here, ...held])];
}

/**
 * What is not there can only be kept away by something in its place: an empty folder, which git does not see.
 * Returns those that were made.
 */
export function holdPlaces(workspace: string): string[] {
  prepareRuntimeFolder(workspace);
  const missing = HELD.map((name) => join(workspace, name)).filter((path) => !existsSync(path));
  for (const path of missing) mkdirSync(path);
  return missing;
}

/** Takes away those that are still empty. */
export function freePlaces(places: string[]): void {
  for (const path of places) {
    try {
      rmdirSync(path);
    } catch {
      // Somebody has put something in, or it is gone.
    }
  }
}

/** A ralph that was killed may have left them behind; no repository and no settings are empty. */
export function freeLeftPlaces(workspace: string): void {
  freePlaces(HELD.map((name) => join(workspace, name)));
}
