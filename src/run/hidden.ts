import { existsSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseDuration } from "../duration.js";
import { orElse, RalphError } from "../errors.js";
import { which } from "../process/which.js";
import { CHECK_TIMEOUT_MS, duration, invalid } from "../settings/limits.js";
import { BASE_FILE, LOCAL_FILE, type LoadedSettings } from "../settings/load.js";
import type { HiddenCheck } from "../verify/hidden.js";
import { git, namesIn } from "../workspace/git.js";
import type { RunRequest, RunSpec } from "./spec.js";

type HiddenFlags = Pick<RunRequest, "hiddenChecks" | "projectChecks" | "checkTimeout">;

/** The hidden checks of the settings, then those of the command line. */
export function hiddenChecksOf(
  given: HiddenFlags,
  { settings }: Pick<LoadedSettings, "settings">,
): HiddenCheck[] {
  const { hiddenChecks: commands = [], projectChecks = true, checkTimeout } = given;
  const usual = checkTimeout === undefined ? CHECK_TIMEOUT_MS : duration("--check-timeout", checkTimeout);
  if (commands.some((command) => command.trim() === "")) throw invalid("--hidden-check", '""', "a command");
  const known = projectChecks ? (settings.hiddenChecks ?? []) : [];
  const own = known.map((check): HiddenEntry => {
    const { name, command, timeout = "" } = typeof check === "string" ? { command: check } : check;
    return { name, command, timeoutMs: parseDuration(timeout) ?? usual };
  });
  const all = [...own, ...commands.map((command): HiddenEntry => ({ command, timeoutMs: usual }))];
  // Those in a sandbox count there, and the setup may bring some.
  const isOnPath = settings.sandbox?.checks !== true && settings.setup === undefined;
  for (const check of all) refuseMissing(check, isOnPath);
  const different = all.filter(({ command }, at) => all.findIndex((one) => one.command === command) === at);
  const named = different.map((check, at) => ({ ...check, name: check.name ?? `hidden check ${at + 1}` }));
  const twice = named.find(({ name }, at) => named.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined) throw invalid("hiddenChecks", twice.name, "a unique name");
  return named;
}

type HiddenEntry = Omit<HiddenCheck, "name"> & { name?: string | undefined };

/** `sh /opt/checks/all.sh` */
const FILE = /^\s*((?:sh|bash|zsh|node|python3?|ruby|perl|deno|bun)\s+)?(\/[^\s;&|<>()$`*?'"]+)(?=\s|$)/;
/** `cargo test` */
const PROGRAM = /^\s*([\w.+-]+)(?=\s|$)/;

const SHELL_WORDS = new Set(
  "if while until for case test cd exit set unset export eval exec trap wait read echo printf type command umask ulimit true false kill pwd local readonly return shift times . alias".split(
    " ",
  ),
);

/** One that can never pass. A file with an absolute path exists already: no agent has to make it. */
function refuseMissing({ command, name = "a hidden check" }: HiddenEntry, isOnPath: boolean): void {
  const refuse = (why: string): never => {
    throw new RalphError(`${name} cannot run: ${why}`, { code: "hidden_check_missing" });
  };
  // A comment exits 0 and checks nothing.
  if (command.split("\n").every((line) => /^\s*(#|$)/.test(line))) refuse("its command is a comment");
  const [, shell, file] = FILE.exec(command) ?? [];
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== undefined && stat === undefined) refuse(`its file is missing: ${file}`);
  if (shell === undefined && stat?.isDirectory()) refuse(`it is a folder: ${file}`);
  const [, program] = PROGRAM.exec(command) ?? [];
  if (program === undefined || !isOnPath || SHELL_WORDS.has(program)) return;
  if (which(program, "/").status !== "found") refuse(`${program} is not on PATH`);
}

/** What the spec of a run keeps of its hidden checks. */
export async function keptOf(checks: HiddenCheck[]): Promise<Pick<RunSpec, "hidden">> {
  if (checks.length === 0) return {};
  const { sha256 } = await import("../receipts/statement.js");
  return { hidden: checks.map(({ name, command }) => ({ name, sha256: sha256(command) })) };
}

/** The hidden checks that a run began with, matched with those that are given now. */
export async function foundAgain(
  { id, hidden: kept = [] }: Pick<RunSpec, "id" | "hidden">,
  given: HiddenFlags,
  loaded: Pick<LoadedSettings, "settings">,
  again = `ralph resume ${id}`,
): Promise<HiddenCheck[]> {
  const now = hiddenChecksOf(given, loaded);
  if (kept.length === 0 && now.length === 0) return [];
  const { sha256 } = await import("../receipts/statement.js");
  const found = kept.map(({ name, sha256: digest }) => {
    const check = now.find(({ command }) => sha256(command) === digest);
    return check && { ...check, name };
  });
  const missing = kept.filter((_, at) => found[at] === undefined);
  if (missing.length > 0)
    throw new RalphError(
      `run ${id} needs the command of ${missing.map(({ name }) => name).join(", ")}, which ralph stores in no file`,
      { code: "hidden_check_gone", hint: `give it again: ${again} --hidden-check COMMAND` },
    );
  const isKnown = (command: string): boolean => found.some((check) => check?.command === command);
  const strange = given.hiddenChecks?.some((command) => !isKnown(command));
  if (strange)
    throw new RalphError(`--hidden-check: run ${id} began without it`, {
      code: "flag_invalid",
      hint: "start a new run with it",
    });
  return found.filter((check) => check !== undefined);
}

/** Paths that a sandbox hides: those that hidden checks name, and settings with their commands. */
export async function hiddenFiles(
  checks: HiddenCheck[],
  { workspace, config }: Pick<RunSpec, "workspace" | "config">,
  { home, ralphHome, needed }: { home: string; ralphHome: string; needed: string[] },
): Promise<string[]> {
  if (checks.length === 0) return [];
  const words = checks.flatMap(({ command }) => command.split(/[\s;&|<>()`'"=]+/));
  const paths = words.map((word) => word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, home));
  const named = paths.filter((path) => path.includes("/")).map((path) => resolve(workspace, path));
  const holds = (folder: string, path: string): boolean =>
    `${path}/`.startsWith(`${folder}/`.replace("//", "/"));
  const mayGo = (path: string): boolean =>
    !SYSTEM.test(`${path}/`) &&
    !holds(workspace, path) &&
    ![workspace, home, ralphHome, tmpdir(), ...needed].some((one) => holds(path, one));
  // What lies beside a file is most likely a part of the check, unless these are programs.
  const files = named
    .filter((path) => existsSync(path))
    .map((path) => (mayGo(dirname(path)) && basename(dirname(path)) !== "bin" ? dirname(path) : path));
  const settings = [BASE_FILE, LOCAL_FILE, ...(config === undefined ? [] : [config])];
  const own = await untrackedOf(
    workspace,
    settings.map((name) => resolve(workspace, name)),
  );
  const user = join(ralphHome, "settings.json");
  return [...new Set([...(existsSync(user) ? [user] : []), ...own, ...files.filter(mayGo)])];
}

const SYSTEM = /^\/(?:[^/]*\/)?$|^\/(?:usr|bin|sbin|lib\w*|etc|dev|proc|sys|nix)\//;

/** Files with hidden checks, outside of the project or unknown to git: of a tracked one every clone has a copy. */
async function untrackedOf(workspace: string, files: string[]): Promise<string[]> {
  const hasSome = (file: string): boolean =>
    orElse(() => readFileSync(file, "utf8").includes("hiddenChecks"), false);
  const found = files.filter(hasSome);
  const inside = found.filter((file) => `${file}/`.startsWith(`${workspace}/`));
  if (inside.length === 0) return found;
  const { stdout } = await git(workspace, ["ls-files", "-z", "--", ...inside]);
  const tracked = namesIn(stdout).map((name) => resolve(workspace, name));
  return found.filter((file) => !tracked.includes(file));
}

/** Warns of places where agents could read the commands. */
export function readableSettings({ files }: LoadedSettings, workspace: string): string[] {
  const own = files.filter(({ content }) => Reflect.has(Object(content), "hiddenChecks"));
  const isInside = (name: string): boolean => !relative(workspace, resolve(workspace, name)).startsWith("..");
  return own
    .filter(({ name }) => !name.startsWith("~") && isInside(name))
    .map(
      ({ name }) =>
        `hiddenChecks are in ${name}, where agents can read them: keep them in ~/.ralph/settings.json, or give --hidden-check`,
    );
}
