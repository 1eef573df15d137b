import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ralphHome } from "../records/ralph-home.cjs";

/** What one hook remembers of a session: empty files in a folder of its own below ralph's home. */
export interface SessionMarks {
  /** What was set so far. */
  marks(): string[];
  /** false: it was set already. Of hooks that run at the same time one sets it; a link is not followed. */
  set(mark: string): boolean;
  forget(): void;
}

const MAX_NAME_CHARS = 200;

export function openSession(kind: "context" | "stop", id: string, env: NodeJS.ProcessEnv): SessionMarks {
  // The prefix keeps `..` a name like any other.
  const name = `${kind}-${encodeURIComponent(id)}`;
  if (name.length > MAX_NAME_CHARS) throw new Error("the session id is too long");
  const folder = join(ralphHome(env), "hooks", name);
  return {
    marks() {
      makeFolder(folder);
      return readdirSync(folder);
    },
    set(mark) {
      const path = join(folder, mark);
      try {
        closeSync(openSync(path, "wx", 0o600));
        return true;
      } catch (error) {
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
        throw error;
      }
    },
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Node's own `recursive` never returns below `/proc`. */
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
