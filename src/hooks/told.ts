import { closeSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../errors.js";
import { ralphHome } from "../state/home.js";
import type { Threshold } from "./alerts.js";

/**
 * Remembers on disk what a session was told: one empty file for each threshold. Of hooks that run at the same
 * time one makes the file; a link in its place is not followed.
 */
export function isFirst(session: string, threshold: Threshold, env: NodeJS.ProcessEnv): boolean {
  const folder = folderOf(session, env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).some((told) => Number(told) >= threshold)) return false;
  try {
    closeSync(openSync(join(folder, String(threshold)), "wx", 0o600));
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Forgets this session and no other. */
export function forget(session: string, env: NodeJS.ProcessEnv): void {
  rmSync(folderOf(session, env), { recursive: true, force: true });
}

const MAX_NAME_CHARS = 200;

/** The prefix keeps `..` a name like any other. */
function folderOf(session: string, env: NodeJS.ProcessEnv): string {
  const name = `session-${encodeURIComponent(session)}`;
  if (name.length > MAX_NAME_CHARS) throw new Error("the session id is too long");
  return join(ralphHome(env), "hooks", name);
}
