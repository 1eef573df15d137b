import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../records/files.js";
import { git, gitFolders } from "./git.js";

/** What git runs in a repository, as digests: an agent that can commit can write there, too. */
export interface GitPrograms {
  hooks: string;
  /** Settings of the repository that could name a program, by their names. */
  settings: Record<string, string>;
}

/** What of it is not as it was when the run began. */
interface NewPrograms {
  hooks: boolean;
  settings: string[];
}

export type FindNewPrograms = () => Promise<NewPrograms>;

/** A setting of git with its scope: `system`, `global`, `local`, `worktree` or `command`. */
export type GitSetting = [scope: string, name: string, value: string];

/** All settings that count in a folder, with those that files include; of the same name the last one wins. */
export async function gitSettings(workspace: string): Promise<GitSetting[]> {
  const { ok, stdout } = await git(workspace, ["config", "--list", "--show-scope", "-z"]);
  const fields = ok ? stdout.split("\0") : [];
  return fields.flatMap((entry, at): GitSetting[] =>
    at % 2 === 0 ? [] : [[fields[at - 1] ?? "", ...settingIn(entry)]],
  );
}

/** One that has no value is true. */
export function settingIn(entry: string): [name: string, value: string] {
  const [name = "", ...value] = entry.split("\n");
  return [name, value.length === 0 ? "true" : value.join("\n")];
}

export async function gitPrograms(workspace: string, list: GitSetting[]): Promise<GitPrograms> {
  const hooks = filesIn(await hooksFolder(workspace, list)).filter(([name]) => !name.endsWith(".sample"));
  const all: Record<string, string> = {};
  for (const [, name, value] of list.filter(couldNameProgram)) all[name] = `${all[name] ?? ""}${value}\0`;
  // git still obeys addresses as it kept them in its first years, where the configuration names no other.
  for (const common of gitFolders(workspace).slice(0, 1))
    for (const kind of ["remotes", "branches"])
      for (const [name, text] of filesIn(join(common, kind))) all[join(".git", kind, name)] = text;
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) settings[name] = await digest(value);
  return { hooks: await digest(hooks.flat().join("\0")), settings };
}

async function hooksFolder(workspace: string, list: GitSetting[]): Promise<string> {
  const [common] = gitFolders(workspace);
  // ralph's own setting of it, for the command that lists them, does not count.
  const isUsual = !list.some(([scope, name]) => scope !== "command" && name === "core.hookspath");
  if (common !== undefined && isUsual) return join(common, "hooks");
  const asked = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
  return (await git(workspace, asked, { hooks: true })).stdout.replace(/\n$/, "");
}

export async function newPrograms(workspace: string, before: GitPrograms): Promise<NewPrograms> {
  const now = await gitPrograms(workspace, await gitSettings(workspace));
  const names = Object.keys({ ...before.settings, ...now.settings });
  return {
    hooks: now.hooks !== before.hooks,
    settings: names.filter((name) => now.settings[name] !== before.settings[name]),
  };
}

/** How ralph may use git in the user's name. */
export interface Trust {
  hooks: boolean;
  /** Why it must not at all. */
  refusal: string | undefined;
  /** What to say of it when it did. */
  note: string;
}

/** New hooks are left out; new settings cannot be, so that a person has to look at them. */
export async function trustNow(find: FindNewPrograms | undefined): Promise<Trust> {
  const { hooks, settings } = (await find?.()) ?? { hooks: false, settings: [] };
  const names = settings.slice(0, MAX_NAMES).join(", ");
  return {
    hooks: !hooks,
    refusal:
      settings.length === 0
        ? undefined
        : `git is not run: settings of the repository have changed since the run began, and could name programs: ${names} (put them back as they were)`,
    note: hooks ? " (without the hooks of git: they have changed since the run began)" : "",
  };
}

const MAX_NAMES = 5;

/** Names with what the files hold, and their modes. A link counts as what it leads to; reading a pipe would block. */
function filesIn(folder: string): [name: string, content: string][] {
  const names = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder).sort() : [];
  return names.map((name) => {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    return [name, stat?.isFile() ? `${stat.mode} ${readFileSync(path, "latin1")}` : ""];
  });
}

/** The user's own and the system's are out of reach of an agent in a sandbox. */
function couldNameProgram([scope, name, value]: GitSetting): boolean {
  return ["local", "worktree"].includes(scope) && !HARMLESS.test(`${name}\n${value}`);
}

/** Agents set some of these for good reasons. The folder of the hooks is read with them. */
const HARMLESS = new RegExp(
  [
    "core\\.(?:hookspath|repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks)\\n",
    "core\\.(?:precomposeunicode|autocrlf|eol|safecrlf|quotepath|abbrev|longpaths)\\n",
    "(?:user|author|committer)\\.(?:name|email)\\n",
    "(?:advice|color|pull|rebase)\\.",
    "(?:push\\.(?:default|autosetupremote|followtags)|fetch\\.prune|init\\.defaultbranch)\\n",
    "branch\\.[^\\n]*\\.(?:merge|rebase|description|remote\\n(?:origin|\\.)$)",
    "remote\\.[^\\n]*\\.(?:fetch|prune|tagopt)\\n",
  ]
    .map((each) => `^${each}`)
    .join("|"),
);
