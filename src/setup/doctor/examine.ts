import { existsSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describeSystemError, RalphError } from "../../errors.js";
import { unwritableHome } from "../../records/home.js";
import { redactDeep } from "../../records/redact.js";
import { sandboxOf } from "../../sandbox/choose.js";
import type { Availability } from "../../sandbox/sandbox.js";
import { checkWorkspace, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { checkScm } from "../../workspace/scm.js";
import { examineAgents } from "./agents.js";
import {
  asAdmin,
  ask,
  askVersion,
  asRefusal,
  type DoctorContext,
  type DoctorFinding,
  installCommand,
  type ProgramAnswer,
  programPath,
  refused,
  TIMEOUT_MS,
} from "./context.js";

/** In the order they are shown; agents are the slowest to answer. */
const EXAMINATIONS = {
  settings: examineSettings,
  git: examineGit,
  system: examineSystem,
  sandboxes: examineSandboxes,
  agents: examineAgents,
  github: async ({ forge, workspace, stop }) => (await forge?.(workspace, stop)) ?? [],
} satisfies Record<string, (context: DoctorContext) => Promise<DoctorFinding[]>>;

/** Starts everything at once. Never fails: what cannot be examined is a finding. */
export function examine(context: DoctorContext): { group: string; findings: Promise<DoctorFinding[]> }[] {
  return Object.entries(EXAMINATIONS).map(([group, run]) => ({
    group,
    findings: run(context)
      .catch((error: unknown): DoctorFinding[] => {
        const message = `cannot examine it: ${describeSystemError(error)}`;
        return [{ name: group, status: "problem", message, fix: "this is a bug in ralph: please report it" }];
      })
      .then((findings) => redactDeep(findings, context.redact)),
  }));
}

export async function examineSettings({
  settings: loaded,
  workspace,
  env,
}: DoctorContext): Promise<DoctorFinding[]> {
  if (loaded instanceof RalphError) return [invalid("files", loaded)];
  const { scm } = loaded.settings;
  const files = loaded.files.map(({ name }) => name);
  const message = files.length === 0 ? "none: ralph uses the defaults" : `valid: ${files.join(", ")}`;
  const found: DoctorFinding = { name: "files", status: "ok", message, files };
  if (scm === undefined) return [found];
  try {
    checkScm(workspace, scm, env);
    return [found, { name: "scm", status: "ok", message: `${scm.command}: ${scm.tasks.join(", ")}` }];
  } catch (error) {
    return [found, invalid("scm", asRefusal(error))];
  }
}

function invalid(name: string, error: RalphError): DoctorFinding {
  return { fix: "correct the file and run ralph doctor again", ...refused(name, "problem", error) };
}

const KINDS = ["srt", "docker"] as const;

/** What could shut an agent in, as `--sandbox` would find it. One that works is enough. */
export async function examineSandboxes(context: DoctorContext): Promise<DoctorFinding[]> {
  const { env, workspace, platform, stop, settings } = context;
  const asked = { env, workspace, platform, timeoutMs: TIMEOUT_MS, stop };
  const found = await Promise.all(KINDS.map(async (kind) => (await sandboxOf(kind)).find(asked)));
  const works = found.some(({ status }) => status === "works");
  const wanted = "settings" in settings ? settings.settings.sandbox?.kind : undefined;
  return KINDS.map((name, index): DoctorFinding => {
    const one = found[index] as Availability;
    if (one.status === "works")
      return { name, status: "ok", installed: true, message: `works (${one.about})` };
    const installed = one.status === "broken";
    const message = installed ? `does not work here: ${one.why}` : `not installed: ${one.why}`;
    const fix = FIXES[name](context, one);
    if (name === wanted)
      return { name, status: "problem", installed, message: `${message}; the settings ask for it`, fix };
    // Another one works: what is wrong with this one need not be mended.
    if (works) return { name, status: "ok", installed: false, message: `not needed, and ${message}` };
    const alone = "no other sandbox works: agents can reach everything that you can";
    if (index === 0) return { name, status: "warning", installed, message: `${message}; ${alone}`, fix };
    return installed
      ? { name, status: "warning", installed, message, fix }
      : { name, status: "ok", installed, message };
  });
}

const FIXES: Record<
  (typeof KINDS)[number],
  (context: DoctorContext, found: Exclude<Availability, { status: "works" }>) => string
> = {
  srt(context, { status, packages, fix }) {
    if (packages !== undefined) return installCommand(context, packages.join(" "));
    if (status === "missing" || context.platform !== "linux") return fix;
    const ubuntu = asAdmin(context, "sysctl kernel.apparmor_restrict_unprivileged_userns=0");
    return `allow user namespaces (Ubuntu: ${ubuntu}; a container: start it with more privileges)`;
  },
  docker(context, { why, fix }) {
    if (why.includes("permission denied")) return "sudo usermod -aG docker $USER, then log in again";
    if (!/daemon|not running/i.test(why)) return fix;
    return context.platform === "darwin" ? "open -a Docker" : asAdmin(context, "systemctl start docker");
  },
};

export async function examineSystem(context: DoctorContext): Promise<DoctorFinding[]> {
  const own = join(context.workspace, RUNTIME_FOLDER);
  const isThere = statSync(own, { throwIfNoEntry: false })?.isDirectory();
  // Where the next run is kept: the folder above may be writable when this one is not.
  const records = tryToWrite(`${context.records}/runs`);
  const project = tryToWrite(isThere ? own : context.workspace);
  const path = context.records;
  return [
    nodeFinding(context),
    await tmuxFinding(context),
    records.error === undefined
      ? roomFinding("records", path, records)
      : { ...refused("records", "problem", unwritableHome(path, records.error)), path },
    projectFinding(context, project),
  ];
}

export function nodeFinding({ node: { version, path, needed } }: DoctorContext): DoctorFinding {
  const base = { name: "node", version, path };
  const rank = (text: string): number => {
    const [major = 0, minor = 0] = (text.match(/\d+/g) ?? []).map(Number);
    return major * 1000 + minor;
  };
  if (rank(version) >= rank(needed)) return { ...base, status: "ok", message: `${version} at ${path}` };
  const message = `${version} at ${path} is too old: ralph needs ${needed}`;
  return { ...base, status: "problem", message, fix: "install a newer Node.js: https://nodejs.org" };
}

async function tmuxFinding(context: DoctorContext): Promise<DoctorFinding> {
  const path = programPath(context, "tmux");
  const warning = { name: "tmux", status: "warning" as const, fix: installCommand(context, "tmux") };
  if (path === undefined) {
    const message = "not installed: workers need it (ralph spawn)";
    return { ...warning, message, installed: false };
  }
  const answer = await askVersion(context, path, "-V");
  const base = { installed: true, path };
  if (answer.status !== "answered") return { ...warning, ...base, message: `tmux -V: ${answer.why}` };
  const { version } = answer;
  return { name: "tmux", ...base, status: "ok", message: `${version} at ${path}`, version };
}

/** The result of writing a file to a folder, or to its nearest existing parent. */
interface Trial {
  error?: unknown;
  freeBytes: number;
}

/** Leaves nothing behind. */
function tryToWrite(folder: string): Trial {
  const parent = dirname(folder);
  if (!existsSync(folder) && parent !== folder) return tryToWrite(parent);
  try {
    const { bavail, bsize } = statfsSync(folder);
    const own = mkdtempSync(join(folder, ".ralph-doctor-"));
    try {
      writeFileSync(join(own, "file"), "x");
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
    return { freeBytes: bavail * bsize };
  } catch (error) {
    return { error, freeBytes: 0 };
  }
}

function projectFinding({ workspace: path }: DoctorContext, trial: Trial): DoctorFinding {
  try {
    checkWorkspace(path);
  } catch (error) {
    return { ...refused("project", "problem", asRefusal(error)), path };
  }
  if (trial.error === undefined) return roomFinding("project", path, trial);
  const message = `cannot write to ${path}: ${describeSystemError(trial.error)}`;
  const fix = "make it writable, or run ralph in another checkout";
  return { name: "project", status: "problem", message, path, fix };
}

const GB = 1e9;
const MB = 1e6;

export function roomFinding(name: string, path: string, { freeBytes }: Trial): DoctorFinding {
  const free = freeBytes < GB ? `${Math.floor(freeBytes / MB)} MB` : `${(freeBytes / GB).toFixed(1)} GB`;
  const base = { name, message: `${path}, ${free} free`, path, freeBytes };
  if (freeBytes >= GB) return { ...base, status: "ok" };
  return { ...base, status: freeBytes < 100 * MB ? "problem" : "warning", fix: "free space on it" };
}

/** Git, the repository around this folder, and what a commit needs. */
export async function examineGit(context: DoctorContext): Promise<DoctorFinding[]> {
  const path = programPath(context, "git");
  if (path === undefined) {
    const message = "not installed: ralph cannot tell which files changed, nor commit them";
    const fix = installCommand(context, "git");
    return [{ name: "git", status: "warning", message, fix, installed: false }];
  }
  const git = (...args: string[]): Promise<ProgramAnswer> => ask(context, path, args);
  const identity = ["-c", "user.useConfigOnly=true", "var"];
  const [version, top, head, author, committer] = await Promise.all([
    askVersion(context, path),
    git("rev-parse", "--show-toplevel"),
    git("rev-parse", "--verify", "--short", "HEAD"),
    git(...identity, "GIT_AUTHOR_IDENT"),
    git(...identity, "GIT_COMMITTER_IDENT"),
  ]);
  const program = { name: "git", installed: true, path };
  return [
    version.status === "answered"
      ? { ...program, status: "ok", message: `${version.version} at ${path}`, version: version.version }
      : { ...program, status: "warning", message: `git --version: ${version.why}`, fix: "reinstall git" },
    repository(top, context),
    ...(top.status === "answered" ? [commit(head)] : []),
    committer.status === "answered" ? who(author) : who(committer),
  ];
}

function repository(top: ProgramAnswer, { workspace }: DoctorContext): DoctorFinding {
  const name = "repository";
  if (top.status === "answered") {
    const path = top.text.trim();
    return { name, status: "ok", message: path, path };
  }
  const isNone = top.why.includes("not a git repository");
  const isForeign = top.why.includes("dubious ownership");
  const trust = `git config --global --add safe.directory ${workspace}`;
  return {
    name,
    status: "warning",
    message: isNone
      ? "this folder is not in a git repository: you could not undo anything"
      : `git does not read it: ${top.why}`,
    fix: isNone ? "git init" : isForeign ? trust : "git status shows more",
  };
}

function commit(head: ProgramAnswer): DoctorFinding {
  if (head.status === "answered") return { name: "commit", status: "ok", message: head.text.trim() };
  const message = "no commit yet: ralph has nothing to compare with";
  return { name: "commit", status: "warning", message, fix: 'git add -A && git commit -m "First commit"' };
}

function who(person: ProgramAnswer): DoctorFinding {
  const name = "identity";
  if (person.status === "answered")
    return { name, status: "ok", message: person.text.replace(/>.*\s*$/, ">") };
  return {
    name,
    status: "warning",
    message: "user.name or user.email is not set, and commits need both",
    fix: 'git config --global user.name "Your Name" && git config --global user.email you@example.com',
  };
}
