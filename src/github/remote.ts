import { RalphError } from "../errors.js";
import { git, repositoryRoot } from "../workspace/git.js";
import { type Forge, type ForgeKind, type ForgeOptions, fullName, type Repo } from "./forge.js";
import { GITHUB } from "./github.js";

/** Another forge is one more file, and one more entry here. */
const FORGES: ForgeKind[] = [GITHUB];

/** How long a command that somebody waits for lets a limit of the server last. */
const PATIENCE_MS = 2 * 60_000;

export type ForgeAsked = Partial<ForgeOptions> & Pick<ForgeOptions, "tell">;

/**
 * The forge of a checkout. Everything that would keep ralph from working with it is found here, before anything is
 * spent: no repository, no remote, a remote of another forge, no gh, no login, no way there.
 */
export async function forgeOf(
  checkout: string,
  { patienceMs = PATIENCE_MS, ...options }: ForgeAsked,
  wanted?: Pick<Repo, "host" | "owner" | "name">,
): Promise<Forge> {
  const repo = await repoOf(checkout, wanted);
  return (await kindOf(repo)).open(repo, { ...options, patienceMs });
}

/** Throws where ralph may not push there. */
export async function requirePush(forge: Forge): Promise<{ defaultBranch: string }> {
  const { canPush, defaultBranch } = await forge.repository();
  if (canPush) return { defaultBranch };
  throw new RalphError(`the login of gh may not push to ${fullName(forge.repo)}`, {
    code: "push_forbidden",
    hint: `log in as somebody with write access: ${forge.commands.login}; or work in a fork of your own: ${forge.commands.fork}`,
  });
}

async function repoOf(checkout: string, wanted?: Pick<Repo, "host" | "owner" | "name">): Promise<Repo> {
  const remotes = await remotesOf(checkout);
  const names = remotes.map(({ remote }) => remote);
  if (names.length === 0)
    throw new RalphError("this repository has no remote, so ralph cannot find it on GitHub", {
      code: "remote_missing",
      hint: "git remote add origin https://github.com/OWNER/NAME.git",
    });
  const known = remotes.flatMap(({ remote, address }) => {
    const place = placeOf(address);
    return place === undefined ? [] : [{ ...place, remote }];
  });
  if (wanted !== undefined) {
    const found = known.find((one) => isSame(one, wanted));
    if (found !== undefined) return found;
    throw new RalphError(`no remote of this repository leads to ${wanted.host}/${fullName(wanted)}`, {
      code: "remote_other",
      hint: "start ralph in a clone of that repository",
    });
  }
  // One that certainly is a forge goes before one that may be.
  const [first] = known.filter(({ host }) => FORGES.some((kind) => kind.isAt(host))).concat(known);
  if (first !== undefined) return first;
  throw notGitHub(remotes[0] as { remote: string; address: string });
}

/** `origin` goes first. */
async function remotesOf(checkout: string): Promise<{ remote: string; address: string }[]> {
  // Addresses as they are written: those of this machine may lead by another way.
  const { stdout } = await git(checkout, ["config", "-z", "--get-regexp", "^remote\\..*\\.url$"]);
  if (repositoryRoot(checkout) === undefined)
    throw new RalphError(`not in a git repository: ${checkout}`, {
      code: "not_a_repository",
      hint: "start ralph in a clone of the repository on GitHub",
    });
  const found = stdout.split("\0").flatMap((entry) => {
    const [, remote, address] = /^remote\.(.*)\.url\n(.*)$/s.exec(entry) ?? [];
    return remote === undefined || address === undefined ? [] : [{ remote, address }];
  });
  return [...found].sort((a, b) => Number(b.remote === "origin") - Number(a.remote === "origin"));
}

type RepoPlace = Pick<Repo, "host" | "owner" | "name">;

/** `https://host/owner/name.git`, `git@host:owner/name`, `ssh://git@host:22/owner/name`. */
function placeOf(address: string): RepoPlace | undefined {
  const [, host = "", path = ""] =
    /^(?:https?|ssh|git):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+)$/.exec(address) ??
    /^(?:[^/@:]+@)?([^/@:]+):(?!\/)(.+)$/.exec(address) ??
    [];
  const [, owner, name] = /^\/*([^/]+)\/([^/]+?)(?:\.git)?\/*$/.exec(path) ?? [];
  if (owner === undefined || name === undefined) return undefined;
  const known = FORGES.reduce((found, kind) => kind.hostOf(found), host.toLowerCase());
  return { host: known, owner, name };
}

/** `12`, `#12`, or the address of an issue or a pull request. */
export function numberedPlace(flag: string, given: string): { number: number; place: RepoPlace | undefined } {
  const [, plain] = /^#?([1-9]\d*)$/.exec(given.trim()) ?? [];
  if (plain !== undefined) return { number: Number(plain), place: undefined };
  const [, host, owner, name, number] =
    /^https?:\/\/([^/]+)\/([^/]+)\/([^/]+)\/(?:issues|pull)\/([1-9]\d*)(?:[/?#].*)?$/.exec(given.trim()) ??
    [];
  if (host !== undefined && owner !== undefined && name !== undefined)
    return { number: Number(number), place: { host: host.toLowerCase(), owner, name } };
  throw new RalphError(`${flag} ${given}: expected a number, or the address of an issue`, {
    code: "flag_invalid",
    hint: "such as 12, or https://github.com/OWNER/NAME/issues/12",
  });
}

function isSame(a: RepoPlace, b: RepoPlace): boolean {
  const name = ({ host, ...place }: RepoPlace): string => `${host}/${fullName(place)}`.toLowerCase();
  return name(a) === name(b);
}

/** By the name of the host, else by a login of the user's there, as of GitHub Enterprise. */
async function kindOf({ host, remote }: Repo): Promise<ForgeKind> {
  const known = FORGES.find((kind) => kind.isAt(host));
  if (known !== undefined) return known;
  for (const kind of FORGES) if (await kind.isLoggedIn(host)) return kind;
  throw notGitHub({ remote, address: host });
}

function notGitHub({ remote, address }: { remote: string; address: string }): RalphError {
  const where = address.replace(/\/\/[^/@]*@/, "//");
  return new RalphError(`the remote ${remote} (${where}) is not GitHub, as far as gh knows`, {
    code: "remote_other",
    hint: "for GitHub Enterprise, set GH_HOST or run gh auth login --hostname HOST; ralph supports no other forge",
  });
}
