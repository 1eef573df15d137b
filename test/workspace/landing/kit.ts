import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../kit.js";

/** All that is the user's: files, ignored ones, too, the index, the stash, what is checked out, and branches. */
export function everythingOf(p: Project, branches = "main"): unknown {
  return {
    files: filesIn(p.dir),
    index: p.sh("git ls-files --stage -v"),
    head: p.sh("git symbolic-ref -q HEAD || git rev-parse HEAD"),
    stash: p.sh("git stash list"),
    branches: p.sh(`git for-each-ref refs/heads/${branches} refs/tags refs/stash`),
  };
}

function filesIn(folder: string, above = ""): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of readdirSync(folder)) {
    if (name === ".git") continue;
    const path = join(folder, name);
    const stat = lstatSync(path);
    if (stat.isDirectory()) Object.assign(all, filesIn(path, `${above}${name}/`));
    else {
      const content = stat.isSymbolicLink() ? readlinkSync(path) : readFileSync(path);
      all[`${above}${name}`] = `${stat.mode} ${createHash("sha256").update(content).digest("hex")}`;
    }
  }
  return all;
}
