import type { Category } from "./finding.js";
import { list } from "./list.js";

export interface Protected {
  pattern: string;
  category: Category;
  what: string;
}

function group(category: Category, what: string, ...patterns: string[]): Protected[] {
  return patterns.map((pattern) => ({ pattern, category, what }));
}

/** `~` is the home of the user; the first that fits names the category. */
export const PROTECTED: Protected[] = [
  ...group("remote-access", "it lets others log in", "**/.ssh/authorized_keys*"),
  ...group(
    "privileges",
    "it says who may become root",
    "/etc/sudoers",
    "/etc/sudoers.d/**",
    "/etc/doas.conf",
  ),
  ...group("persistence", "it is run again later", ...later()),
  ...group("persistence", "git runs it", "**/.git/hooks/**", "**/.git/modules/**", "**/.husky/**"),
  ...group("persistence", "an editor runs it", "**/.vscode/tasks.json"),
  ...group("persistence", "it steers a coding agent", ...agents()),
  ...group(
    "protected-paths",
    "it steers git",
    "**/.git/config",
    "**/.git/config.worktree",
    "**/.git/commondir",
    "**/.git/gitdir",
    "**/.git/info/attributes",
    "**/.git/worktrees/*/commondir",
    "**/.git/worktrees/*/gitdir",
    "**/.git/worktrees/*/config.worktree",
    "~/.gitconfig",
    "~/.config/git/**",
  ),
  ...group(
    "git",
    "it is the history of the project",
    "**/.git",
    "**/.git/objects/**",
    "**/.git/refs/**",
    "**/.git/HEAD",
    "**/.git/packed-refs",
    "**/.git/logs/**",
  ),
  ...group("protected-paths", "it holds credentials", ...credentials()),
  ...group("system", "every shell reads it", ...startFiles()),
  ...group("processes", "it is the kernel's", "/proc/**", "/sys/**"),
  ...group("disks", "the machine starts from it", "/boot/**", "/efi/**"),
  ...group(
    "system",
    "it is system configuration",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/sysctl.conf",
    "/etc/sysctl.d/**",
    "/etc/fstab",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
  ),
  ...group("protected-paths", "it belongs to the system", ...systemFolders()),
];

function later(): string[] {
  const cron = ["/etc/cron*/**", "/etc/crontab", "/var/spool/cron/**", "/var/spool/at/**"];
  const units = [
    "/etc/systemd/**",
    "/lib/systemd/**",
    "/usr/lib/systemd/**",
    "~/.config/systemd/**",
    "~/.local/share/systemd/**",
    "/etc/init.d/**",
    "/etc/rc.local",
  ];
  const desktop = [
    "**/LaunchAgents/**",
    "**/LaunchDaemons/**",
    "~/.config/autostart/**",
    "/etc/xdg/autostart/**",
    "~/.local/share/autostart/**",
  ];
  return [...cron, ...units, ...desktop];
}

function agents(): string[] {
  const folders = [
    "**/.claude/**",
    "**/.cursor/**",
    "**/.codex/**",
    "**/.gemini/**",
    "~/.config/opencode/**",
    "~/.config/amp/**",
  ];
  return [...folders, "~/.claude.json", "**/.mcp.json"];
}

function startFiles(): string[] {
  const names = list(`
    bashrc bash_profile bash_login bash_logout bash_aliases profile zshrc zshenv zprofile zlogin zlogout
    kshrc cshrc tcshrc login xprofile xinitrc xsession inputrc pam_environment
  `);
  return [
    ...names.map((name) => `~/.${name}`),
    "/root/.*rc",
    "/root/.*profile",
    "/home/*/.*rc",
    "/home/*/.*profile",
    "/Users/*/.*rc",
    "~/.config/fish/**",
    "/etc/profile",
    "/etc/profile.d/**",
    "/etc/bash.bashrc",
    "/etc/zsh/**",
    "/etc/environment",
    "/etc/ld.so.preload",
  ];
}

function systemFolders(): string[] {
  const folders = list(`
    etc usr bin sbin lib lib32 lib64 opt var srv root System Library Applications private/etc private/var
    snap nix
  `);
  return ["/", ...folders.map((folder) => `/${folder}/**`)];
}

function credentials(): string[] {
  const folders = list(`
    ssh aws gnupg kube azure password-store config/gcloud config/gh config/op docker oci
  `);
  const files = list(`
    netrc npmrc pypirc pgpass my.cnf git-credentials cargo/credentials cargo/credentials.toml
    cargo/config.toml gem/credentials vault-token pip/pip.conf config/pip/pip.conf yarnrc yarnrc.yml
    m2/settings.xml
  `);
  const elsewhere = [
    "/root/.ssh/**",
    "/home/*/.ssh/**",
    "/home/*/.aws/**",
    "/home/*/.gnupg/**",
    "/home/*/.kube/**",
    "/Users/*/.ssh/**",
  ];
  return [...folders.map((name) => `~/.${name}/**`), ...files.map((name) => `~/.${name}`), ...elsewhere];
}
