import { join } from "node:path";
import type { Patterns } from "../../patterns.js";
import { git } from "../git.js";
import type { Seen } from "./look.js";

/** Files that git ignores are caches and the like, unless a pattern is exactly their name. */
export async function ignoredFiles(
  seen: Iterable<Seen>,
  patterns: Patterns,
  workspace: string,
): Promise<Set<string>> {
  const asked = [...seen].filter(
    ({ shown, real }) => !patterns.name(shown) && real === join(workspace, shown),
  );
  if (asked.length === 0) return new Set();
  const stdin = asked.map(({ shown }) => `${shown}\0`).join("");
  const { stdout } = await git(workspace, ["check-ignore", "--stdin", "-z"], { stdin });
  const names = stdout.split("\0").filter(Boolean);
  return new Set(names.map((name) => join(workspace, name)));
}
