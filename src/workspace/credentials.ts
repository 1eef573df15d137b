import { existsSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { orElse } from "../errors.js";
import { digest, has, makePrivateFolder, readJson, writeAtomic } from "../records/files.js";
import { livingLoops, whenFree } from "../records/lock.js";
import { git, gitFolders, lendSettings, namesIn, withSettings } from "./git.js";
import { type GitSetting, settingIn } from "./git-programs.js";

/** What lets somebody write to a forge, or to the engine of a fleet, belongs to the user, and to ralph for its pushes: never to agents and checks. */

const TOKEN_NAME = /^(?:G(?:H|ITHUB)(?:_ENTERPRISE)?_TOKEN|GITLAB_TOKEN)$/;
const WITHHELD = /^(?:RALPH_FLEET|SSH_ASKPASS|VSCODE_GIT_\w+|GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+))$/;
/** Of GitHub and GitLab, whatever the name of the variable. */
const TOKEN = /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,})/;

/**
 * The environment of agents and checks: no token, no login of gh, no credential helper of git. `named`: variables that
 * the settings give to the agent all the same. `nowhere`: a folder that is not there.
 */
export function withoutCredentials(
  env: NodeJS.ProcessEnv,
  nowhere: string,
  named: string[] = [],
): NodeJS.ProcessEnv {
  const isWithheld = (name: string, value = ""): boolean =>
    TOKEN_NAME.test(name) ||
    WITHHELD.test(name) ||
    TOKEN.test(value) ||
    (name === "GIT_CONFIG_PARAMETERS" && mayHoldSecrets(value));
  const kept = Object.entries(env).filter(
    ([name, value]) => !isWithheld(name, value) || named.includes(name),
  );
  const settings: Setting[] = [
    ...settingsIn(env).filter((setting) => !isSecret(setting)),
    // The empty helper takes away those of all files; nobody is asked in their place.
    ["credential.helper", ""],
    // The empty header takes away the logins of ~/.netrc, which git reads in any case.
    ...(named.some((name) => TOKEN_NAME.test(name)) ? [] : netrcSettings(env["HOME"] ?? homedir())),
  ];
  const own = { GH_CONFIG_DIR: nowhere, GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "" };
  const quiet = Object.entries(own).filter(([name]) => !(named.includes(name) && name in env));
  return withSettings(Object.fromEntries([...kept, ...quiet]), settings);
}

function netrcSettings(home: string): Setting[] {
  const text = orElse(() => readFileSync(join(home, ".netrc"), "utf8"), "");
  const hosts = [...text.matchAll(/(?:^|\s)(?:machine\s+(\S+)|default(?=\s))/g)].map(([, host]) => host);
  const names = hosts.flatMap((host) =>
    host === undefined
      ? "http.extraHeader"
      : [`http.https://${host}/.extraHeader`, `http.http://${host}/.extraHeader`],
  );
  return [...new Set(names)].map((name) => [name, "Authorization:"]);
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
  // Without the password of a proxy the agent reaches nothing.
  if (/proxy$/i.test(name)) return false;
  const isLogin = /^credential\.|\.?(?:extraheader|cookiefile)$/i.test(name);
  return isLogin || PASSWORD.test(value) || PASSWORD.test(name);
}

/** Of a whole text; nearly all repositories hold none. */
function mayHoldSecrets(text: string): boolean {
  return /credential|extraheader|cookiefile|\binclude/i.test(text) || PASSWORD.test(text);
}

const isInclude = ([name]: Setting): boolean => /^include(?:if\..*)?\.path$/is.test(name);

/**
 * Variables by which agents and checks read the user's settings and those of the system without what is secret in
 * them: copies in the run's folder. What the files include is a part of them.
 */
export function cleanSettings(all: GitSetting[], folder: string): Record<string, string> {
  const copies = ["global", "system"].flatMap((scope) => {
    const own = all.filter(([one]) => one === scope).map(([, ...setting]) => setting);
    if (!own.some(isSecret)) return [];
    const path = join(folder, `${scope}.gitconfig`);
    const clean = own.filter((setting) => !(isSecret(setting) || isInclude(setting)));
    writeAtomic(path, clean.map(written).join(""));
    return [[`GIT_CONFIG_${scope.toUpperCase()}`, path]];
  });
  return Object.fromEntries(copies);
}

/** As a file of settings has it. */
function written([name, value]: Setting): string {
  const [, section = "", , subsection, key = ""] = /^([^.]+)(\.(.*))?\.([^.]+)$/s.exec(name) ?? [];
  const inQuotes = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  const head = subsection === undefined ? section : `${section} ${inQuotes(subsection)}`;
  return `[${head}]\n\t${key} = ${inQuotes(value)}\n`;
}

/** What was taken out of a repository's own settings while runs are at work in it. */
interface WithheldSettings {
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
  const text = existsSync(config) ? readFileSync(config, "utf8") : "";
  if (!(mayHoldSecrets(text) || existsSync(join(home, "withheld")))) return async () => {};
  const file = await fileFor(home, config);
  if (!(mayHoldSecrets(text) || existsSync(file))) return async () => {};
  makePrivateFolder(join(home, "withheld"));
  const settings = await whenFree(`${file}.lock`, async () => {
    const before = withheldIn(file) ?? { config, settings: [], runs: [] };
    const found = await secretsIn(config);
    const all = [...before.settings, ...found];
    // Written down first: a kill loses nothing.
    writeAtomic(file, JSON.stringify({ config, settings: all, runs: [...before.runs, run] }));
    for (const setting of found) await takeOut(config, setting);
    return all;
  });
  const returned = folders.map((folder) =>
    lendSettings(
      folder,
      settings.map((setting) => lent(config, setting)),
    ),
  );
  return async () => {
    for (const give of returned) give();
    await returnPasswords(home, folders[0] ?? "", run);
  };
}

/** Puts back what a run had taken out, unless another run is active. */
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

function withheldIn(file: string): WithheldSettings | undefined {
  const known = readJson(file);
  return has(known, { config: "string", settings: "array", runs: "array" })
    ? (known as unknown as WithheldSettings)
    : undefined;
}

async function settingsOf(config: string, ...more: string[]): Promise<Setting[]> {
  const { stdout } = await git("/", ["config", "--file", config, ...more, "--list", "-z"]);
  return namesIn(stdout).map(settingIn);
}

/** Settings that are secret, and those that include a file with some. */
async function secretsIn(config: string): Promise<Setting[]> {
  const all = await settingsOf(config);
  const hold = all.map(async (setting): Promise<Setting[]> => {
    if (!isInclude(setting)) return isSecret(setting) ? [setting] : [];
    return (await settingsOf(includedBy(config, setting), "--includes")).some(isSecret) ? [setting] : [];
  });
  return (await Promise.all(hold)).flat();
}

function includedBy(config: string, [, path]: Setting): string {
  return resolve(dirname(config), path.replace(/^~(?=\/)/, homedir()));
}

const isAddress = ([name]: Setting): boolean => /^remote\..*\.(?:push)?url$/i.test(name);
export const withoutPassword = (address: string): string => address.replace(PASSWORD, "");
const exactly = (value: string): string => `^${value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;

/** An address stays without its password; anything else has no use without it. */
async function takeOut(config: string, [name, value]: Setting): Promise<void> {
  const args = isAddress([name, value])
    ? ["--replace-all", name, withoutPassword(value), exactly(value)]
    : ["--unset-all", name, exactly(value)];
  await git("/", ["config", "--file", config, ...args]);
}

/** Unless somebody has changed it meanwhile. */
async function putBack(config: string, [name, value]: Setting): Promise<void> {
  const now = await settingsOf(config);
  const plain = withoutPassword(value);
  const has = (wanted: string): boolean => now.some(([one, other]) => one === name && other === wanted);
  if (!isAddress([name, value])) {
    if (!has(value)) await git("/", ["config", "--file", config, "--add", name, value]);
  } else if (has(plain))
    await git("/", ["config", "--file", config, "--replace-all", name, value, exactly(plain)]);
}

/** For ralph's own git, which works for the user. */
function lent(config: string, [name, value]: Setting): Setting {
  if (isInclude([name, value])) return [name, includedBy(config, [name, value])];
  return isAddress([name, value]) ? [`url.${value}.insteadOf`, withoutPassword(value)] : [name, value];
}
