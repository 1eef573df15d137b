import { existsSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { relative, resolve } from "node:path";
import { RalphError } from "../errors.js";
import { checkName } from "../records/home.js";
import { createRedactor, nameSecrets, redactDeep } from "../records/redact.js";
import { newRunId } from "../records/runs.js";
import type { RunRequest } from "../run/spec.js";
import { nameFor } from "../run/target.js";
import { invalid, wholeNumber } from "../settings/limits.js";
import type { Settings } from "../settings/schema.js";
import { withoutPassword } from "../workspace/credentials.js";
import { git, headCommit, repositoryRoot } from "../workspace/git.js";
import { oneLine } from "../workspace/worktree/worktree.js";
import { JOB_VERSION, type JobData, MOST_PRIORITY } from "./job.js";
import { refsOf } from "./remote.js";

export interface SubmitFlags {
  repo?: string;
  priority?: string;
  tag?: string[];
}

const TAG = /^[A-Za-z0-9][\w.-]*$/;

/** Makes a job of a run that is asked for. Everything that can be wrong is found here, before it is submitted. */
export async function jobFor(
  { origin, worktree, name: given, config, agent, ...request }: RunRequest,
  { repo, priority = "0", tag: tags = [] }: SubmitFlags,
  { agent: usual }: Settings,
): Promise<JobData> {
  for (const tag of tags) checkTag(tag);
  const root = repositoryRoot(origin);
  if (root === undefined)
    throw new RalphError(`not a git repository: ${origin}`, {
      code: "not_a_repository",
      hint: "a job starts from the commit of a checkout: submit it from there",
    });
  const base = await headCommit(origin);
  if (base === undefined)
    throw new RalphError("this repository has no commit", { code: "no_commit", hint: "commit and push" });
  const remote = await remoteFor(root, repo);
  const heads = await headsOf(root, remote);
  await requirePushed(root, remote, base, heads);
  const now = new Date();
  const id = newRunId(now);
  const name = given ?? (typeof worktree === "string" ? worktree : nameFor(request.title, id));
  const branch = `ralph/${checkName(name)}`;
  const taken = Object.values(refsOf({ branch, request })).find((ref) => heads.has(ref));
  if (taken !== undefined)
    throw new RalphError(`the branch ${taken.replace("refs/heads/", "")} is there already: ${remote}`, {
      code: "branch_taken",
      hint: "--name NAME chooses another one",
    });
  const choice = "words" in agent ? agent : { ...agent, agent: agent.agent ?? usual?.command };
  const asked = { ...request, agent: choice, name, worktree: false, config: configIn(root, config) };
  return {
    ...{ v: JOB_VERSION, id, createdAt: now.toISOString(), name, remote, base, branch, tags },
    folder: relative(root, origin),
    priority: wholeNumber("--priority", priority, 0, MOST_PRIORITY),
    by: `${userInfo().username}@${hostname()}`,
    request: withoutSecrets(asked),
  };
}

export function checkTag(tag: string): string {
  if (TAG.test(tag)) return tag;
  throw invalid("--tag", JSON.stringify(tag), "letters, digits, dots, dashes and underscores");
}

async function remoteFor(root: string, given: string | undefined): Promise<string> {
  const said = given ?? (await git(root, ["remote", "get-url", "origin"])).stdout.trim();
  if (said === "")
    throw new RalphError("this repository has no remote origin", {
      code: "remote_unknown",
      hint: "--repo URL names one",
    });
  refusePassword(said);
  // A folder is one for workers, too, where they see the same disk.
  return !/^[\w.-]+@|:\/\//.test(said) && existsSync(resolve(root, said)) ? resolve(root, said) : said;
}

export function refusePassword(remote: string): void {
  if (withoutPassword(remote) === remote) return;
  throw new RalphError("the address of the remote holds a password", {
    code: "remote_secret",
    hint: "workers have credentials of their own: give the address without it, as --repo URL",
  });
}

/** The branches of the remote. */
async function headsOf(root: string, remote: string): Promise<Map<string, string>> {
  const listed = await git(root, ["ls-remote", "--heads", "--", remote]);
  if (!listed.ok)
    throw new RalphError(`cannot reach ${remote}: ${oneLine(listed.stderr, "; ")}`, {
      code: "remote_failed",
    });
  const lines = listed.stdout.split("\n").filter(Boolean);
  return new Map(lines.map((line) => line.split("\t").reverse() as [string, string]));
}

async function requirePushed(
  root: string,
  remote: string,
  base: string,
  heads: Map<string, string>,
): Promise<void> {
  const isIn = async (commit: string): Promise<boolean> =>
    (await git(root, ["merge-base", "--is-ancestor", base, commit])).ok;
  const commits = [...new Set(heads.values())];
  if (commits.includes(base)) return;
  // What others have pushed may not be here yet.
  await git(root, ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, "refs/heads/*"]);
  for (const commit of commits) if (await isIn(commit)) return;
  throw new RalphError(`the commit ${base.slice(0, 12)} is not on ${remote}`, {
    code: "base_not_pushed",
    hint: "push it first: workers start from there",
  });
}

function configIn(root: string, config: string | undefined): string | undefined {
  if (config === undefined) return undefined;
  const path = relative(root, resolve(config));
  if (!path.startsWith("..")) return path;
  throw new RalphError(`--config ${config}: workers have only what is in the repository`, {
    code: "flag_invalid",
  });
}

/** Variables are named, and workers put in their own; a token that stands in none of them is refused. */
function withoutSecrets<Value>(value: Value): Value {
  const named = redactDeep(value, nameSecrets(process.env));
  if (JSON.stringify(redactDeep(named, createRedactor({}))) === JSON.stringify(named)) return named;
  throw new RalphError("the job would hold a token", {
    code: "secret_in_job",
    hint: "put it in a variable of the workers, and name the variable",
  });
}
