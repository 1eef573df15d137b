import { spawnSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fingerprint } from "../../dist/workspace/fingerprint.js";
import { median } from "../workbench.mjs";

const FILES_PER_FOLDER = 200;
const GIGABYTE = 1024 ** 3;

/** Fills a project with so many untracked files, and one of 5 GB that takes no room. */
export function fillWorkspace(project, files) {
  for (let number = 0; number < files; number += 1) {
    const folder = join(project, "made", String(Math.floor(number / FILES_PER_FOLDER)));
    if (number % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${number}.txt`), `line ${number}\n`.repeat(20));
  }
  const large = join(project, "large");
  writeFileSync(large, "");
  truncateSync(large, 5 * GIGABYTE);
}

/** Looks of a loop at such a workspace, in turns with `git status`. A file is written before each of them. */
export async function looksAt(project, rounds) {
  await fingerprint(project);
  // Iterations last longer than that: git reads files that were written within the second of its last look.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const [looks, statuses] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    writeFileSync(join(project, "made", "0", "0.txt"), `round ${round}\n`);
    statuses.push(await timed(() => spawnSync("git", ["status"], { cwd: project })));
    looks.push(await timed(() => fingerprint(project)));
  }
  return { look: median(looks), status: median(statuses) };
}

async function timed(action) {
  const begun = performance.now();
  await action();
  return performance.now() - begun;
}
