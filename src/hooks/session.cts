import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ralphHome } from "../state/ralph-home.cjs";

/**
 * What one hook remembers of a session: empty files in a folder of its own below ralph's home. Of hooks that run at
 * the same time one makes a file, and a link in its place is not followed.
 */
export interface Session {
  /** What was set so far. */
  marks(): string[];
  /** false: it was there. */
  set(mark: string): boolean;
  /** Forgets this, and nothing of another session. */
  forget(): void;
}

export function openSession(kind: "context" | "stop", id: string, env: NodeJS.ProcessEnv): Session {
  const folder = folderOf(kind, id, env);
  return {
    marks() {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return readdirSync(folder);
    },
    set: (mark) => createFile(join(folder, mark)),
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function createFile(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
    throw error;
  }
}

const MAX_NAME_CHARS = 200;

/** The prefix keeps `..` a name like any other. */
function folderOf(kind: string, id: string, env: NodeJS.ProcessEnv): string {
  const name = `${kind}-${encodeURIComponent(id)}`;
  if (name.length > MAX_NAME_CHARS) throw new Error("the session id is too long");
  return join(ralphHome(env), "hooks", name);
}
