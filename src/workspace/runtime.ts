import { accessSync, constants, existsSync, lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RalphError } from "../errors.js";

/** Folder of a project for settings, and for what ralph writes there while it runs. */
export const RUNTIME_FOLDER = ".ralph";

/** Written while a loop over stories runs, for hooks and for people. Never committed. */
export const ACTIVE_FILE = ".ralph-active";

/** What is written while a loop runs is never committed. */
export const RUNTIME_FILES = [
  "*.log",
  "*.patch",
  "*-instruction.md",
  "progress.md",
  "state.md",
  "runs",
  "locks",
  "workers",
].map((name) => `${RUNTIME_FOLDER}/${name}`);

/** Makes the folder, with a `.gitignore` for the runtime files and the local settings: agents like to `git add -A`. */
export function prepareRuntimeFolder(workspace: string): void {
  const folder = join(workspace, RUNTIME_FOLDER);
  if (!isOwnFolder(workspace)) return;
  const ignore = join(folder, ".gitignore");
  if (existsSync(ignore)) return;
  // A workspace that is gone is not made again.
  if (!existsSync(folder)) mkdirSync(folder);
  const names = [
    ...RUNTIME_FILES.map((file) => file.slice(RUNTIME_FOLDER.length + 1)),
    "settings.local.json",
  ];
  try {
    writeFileSync(ignore, `${[".gitignore", ...names].join("\n")}\n`, { flag: "wx" });
  } catch {
    // Without it the logs show up in `git status`; nothing else depends on it.
  }
}

/** For files that the user asked for: a repository can bring a link in place of the folder, too. */
export function requireOwnFolder(workspace: string): void {
  if (isOwnFolder(workspace)) return;
  throw new RalphError(`${RUNTIME_FOLDER} is not a folder`, {
    code: "not_a_folder",
    hint: "remove it first",
  });
}

/** An agent can put a link in its place: what ralph writes must not land elsewhere. A folder that is not there yet is fine. */
export function isOwnFolder(workspace: string): boolean {
  const stat = lstatSync(join(workspace, RUNTIME_FOLDER), { throwIfNoEntry: false });
  return stat === undefined || stat.isDirectory();
}

/** What would fail in the middle of the night fails now. */
export function checkWorkspace(workspace: string): void {
  try {
    accessSync(workspace, constants.W_OK);
  } catch (error) {
    throw new RalphError(`the project folder is read-only: ${workspace}`, {
      code: "workspace_read_only",
      hint: "make it writable, or run ralph in another checkout",
      cause: error,
    });
  }
  const folder = join(workspace, RUNTIME_FOLDER);
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new RalphError(`${RUNTIME_FOLDER} is not a folder: ${folder}`, {
      code: "not_a_folder",
      hint: "ralph keeps settings and logs there: rename the file",
    });
  }
}
