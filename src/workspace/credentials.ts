import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { digest } from "../records/digest.js";
import { has, makePrivateFolder, readJson, writeAtomic } from "../records/files.js";
import { livingLoops, whenFree } from "../records/lock.js";
import { git, gitFolders, lendSettings } from "./git.js";

/** What lets somebody write to a forge belongs to the user, and to ralph for its pushes: never to agents and checks. */

const WITHHELD =
  /^(?:GH_TOKEN|GITHUB_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|SSH_ASKPASS|VSCODE_GIT_\w+|GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+))$/;

/**
 * The environment of agents and checks: no token, no login of gh, no credential helper of git. `named`: variables that
 * the settings give to the agent all the same. `nowhere`: a folder that is not there.
 */
export function withoutCredentials(
  env: NodeJS.ProcessEnv,
  nowhere: string,
  named: string[] = [],
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !WITHHELD.test(name) || named.includes(name));
  // The empty helper takes away those of all files; nobody is asked in their place.
  const settings = [...settingsIn(env).filter((setting) => !isSecret(setting)), ["credential.helper", ""]];
  const given = settings.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  const own = { GH_CONFIG_DIR: nowhere, GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "" };
  return {
    ...Object.fromEntries(kept),
    ...Object.fromEntries(Object.entries(own).filter(([name]) => !(named.includes(name) && name in env))),
    ...Object.fromEntries(given),
    GIT_CONFIG_COUNT: String(settings.length),
  };
}

type Setting = [name: string, value: string];

/** Settings that variables give to git. */
function settingsIn(env: NodeJS.ProcessEnv): Setting[] {
  const count = Number(env["GIT_CONFIG_COUNT"]) || 0;
  return Array.from({ length: count }, (_, at) => [
    env[`GIT_CONFIG_KEY_${at}`] ?? "",
    env[`GIT_CONFIG_VALUE_${at}`] ?? "",
  ]);
}

/** A password, or a token in the place of the user's name. */
const PASSWORD = /(?<=:\/\/)(?:[^\s/@:]*:[^\s/@]+|gh[pousr]_\w+|github_pat_\w+|glpat-[\w-]+|[\w-]{30,})@/;

function isSecret([name, value]: Setting): boolean {
  return /^credential\.|\.?extraheader$/i.test(name) || PASSWORD.test(value) || PASSWORD.test(name);
}

/** What was taken out of a repository's own settings while runs are at work in it. */
interface Withheld {
  config: string;
  settings: Setting[];
  /** Runs that began with it taken out. */
  runs: string[];
}

/**
 * Takes passwords out of the settings of the repository that a run works in: `git config` and `git remote -v` would
 * tell them to every agent. ralph's own git goes on with them. Returns what puts them back, when no other run is left;
 * after a kill that is done by the next run, or by `ralph pr`.
 */
export async function withholdPasswords(
  home: string,
  folders: string[],
  run: string,
): Promise<() => Promise<void>> {
  const [common] = gitFolders(folders[0] ?? "");
  if (common === undefined) return async () => {};
  const config = join(common, "config");
  const file = await fileFor(home, config);
  const text = existsSync(config) ? readFileSync(config, "utf8") : "";
  // Nearly all repositories hold none.
  if (!(PASSWORD.test(text) || /extraheader/i.test(text) || existsSync(file))) return async () => {};
  makePrivateFolder(join(home, "withheld"));
  const settings = await whenFree(`${file}.lock`, async () => {
    const before = withheldIn(file) ?? { config, settings: [], runs: [] };
    const found = (await settingsOf(config)).filter(isSecret);
    const all = [...before.settings, ...found];
    // Written down first: a kill loses nothing.
    writeAtomic(file, JSON.stringify({ config, settings: all, runs: [...before.runs, run] }));
    for (const setting of found) await takeOut(config, setting);
    return all;
  });
  const returned = folders.map((folder) => lendSettings(folder, settings.map(lent)));
  return async () => {
    for (const give of returned) give();
    await returnPasswords(home, folders[0] ?? "", run);
  };
}

/** Puts back what a run had taken out, unless another one is at work. */
export async function returnPasswords(home: string, checkout: string, run?: string): Promise<void> {
  const [common] = gitFolders(checkout);
  const file = common === undefined ? "" : await fileFor(home, join(common, "config"));
  if (common === undefined || !existsSync(file)) return;
  await whenFree(`${file}.lock`, async () => {
    const known = withheldIn(file);
    if (known === undefined) return;
    const living = livingLoops(home).map((loop) => loop.run);
    const runs = known.runs.filter((one) => one !== run && living.includes(one));
    if (runs.length > 0) return writeAtomic(file, JSON.stringify({ ...known, runs }));
    for (const setting of known.settings) await putBack(known.config, setting);
    rmSync(file, { force: true });
  });
}

async function fileFor(home: string, config: string): Promise<string> {
  return join(home, "withheld", `${basename(await digest(config))}.json`);
}

function withheldIn(file: string): Withheld | undefined {
  const known = readJson(file);
  return has(known, { config: "string", settings: "array", runs: "array" })
    ? (known as unknown as Withheld)
    : undefined;
}

async function settingsOf(config: string): Promise<Setting[]> {
  const { stdout } = await git("/", ["config", "--file", config, "--list", "-z"]);
  return stdout.split("\0").flatMap((entry): Setting[] => {
    const at = entry.indexOf("\n");
    return at === -1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)]];
  });
}

const isAddress = ([name]: Setting): boolean => /^remote\..*\.(?:push)?url$/i.test(name);
const clean = (address: string): string => address.replace(PASSWORD, "");
const exactly = (value: string): string => `^${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

/** An address stays without its password; anything else has no use without it. */
async function takeOut(config: string, [name, value]: Setting): Promise<void> {
  const args = isAddress([name, value])
    ? ["--replace-all", name, clean(value), exactly(value)]
    : ["--unset-all", name, exactly(value)];
  await git("/", ["config", "--file", config, ...args]);
}

/** Unless somebody has changed it meanwhile. */
async function putBack(config: string, [name, value]: Setting): Promise<void> {
  const now = await settingsOf(config);
  const has = (wanted: string): boolean => now.some(([one, other]) => one === name && other === wanted);
  if (!isAddress([name, value])) {
    if (!has(value)) await git("/", ["config", "--file", config, "--add", name, value]);
  } else if (has(clean(value)))
    await git("/", ["config", "--file", config, "--replace-all", name, value, exactly(clean(value))]);
}

/** For ralph's own git, which works for the user. */
function lent([name, value]: Setting): Setting {
  return isAddress([name, value]) ? [`url.${value}.insteadOf`, clean(value)] : [name, value];
}
