import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENT_NAMES, agentFor } from "../agents/index.js";

/** Keys, tokens and logins in a home folder that no agent has to read. */
const IN_HOME = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".config/gcloud",
  ".config/gh",
  ".config/hub",
  ".config/glab-cli",
  ".config/op",
  ".config/doctl",
  ".config/rclone",
  ".config/rclone.conf",
  ".rclone.conf",
  ".config/git/credentials",
  ".git-credentials",
  ".netrc",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".bundle/config",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".docker/config.json",
  ".dclaude_state",
  ".terraform.d/credentials.tfrc.json",
  ".terraformrc",
  ".vault-token",
  ".databrickscfg",
  ".pgpass",
  ".my.cnf",
  ".password-store",
  ".local/share/keyrings",
  ".mozilla",
  ".config/google-chrome",
  ".config/chromium",
  "Library/Keychains",
  "Library/Cookies",
  ".bash_history",
  ".zsh_history",
];

const OF_THE_SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh"];

interface LoginFile {
  variable: string;
  folder: string;
  path: string;
}

/** What is hidden from the agents of a run; logins of other agents are, and all logins in the homes of others. */
export async function secretPaths(
  home: string,
  env: NodeJS.ProcessEnv,
  atWork: readonly string[],
  otherHomes: readonly string[] = [],
): Promise<string[]> {
  const agents = await Promise.all(AGENT_NAMES.map(agentFor));
  const logins = agents.flatMap(({ name, setup }) => (setup ? [{ name, ...setup.loginFile }] : []));
  const ownPath = ({ variable, folder, path }: LoginFile): string =>
    join(env[variable] || join(home, folder), path);
  const used = logins.filter(({ name }) => atWork.includes(name)).map(ownPath);
  const hidden = [
    ...[home, ...otherHomes].flatMap((folder) => IN_HOME.map((path) => join(folder, path))),
    ...OF_THE_SYSTEM,
    ...logins.map(ownPath),
    ...otherHomes.flatMap((other) => logins.map(({ folder, path }) => join(other, folder, path))),
  ];
  return hidden.filter((path) => !used.includes(path));
}

/** Homes beside `home` that this user can read, by the system's list of users. */
export function otherHomes(home: string): string[] {
  const users = existsSync(USERS) ? readFileSync(USERS, "utf8") : "";
  return homesIn(users, process.getuid?.() ?? -1, home).filter((path) => existsSync(path));
}

const USERS = "/etc/passwd";

export function homesIn(users: string, uid: number, home: string): string[] {
  const entries = users.split("\n").map((line) => line.split(":"));
  const readable = entries.filter(([, , number]) => uid === 0 || number === String(uid));
  const homes = readable.map((fields) => fields[5] ?? "");
  return [...new Set(homes)].filter((path) => path.length > 1 && path !== home);
}
