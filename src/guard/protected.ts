import { orElse } from "../errors.js";
import type { Where } from "./call.js";
import { type Category, type Risk, refuse } from "./finding.js";
import { followLinks, isInside, resolvePath, TEMPORARY } from "./paths.js";
import { hasPattern, list } from "./text.js";

const OF_SYSTEM = "it belongs to the system";

/** Category, description, and paths; the first match names the category. */
const PROTECTED = [
  "remote-access, it lets others log in: **/.ssh/authorized_keys*",
  "privileges, it says who may become root: /etc/sudoers /etc/sudoers.d/** /etc/doas.conf",
  `persistence, it is run again later:
    /etc/cron*/** /etc/crontab /var/spool/cron/** /var/spool/at/** /etc/systemd/** /lib/systemd/** /usr/lib/systemd/**
    ~/.config/systemd/** ~/.local/share/systemd/** /etc/init.d/** /etc/rc.local **/launchagents/** **/launchdaemons/**
    ~/.config/autostart/** /etc/xdg/autostart/** ~/.local/share/autostart/**`,
  "persistence, git runs it: **/.git/hooks/** **/.git/modules/** **/.husky/**",
  `persistence, a program runs it when it starts:
    **/.vscode/tasks.json ~/.tmux.conf ~/.config/tmux/** ~/.gdbinit ~/.lldbinit ~/.vim/** ~/.config/nvim/** ~/.emacs
    ~/.emacs.d/**`,
  `persistence, it steers a coding agent:
    **/.claude/** **/.cursor/** **/.codex/** **/.gemini/** ~/.config/opencode/** ~/.config/amp/** ~/.claude.json
    **/.mcp.json`,
  `protected-paths, it steers git:
    **/.git/config **/.git/config.worktree **/.git/commondir **/.git/gitdir **/.git/info/attributes ~/.gitconfig
    **/.git/worktrees/*/commondir **/.git/worktrees/*/gitdir **/.git/worktrees/*/config.worktree ~/.config/git/**`,
  `git, it is the history of the project:
    **/.git **/.git/objects/** **/.git/refs/** **/.git/head **/.git/packed-refs **/.git/logs/**`,
  `protected-paths, it holds credentials:
    ~/.ssh/** ~/.aws/** ~/.gnupg/** ~/.kube/** ~/.azure/** ~/.password-store/** ~/.config/gcloud/** ~/.config/gh/**
    ~/.config/op/** ~/.docker/** ~/.oci/** ~/.netrc ~/.npmrc ~/.pypirc ~/.pgpass ~/.my.cnf ~/.git-credentials
    ~/.cargo/credentials ~/.cargo/credentials.toml ~/.cargo/config.toml ~/.gem/credentials ~/.vault-token
    ~/.pip/pip.conf ~/.config/pip/pip.conf ~/.yarnrc ~/.yarnrc.yml ~/.m2/settings.xml /root/.ssh/** /home/*/.ssh/**
    /home/*/.aws/** /home/*/.gnupg/** /home/*/.kube/** /users/*/.ssh/**`,
  `system, every shell reads it:
    ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile
    ~/.zlogin ~/.zlogout ~/.kshrc ~/.cshrc ~/.tcshrc ~/.login ~/.xprofile ~/.xinitrc ~/.xsession ~/.inputrc
    ~/.pam_environment ~/.config/fish/** /root/.*rc /root/.*profile /home/*/.*rc /home/*/.*profile /users/*/.*rc
    /etc/profile /etc/profile.d/** /etc/bash.bashrc /etc/zsh/** /etc/environment /etc/ld.so.preload`,
  "processes, it is the kernel's: /proc/** /sys/**",
  "disks, the machine starts from it: /boot/** /efi/**",
  `system, it is system configuration:
    /etc/hosts /etc/resolv.conf /etc/sysctl.conf /etc/sysctl.d/** /etc/fstab /etc/passwd /etc/shadow /etc/group`,
  `protected-paths, ${OF_SYSTEM}:
    / /etc/** /usr/** /bin/** /sbin/** /lib/** /lib32/** /lib64/** /opt/** /var/** /srv/** /root/** /system/**
    /library/** /applications/** /private/etc/** /private/var/** /snap/** /nix/**`,
];

const OWN = [
  "ralph: **/.ralph/** **/.ralph-active **/ralph/allowed-commands.txt **/node_modules/ralph-loop/**",
];

/** Why nothing may write to a path, if so. */
export function protection(path: string, where: Where): Risk | undefined {
  const named = resolvePath(path, where);
  const real = /^\/dev\/(fd|std)/.test(named) ? named : followLinks(named);
  return protectionOf(named, path, where) ?? (real === named ? undefined : protectionOf(real, path, where));
}

function protectionOf(resolved: string, path: string, { site }: Where): Risk | undefined {
  if (isOwn(resolved, site))
    return { ...refuse("protected-paths", "it writes to ralph's own files"), final: true };
  if (DEVICES.test(resolved)) return refuse("disks", `it writes to ${path}, a device`);
  const title = titleOf(PROTECTED, resolved, site.home);
  if (title === undefined) return undefined;
  const [category = "", what = ""] = title.split(", ");
  // The history of other repositories is theirs.
  if (category === "git" && !isInside(resolved, `${site.workspace}/.git`)) return undefined;
  const isFree =
    TEMPORARY.test(resolved) || isBelow(resolved, site.workspace) || isBelow(resolved, site.home);
  return what === OF_SYSTEM && isFree
    ? undefined
    : refuse(category as Category, `it writes to ${path}: ${what}`);
}

/** A home or a project may lie in a system folder, such as /root or /var/www/app, without being one. */
function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder) && folder.split("/").length > (folder === "/root" ? 1 : 2);
}

/** An agent never changes what directs ralph. A run's own worktree lies among ralph's files. */
function isOwn(resolved: string, { workspace, ralphHome, ralphItself }: Where["site"]): boolean {
  const isInProject = isInside(resolved, workspace);
  const path = isInProject ? resolved.slice(workspace.length) : resolved;
  const isOfRalph = [ralphHome, ralphItself].some((folder) => isInside(resolved, folder));
  return titleOf(OWN, path, "") !== undefined || (!isInProject && isOfRalph);
}

const DEVICES =
  /^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx)$|(?:fd|shm|pts)(?:\/|$)|(?:tcp|udp)\/)/;

/** A title, a colon, and patterns in lower case. `~` is the user's home; `**` at an end is any folders. */
type PathGroup = string;

/** The title of the first group with a pattern that matches a path, by its name or through links. */
export function findListed(groups: readonly PathGroup[], path: string, where: Where): string | undefined {
  const named = resolvePath(path, where);
  const found = titleOf(groups, named, where.site.home);
  const real = found !== undefined || /^\/dev\/(fd|std)/.test(named) ? named : followLinks(named);
  return real === named ? found : titleOf(groups, real, where.site.home);
}

function titleOf(groups: readonly PathGroup[], path: string, home: string): string | undefined {
  if (path.length > LONGEST) return undefined;
  const name = path.toLowerCase();
  return groups
    .map((group) => parsed(group, home.toLowerCase()))
    .find(({ patterns }) =>
      patterns.some((pattern) => (hasPattern(name) ? canBe(name, pattern) : isNamed(name, pattern))),
    )?.title;
}

const LONGEST = 4096;
const made = new Map<PathGroup, { home: string; title: string; patterns: string[] }>();

function parsed(group: PathGroup, home: string) {
  const known = made.get(group);
  if (known?.home === home) return known;
  const at = group.indexOf(":");
  const patterns = list(group.slice(at + 1)).map((pattern) => pattern.replace(/^~/, home));
  const fresh = { home, title: group.slice(0, at).trim(), patterns };
  made.set(group, fresh);
  return fresh;
}

const TOKENS: Record<string, string> = { "*": "[^/]*", "?": "." };

/** Compares most patterns as text: building all expressions would take longer than judging a command. */
function isNamed(path: string, pattern: string): boolean {
  const [isAnywhere, isWithAllBelow] = [pattern.startsWith("**/"), pattern.endsWith("/**")];
  const core = pattern.slice(isAnywhere ? 3 : 0, isWithAllBelow ? -3 : undefined);
  if (core.includes("*") || core.includes("?")) {
    if (!core.split(/[*?]/).every((part) => path.includes(part))) return false;
    const source = core.replace(/[*?.+^${}()|\\]/g, (token) => TOKENS[token] ?? `\\${token}`);
    return new RegExp(`${isAnywhere ? "(?:^|/)" : "^"}${source}${isWithAllBelow ? "(?:/|$)" : "$"}`).test(
      path,
    );
  }
  if (isAnywhere && isWithAllBelow) return `/${path}/`.includes(`/${core}/`);
  if (isAnywhere) return `/${path}`.endsWith(`/${core}`);
  return isWithAllBelow ? `${path}/`.startsWith(`${core}/`) : path === core;
}

/** Whether a shell pattern can match a listed path: name by name; a star does not match a leading dot. */
function canBe(path: string, pattern: string): boolean {
  const names = list(path.replaceAll("/", " "));
  const core = list(pattern.replace(/^\*\*|\*\*$/g, "").replaceAll("/", " "));
  const most = names.length - core.length;
  return names.some(
    (_, at) =>
      (at === 0 || pattern.startsWith("**")) &&
      (at === most || (at < most && pattern.endsWith("**"))) &&
      core.every((part, index) => canBeName(names[at + index] ?? "", part)),
  );
}

function canBeName(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (/^[*?]+$/.test(name) || (wanted.startsWith(".") && /^[*?]/.test(name))) return false;
  if (!hasPattern(name)) return globbed(wanted).test(name);
  if (wanted.startsWith("*")) return name.endsWith(wanted.slice(1));
  return ["rsa", ""].some((by) => globbed(name).test(wanted.replaceAll("*", by)));
}

/** A glob as an expression; one with many stars can match anything, and would take long to compare. */
function globbed(glob: string): RegExp {
  if (glob.length > 300 || glob.split("*").length > 6) return /^/;
  const source = glob
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".")
    .replace(/\[!/g, "[^");
  return orElse(() => new RegExp(`^${source}$`), /^/);
}
