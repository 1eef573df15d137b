import type { Category, Judged } from "./finding.js";
import { fits, followLinks, isInside, type Pattern, partsOf, patternOf, resolvePath } from "./paths.js";
import type { Scope } from "./shell/scope.js";

type Where = Pick<Scope, "cwd" | "place">;

interface Protected {
  pattern: string;
  category: Category;
  what: string;
}

function group(category: Category, what: string, ...patterns: string[]): Protected[] {
  return patterns.map((pattern) => ({ pattern, category, what }));
}

/** `~` is the home of the user; the first that fits names the category. */
const PROTECTED: Protected[] = [
  ...group("remote-access", "it lets others log in", "**/.ssh/authorized_keys*"),
  ...group(
    "privileges",
    "it says who may become root",
    "/etc/sudoers",
    "/etc/sudoers.d/**",
    "/etc/doas.conf",
  ),
  ...group("persistence", "it is run again later", ...later()),
  ...group("persistence", "git runs it", "**/.git/hooks/**", "**/.git/modules/**"),
  ...group("persistence", "it steers a coding agent", ...agents()),
  ...group(
    "protected-paths",
    "it steers git",
    "**/.git/config",
    "**/.git/config.worktree",
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
  const names = [
    "bashrc",
    "bash_profile",
    "bash_login",
    "bash_logout",
    "bash_aliases",
    "profile",
    "zshrc",
    "zshenv",
    "zprofile",
    "zlogin",
    "zlogout",
    "kshrc",
    "cshrc",
    "tcshrc",
    "login",
    "xprofile",
    "xinitrc",
    "xsession",
    "inputrc",
    "pam_environment",
  ];
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
  const folders = [
    "etc",
    "usr",
    "bin",
    "sbin",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "var",
    "srv",
    "root",
    "System",
    "Library",
    "Applications",
    "private/etc",
    "private/var",
    "snap",
    "nix",
  ];
  return ["/", ...folders.map((folder) => `/${folder}/**`)];
}

function credentials(): string[] {
  const folders = [
    "ssh",
    "aws",
    "gnupg",
    "kube",
    "azure",
    "password-store",
    "config/gcloud",
    "config/gh",
    "config/op",
    "docker",
    "oci",
  ];
  const files = [
    "netrc",
    "npmrc",
    "pypirc",
    "pgpass",
    "my.cnf",
    "git-credentials",
    "cargo/credentials",
    "cargo/credentials.toml",
    "cargo/config.toml",
    "gem/credentials",
    "vault-token",
    "pip/pip.conf",
    "config/pip/pip.conf",
    "yarnrc",
    "yarnrc.yml",
    "m2/settings.xml",
  ];
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

/** Places below the protected ones that anybody may write to. */
const FREE = [
  "/var/tmp/**",
  "/private/var/tmp/**",
  "/private/var/folders/**",
  "/var/folders/**",
  "/usr/local/share/.cache/**",
].map((text) => patternOf(text, ""));

const compiled = new Map<string, (Protected & { compiled: Pattern })[]>();

function protectedIn(home: string): (Protected & { compiled: Pattern })[] {
  const known = compiled.get(home);
  if (known !== undefined) return known;
  const made = PROTECTED.map((one) => ({ ...one, compiled: patternOf(one.pattern, home) }));
  compiled.set(home, made);
  return made;
}

/** Why a path must not be written to, if it must not. */
export function protection(path: string, scope: Where): Judged | undefined {
  const named = resolvePath(path, scope);
  const real = /^\/dev\/(fd|std)/.test(named) ? named : followLinks(named);
  return (
    own(named, scope) ??
    listed(named, path, scope) ??
    (real === named ? undefined : (own(real, scope) ?? listed(real, path, scope)))
  );
}

function listed(resolved: string, path: string, scope: Where): Judged | undefined {
  const device = deviceOf(resolved);
  if (device !== undefined)
    return { level: "refuse", category: "disks", reason: `it writes to ${path}, ${device}` };
  const { workspace, home } = scope.place;
  const names = partsOf(resolved);
  const found = protectedIn(home).find(({ compiled }) => fits(names, compiled));
  if (found === undefined || FREE.some((free) => fits(names, free))) return undefined;
  const isOfSystem = found.what === "it belongs to the system";
  if (isOfSystem && (isInside(resolved, workspace) || isBelow(resolved, home))) return undefined;
  return { level: "refuse", category: found.category, reason: `it writes to ${path}: ${found.what}` };
}

/** A home or a project may lie in a folder of the system, as /root does. */
function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInside(path, folder);
}

/** What steers ralph is out of the agent's hands, whatever is allowed. */
function own(resolved: string, scope: Where): Judged | undefined {
  const { workspace, ralphHome } = scope.place;
  // A run's own worktree lies among ralph's files.
  const isInProject = isInside(resolved, workspace);
  const path = isInProject ? resolved.slice(workspace.length) : resolved;
  const isOwn =
    OWN.some((pattern) => fits(partsOf(path), pattern)) || (!isInProject && isInside(resolved, ralphHome));
  if (!isOwn) return undefined;
  return {
    level: "refuse",
    category: "protected-paths",
    final: true,
    reason: "it writes to ralph's own settings and records",
  };
}

const OWN = ["**/.ralph/**", "**/.ralph-active", "**/ralph/allowed-commands.txt"].map((text) =>
  patternOf(text, ""),
);

const DEVICES =
  /^\/dev\/(?!(?:null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx)$|(?:fd|shm|pts)(?:\/|$)|(?:tcp|udp)\/)/;

function deviceOf(path: string): string | undefined {
  return DEVICES.test(path) ? "a device" : undefined;
}
