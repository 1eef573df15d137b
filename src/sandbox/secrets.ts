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

/** What is hidden from the agents of a run; logins of other agents are. */
export async function secretPaths(
  home: string,
  env: NodeJS.ProcessEnv,
  atWork: readonly string[],
): Promise<string[]> {
  const others = await Promise.all(AGENT_NAMES.filter((name) => !atWork.includes(name)).map(agentFor));
  const logins = others.flatMap(({ setup }) => (setup === undefined ? [] : [setup.loginFile]));
  return [
    ...IN_HOME.map((path) => join(home, path)),
    ...OF_THE_SYSTEM,
    ...logins.map(({ variable, folder, path }) => join(env[variable] || join(home, folder), path)),
  ];
}
