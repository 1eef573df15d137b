import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ACTIVE_FILE, prepareRuntimeFolder, RUNTIME_FOLDER } from "../workspace/runtime.js";
import { isThere, type Place } from "./places.js";
import type { SandboxPlace } from "./sandbox.js";

/** What other programs of the user obey. git outside would obey a new repository, too. */
const OBEYED = [
  ".agents",
  ".amp",
  ".claude",
  ".codex",
  ".cursor",
  ".devcontainer",
  ".devcontainer.json",
  ".gemini",
  ".husky",
  ".idea",
  ".mcp.json",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
  ".vscode",
  ".windsurf",
  ".zed",
  ACTIVE_FILE,
  "ralph/allowed-commands.txt",
];

/** Paths of the workspace that stay as they are, and those that are missing stay missing. */
export function alwaysKept(workspace: string): string[] {
  return [...OBEYED, RUNTIME_FOLDER, ".git/hooks", ".git/config"].map((name) => join(workspace, name));
}

export function protectedFiles(workspace: string): string[] {
  return [...OBEYED, RUNTIME_FOLDER].map((name) => join(workspace, name)).filter(isThere);
}

/** Paths of the workspace that must not come to be. */
export function heldPlaces({ workspace, agents }: Pick<SandboxPlace, "workspace" | "agents">): Place[] {
  prepareRuntimeFolder(workspace);
  const paths = [...OBEYED, ".git"].map((name) => join(workspace, name));
  const read = agents.flatMap(({ needs }) => needs?.reads ?? []).map((name) => join(workspace, name));
  const placeAt = (path: string): Place => {
    if (isLink(path)) return { path, link: readlinkSync(path) };
    return read.includes(path) ? { path, isWatched: true } : { path };
  };
  return paths.filter((path) => !isBehindLink(path, workspace)).map(placeAt);
}

/** What is made there would land elsewhere. */
export function isBehindLink(path: string, workspace: string): boolean {
  const above = dirname(path);
  return above.startsWith(`${workspace}/`) && (isLink(above) || isBehindLink(above, workspace));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
