import type { Captured } from "../../process/capture.js";
import { SOMEBODY } from "../git.js";
import { RUNTIME_FILES } from "../runtime.js";
import { type Staged, stage } from "../stage.js";
import { leaveOtherBranch } from "./follow-head.js";
import { notIgnored } from "./included.js";
import type { Git } from "./own-git.js";

interface Wanted {
  path: string;
  branch: string;
  message: string;
  copied: string[];
}

export interface Committed {
  found: boolean;
  failures: string[];
  /** Repositories that the agent made. */
  inner: string[];
}

/** Commits what an agent left uncommitted, but no runtime files and none of the copied. */
export async function commitLeftovers(inTree: Git, wanted: Wanted): Promise<Committed> {
  const { path, branch, message, copied } = wanted;
  const added = await addAll(path, inTree, copied);
  // An agent may have staged them.
  const cleared = await unstage(inTree, [...RUNTIME, ...copied.map(literal)]);
  const inner = added.inner.filter((folder) => !copied.some((file) => file.startsWith(`${folder}/`)));
  const failures = [...saidBy(added), ...inner.map((folder) => `${folder} is a repository of its own`)];
  // What must stay out may still be in.
  if (!cleared.ok) return { found: false, failures: saidBy(cleared), inner };
  const { ok: isEmpty } = await inTree(["diff", "--cached", "--quiet", "--ignore-submodules=none"]);
  if (isEmpty) return { found: false, failures, inner };
  return { found: true, failures: [...(await commit(inTree, branch, message)), ...failures], inner };
}

const RUNTIME = RUNTIME_FILES.flatMap((file) => [file, `${file}/**`]).map((file) => `glob)**/${file}`);
const literal = (file: string): string => `literal)${file}`;

async function addAll(path: string, inTree: Git, copied: string[]): Promise<Staged> {
  // Ignored files are not added anyway, and git complains when they are named.
  const inTheWay = await notIgnored(inTree, copied);
  const all = [".", ...[...RUNTIME, ...inTheWay.map(literal)].map((pattern) => `:(exclude,${pattern}`)];
  return stage(path, all, { git: inTree, flags: ["--sparse", "--ignore-errors"] });
}

function unstage(inTree: Git, patterns: string[]): Promise<Captured> {
  const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  const stdin = patterns.map((pattern) => `:(${pattern}\0`).join("");
  return inTree(["reset", "--quiet", ...from], { stdin });
}

async function commit(inTree: Git, branch: string, message: string): Promise<string[]> {
  const inTheWay = await leaveOtherBranch(inTree, branch);
  if (inTheWay !== undefined) return [inTheWay];
  const args = ["commit", "--quiet", "--no-verify", "--message", message];
  const asUser = await inTree(args);
  return saidBy(asUser.ok ? asUser : await inTree([...SOMEBODY, ...args]));
}

/** Nothing where all went well. */
function saidBy({ ok, stderr, stdout, spawnError }: Captured): string[] {
  return ok ? [] : [(stderr || stdout || spawnError?.message || "git failed").trim()];
}
