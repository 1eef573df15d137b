import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folder of a project for settings, and for what ralph writes there while it runs. */
export const RUNTIME_FOLDER = ".ralph";

/** What is written while a loop runs is never committed. */
export const RUNTIME_FILES = ["*.log", "*.patch", "progress.md", "state.md", "runs", "locks", "workers"].map(
  (name) => `${RUNTIME_FOLDER}/${name}`,
);

/** Makes the folder, with a `.gitignore` for the runtime files and the local settings: agents like to `git add -A`. */
export function prepareRuntimeFolder(workspace: string): void {
  const folder = join(workspace, RUNTIME_FOLDER);
  const ignore = join(folder, ".gitignore");
  if (existsSync(ignore)) return;
  mkdirSync(folder, { recursive: true });
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
