import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { RalphError } from "../errors.js";
import type { Limits } from "../events.js";
import { has, refuseSpecialFile, writeAtomic } from "./files.js";
import { createRedactor, nameSecrets, redactDeep, revealSecrets } from "./redact.js";

/** What every `spec.json` tells of its run. A run needs more to be started again. */
export interface SpecRecord {
  v: 1;
  id: string;
  createdAt: string;
  workspace: string;
  /** Where it was started, if it works elsewhere. */
  origin?: string | undefined;
  /** The branch that was checked out there, by its short name; none: a detached HEAD, or no repository. */
  branch?: string | undefined;
  /** Its own worktree, if it has one: the top folder. */
  worktree?: string | undefined;
  /** What people call it. Runs of earlier releases have none. */
  name?: string | undefined;
  /** The worker whose loop it is. */
  worker?: string | undefined;
  /** Recipes keep what they were asked to do in different fields. */
  recipe: {
    kind: string;
    specFile?: string | null | undefined;
    prompt?: string | undefined;
    promptFile?: string | undefined;
    task?: string | undefined;
    dir?: string | undefined;
  };
  agent: { name: string; words: string[] };
  limits: Limits;
  /** Its hidden checks: their names, and the digests that identify their commands. */
  hidden?: { name: string; sha256: string }[] | undefined;
  /** The issue that it came from. */
  issue?: IssueLink | undefined;
  /** A worker of the fleet did it: where its work is. */
  pushed?: { remote: string; branch: string } | undefined;
  /** A token that stands in no variable was left out: the run cannot be continued as it was. */
  isIncomplete?: boolean | undefined;
}

/** An issue on a forge. */
export interface IssueLink {
  url: string;
  number: number;
  title: string;
}

/** What the run was asked to do, or the file that says it. */
export function taskOf({ recipe: { specFile, prompt, promptFile, task, dir } }: SpecRecord): string {
  return specFile ?? prompt ?? promptFile ?? task ?? (dir === undefined ? "" : `${dir}/tasks.json`);
}

const TITLE_CHARS = 72;

/** The same in one short line, such as the first of a commit message. */
export function titleOf(spec: SpecRecord): string {
  const { prompt, task, specFile } = spec.recipe;
  const text = specFile == null ? (prompt ?? task) : undefined;
  const line = text?.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  const words = line
    .replace(/^[\s#*>-]+/, "")
    .trim()
    .replace(/\s+/g, " ");
  if (words === "") return `Work on ${basename(taskOf(spec)) || spec.recipe.kind}`;
  return words.length > TITLE_CHARS ? `${words.slice(0, TITLE_CHARS - 1).trimEnd()}…` : words;
}

/** Secrets in it are kept as the names of their variables. */
export function writeSpec(file: string, spec: SpecRecord, env: NodeJS.ProcessEnv): void {
  const named = redactDeep(spec, nameSecrets(env));
  const clean = redactDeep(named, createRedactor({}));
  const isIncomplete = JSON.stringify(clean) !== JSON.stringify(named) || undefined;
  writeAtomic(file, `${JSON.stringify({ ...clean, isIncomplete }, null, 2)}\n`);
}

/** As it may be shown. The file is ralph's own and is replaced as a whole: what matters is there, or it is damaged. */
export function shownSpec(file: string, run: string): SpecRecord {
  let [value, cause]: unknown[] = [];
  try {
    refuseSpecialFile(file);
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    cause = error;
  }
  const isSpec =
    has(value, { workspace: "string", createdAt: "string", limits: "object" }) &&
    value["v"] === 1 &&
    has(value["recipe"], { kind: "string" }) &&
    has(value["agent"], { name: "string", words: "array" });
  if (isSpec) return value as unknown as SpecRecord;
  const isNewer = has(value, { v: "number" }) && Number(value["v"]) > 1;
  const what = isNewer ? "comes from a newer ralph" : "cannot be read";
  throw new RalphError(`the record of run ${run} ${what}: ${file}`, {
    code: "spec_damaged",
    hint: "start a new run; ralph keeps the old record",
    cause,
  });
}

/** As it is needed to go on: secrets are put back where the environment has them. */
export function revealedSpec<Spec extends SpecRecord>(shown: Spec, env: NodeJS.ProcessEnv): Spec {
  return redactDeep(shown, revealSecrets(env));
}

/** Throws where a secret that the run was given is gone. */
export function requireSecrets({ id, isIncomplete, ...spec }: SpecRecord & { agents?: unknown }): void {
  const missing = /\[secret:(\w+)\]/.exec(JSON.stringify([spec.recipe, spec.agent, spec.agents]))?.[1];
  if (missing === undefined && isIncomplete !== true) return;
  throw new RalphError(`run ${id} used a secret that ralph did not store`, {
    code: "secret_gone",
    hint: missing ? `set ${missing} again` : "start it again, with the secret in a variable or a file",
  });
}
