import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ralphHome } from "../records/ralph-home.cjs";

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
      makeFolder(folder);
      return readdirSync(folder);
    },
    set: (mark) => createFile(join(folder, mark)),
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Node's own way of making those above it goes round forever below `/proc`. */
function makeFolder(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // A hook that runs at the same time was quicker.
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
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
