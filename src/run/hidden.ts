import { existsSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseDuration } from "../duration.js";
import { RalphError } from "../errors.js";
import { CHECK_TIMEOUT_MS, duration, invalid } from "../settings/limits.js";
import type { LoadedSettings } from "../settings/load.js";
import type { HiddenCheck } from "../verify/hidden.js";
import type { RunRequest, RunSpec } from "./spec.js";

type Given = Pick<RunRequest, "hiddenChecks" | "projectChecks" | "checkTimeout">;

/** The hidden checks of the settings, then those of the command line. */
export function hiddenChecksOf(given: Given, { settings }: Pick<LoadedSettings, "settings">): HiddenCheck[] {
  const { hiddenChecks: commands = [], projectChecks = true, checkTimeout } = given;
  const usual = checkTimeout === undefined ? CHECK_TIMEOUT_MS : duration("--check-timeout", checkTimeout);
  const known = projectChecks ? (settings.hiddenChecks ?? []) : [];
  const own = known.map((check): HiddenCheck => {
    const { name, command, timeout = "" } = typeof check === "string" ? { command: check } : check;
    return { name, command, timeoutMs: parseDuration(timeout) ?? usual };
  });
  commands.forEach(refuseNothing);
  const all = [...own, ...commands.map((command) => ({ command, timeoutMs: usual }))];
  all.forEach(refuseMissing);
  return all.filter(({ command }, at) => all.findIndex((one) => one.command === command) === at);
}

function refuseNothing(command: string): void {
  if (command.trim() === "") throw invalid("--hidden-check", '""', "a command");
  // A comment exits 0 and checks nothing.
  if (command.split("\n").every((line) => /^\s*(#|$)/.test(line)))
    throw invalid("--hidden-check", "#", "a command, and this is a comment");
}

/** `sh /opt/checks/all.sh` */
const PROGRAM = /^\s*(?:(?:sh|bash|zsh|node|python3?|ruby|perl|deno|bun)\s+)?(\/[^\s;&|<>()$`*?'"]+)(?=\s|$)/;

/** A program with an absolute path exists already: no agent has to make it. */
function refuseMissing({ command, name = "a hidden check" }: HiddenCheck): void {
  const file = PROGRAM.exec(command)?.[1];
  if (file === undefined || existsSync(file)) return;
  throw new RalphError(`${name} cannot run: its file is missing: ${file}`, { code: "hidden_check_missing" });
}

/** What the spec of a run keeps of its hidden checks. */
export async function keptOf(checks: HiddenCheck[]): Promise<Pick<RunSpec, "hidden">> {
  if (checks.length === 0) return {};
  const { hiddenName } = await import("../verify/hidden.js");
  const { sha256 } = await import("../receipts/statement.js");
  return {
    hidden: checks.map((check, index) => ({ name: hiddenName(check, index), sha256: sha256(check.command) })),
  };
}

/** The hidden checks that a run began with, matched with those that are given now. */
export async function foundAgain(
  { id, hidden: kept = [] }: Pick<RunSpec, "id" | "hidden">,
  given: Given,
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
      `run ${id} needs the command of ${missing.map(({ name }) => name).join(", ")}, which ralph keeps in no file`,
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

/** Files outside of the project that a sandbox hides: those that hidden checks name, and the user's own settings. */
export function hiddenFiles(checks: HiddenCheck[], workspace: string, home: string): string[] {
  if (checks.length === 0) return [];
  const named = checks.flatMap(({ command }) => command.match(/(?<![^\s='"])\/[^\s;&|<>()$`*?'"]+/g) ?? []);
  const isApart = (path: string): boolean =>
    !/^\/(?:usr|bin|sbin|lib\w*|etc|dev|proc|sys|nix)\//.test(path) &&
    !`${path}/`.startsWith(`${workspace}/`);
  const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return [join(home, "settings.json"), ...named.filter(isApart)].filter(isFile);
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
