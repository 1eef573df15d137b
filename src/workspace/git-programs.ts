import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { digest } from "../records/digest.js";
import { git } from "./git.js";

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

export async function gitPrograms(workspace: string): Promise<GitPrograms> {
  const asked = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
  const [{ stdout: folder }, { stdout: common }, { stdout: list }] = await Promise.all([
    git(workspace, asked, { hooks: true }),
    git(workspace, ["rev-parse", "--path-format=absolute", "--git-common-dir"]),
    git(workspace, ["config", "--list", "--show-scope", "--includes", "-z"]),
  ]);
  const hooks = await digest(filesIn(folder.replace(/\n$/, "")).join("\0"));
  const all = new Map<string, string>();
  for (const [name, value] of ownSettings(list)) all.set(name, `${all.get(name) ?? ""}${value}\0`);
  const settings: Record<string, string> = {};
  for (const [name, values] of all) settings[name] = await digest(values);
  for (const [name, content] of oldAddresses(common.replace(/\n$/, "")))
    settings[name] = await digest(content);
  return { hooks, settings };
}

/** git still obeys addresses as it kept them in its first years, where the configuration names no other. */
function oldAddresses(folder: string): [name: string, content: string][] {
  return ["remotes", "branches"].flatMap((kind) => {
    const files = join(folder, kind);
    return namesIn(files).map((name): [string, string] => [
      join(".git", kind, name),
      contentOf(join(files, name)),
    ]);
  });
}

export type LookAtPrograms = () => Promise<NewPrograms>;

export async function newPrograms(workspace: string, before: GitPrograms): Promise<NewPrograms> {
  const now = await gitPrograms(workspace);
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

/** Hooks that are new are left out; settings that are new cannot be, so that somebody has to look at them. */
export async function trustNow(look: LookAtPrograms | undefined): Promise<Trust> {
  const { hooks, settings } = (await look?.()) ?? { hooks: false, settings: [] };
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

/** git's samples are not run, and neither is what is no file. */
function filesIn(folder: string): string[] {
  const names = namesIn(folder).filter((name) => !name.endsWith(".sample"));
  return names.flatMap((name) => [name, contentOf(join(folder, name))]);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** A link counts as what it leads to; a pipe would be waited for. */
function contentOf(path: string): string {
  try {
    const stat = statSync(path);
    return stat.isFile() ? `${stat.mode} ${readFileSync(path, "latin1")}` : "";
  } catch {
    return "";
  }
}

/** The user's own and the system's are out of reach of an agent that is shut in. */
function ownSettings(list: string): [name: string, value: string][] {
  const fields = list.split("\0");
  return fields.flatMap((entry, index): [string, string][] => {
    if (index % 2 === 0 || !/^(?:local|worktree)$/.test(fields[index - 1] ?? "")) return [];
    const [name = "", ...value] = entry.split("\n");
    return HARMLESS.test(entry) ? [] : [[name, value.join("\n")]];
  });
}

/** Agents set some of these for good reasons. The folder of the hooks is looked at with them. */
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
