import type { Where } from "./call.js";
import { type Category, type Risk, refuse } from "./finding.js";
import { titleOf } from "./listed.js";
import { followLinks, isInside, resolvePath, TEMPORARY } from "./paths.js";

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
