import { existsSync, readdirSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { AGENT_NAMES, agentFor } from "../agents/index.js";
import type { SandboxScope } from "./sandbox.js";

/** Keys, tokens and logins in a home folder that no agent must read. */
const IN_HOME = `
  .ssh .gnupg .aws .azure .kube .password-store .local/share/keyrings Library/Keychains Library/Cookies
  .config/gcloud .config/gh .config/hub .config/glab-cli .config/op .config/doctl .config/rclone
  .config/rclone.conf .rclone.conf .config/git/credentials .git-credentials .netrc
  .npmrc .yarnrc.yml .pypirc .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config
  .m2/settings.xml .gradle/gradle.properties .docker/config.json .dclaude_state
  .terraform.d/credentials.tfrc.json .terraformrc .vault-token .databrickscfg .pgpass .my.cnf
  .mozilla .config/google-chrome .config/chromium .bash_history .zsh_history
`;

const OF_THE_SYSTEM = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh"];

/** What agents of a run must not see: keys, logins of other agents, and all secrets in other homes. */
export async function secretPaths(
  { home, env, agents }: Pick<SandboxScope, "home" | "env" | "agents">,
  others = otherHomes(home),
): Promise<string[]> {
  const known = await Promise.all(AGENT_NAMES.map(agentFor));
  const logins = known.flatMap(({ name, setup }) => (setup ? [{ name, ...setup.loginFile }] : []));
  const fileOf = ({ variable, folder, path }: (typeof logins)[number]): string =>
    join(env[variable] || join(home, folder), path);
  const used = logins.filter(({ name }) => agents.some((agent) => agent.name === name)).map(fileOf);
  const keys = IN_HOME.trim().split(/\s+/);
  const elsewhere = [...keys, ...logins.map(({ folder, path }) => join(folder, path))];
  return [
    ...keys.map((path) => join(home, path)),
    ...OF_THE_SYSTEM,
    ...logins.map(fileOf),
    // Other homes may be many, so this hides only files that exist.
    ...others.flatMap((other) => elsewhere.map((path) => join(other, path))).filter(existsSync),
  ].filter((path) => !used.includes(path));
}

/** Homes beside `home` that this user can read. */
function otherHomes(home: string): string[] {
  const isRoot = process.getuid?.() === 0 && existsSync("/home");
  const all = [
    userInfo().homedir,
    ...(isRoot ? readdirSync("/home").map((name) => join("/home", name)) : []),
  ];
  return all.filter((path) => path !== home);
}
