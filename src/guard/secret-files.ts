import { fits, followLinks, type Pattern, partsOf, patternOf, resolvePath } from "./paths.js";
import type { Scope } from "./shell/scope.js";

export interface Secret {
  what: string;
  /** Often there and often harmless: worth a warning. */
  isMild: boolean;
}

const GROUPS: { what: string; patterns: string[]; isMild?: boolean }[] = [
  {
    what: "a private key",
    patterns: [
      "**/.ssh/id_*",
      "**/id_rsa",
      "**/id_dsa",
      "**/id_ecdsa",
      "**/id_ed25519",
      "**/.ssh/*_rsa",
      "**/.ssh/*.key",
      "/etc/ssh/ssh_host_*_key",
      "~/.ssh",
      "~/.ssh/*",
      "**/.gnupg/**",
      "/etc/ssl/private/**",
    ],
  },
  {
    what: "a private key",
    patterns: [
      "**/*.pem",
      "**/*.p12",
      "**/*.pfx",
      "**/*.ppk",
      "**/*.jks",
      "**/*.keystore",
      "**/private.key",
      "**/server.key",
      "**/*.kdbx",
    ],
  },
  {
    what: "a login of a cloud",
    patterns: [
      "**/.aws/credentials*",
      "**/.aws/**",
      "~/.kube/**",
      "**/.aws/config",
      "**/.aws/sso/**",
      "**/.kube/config*",
      "**/.azure/**",
      "**/.config/gcloud/**",
      "**/.oci/**",
      "**/.docker/config.json",
      "**/application_default_credentials.json",
      "**/.terraform.d/credentials*",
      "**/.config/doctl/**",
      "**/.fly/config.yml",
      "/var/run/secrets/**",
      "/run/secrets/**",
    ],
  },
  {
    what: "a file with logins",
    patterns: [
      "**/.netrc",
      "**/_netrc",
      "**/.pgpass",
      "**/.npmrc",
      "**/.pypirc",
      "**/.my.cnf",
      "**/.git-credentials",
      "**/.config/gh/hosts.yml",
      "**/.cargo/credentials*",
      "**/.gem/credentials",
      "**/.vault-token",
      "**/.password-store/**",
      "**/.config/op/**",
      "**/.htpasswd",
      "**/.claude/.credentials.json",
      "**/.codex/auth.json",
      "**/.gemini/oauth_creds.json",
      "**/Login Data",
      "**/Cookies",
      "**/key4.db",
      "**/logins.json",
      "~/Library/Keychains/**",
    ],
  },
  {
    what: "a file with passwords of the system",
    patterns: [
      "/etc/shadow*",
      "/etc/gshadow*",
      "/etc/sudoers",
      "/etc/sudoers.d/**",
      "/etc/security/opasswd",
      "/etc/krb5.keytab",
      "/private/etc/master.passwd",
      "/etc/master.passwd",
    ],
  },
  {
    what: "the history of a shell",
    patterns: ["**/.*_history", "**/.zhistory", "**/fish_history", "**/.lesshst", "**/.viminfo"],
  },
  { what: "the environment of a program", patterns: ["/proc/*/environ"] },
  { what: "the memory of a program", patterns: ["/proc/*/mem", "/proc/kcore"] },
  {
    what: "a file with secrets",
    patterns: [
      "**/.env",
      "**/.env.local",
      "**/.env.production",
      "**/.env.prod",
      "**/.envrc",
      "**/secrets.yml",
      "**/secrets.yaml",
      "**/secrets.json",
    ],
    isMild: true,
  },
];

/** Certificates and public keys are no secrets. */
const PUBLIC =
  /(\.pub|known_hosts.*|authorized_keys|.*(cert|chain|ca-?bundle|public|pubkey|cacert|root-?ca)[^/]*\.(pem|crt)|ca\.pem)$/i;

/** The secret that a path names, if it names one. */
export function secretAt(path: string, scope: Pick<Scope, "cwd" | "place">): Secret | undefined {
  if (path.length > LONGEST || PUBLIC.test(path) || path === "~/.ssh/config") return undefined;
  const named = resolvePath(path, scope);
  const found = listed(named, scope);
  if (found !== undefined || named.length > LONGEST) return found;
  const real = named.includes("/") ? followLinks(named) : named;
  return real === named ? undefined : listed(real, scope);
}

const LONGEST = 1000;

function listed(path: string, scope: Pick<Scope, "cwd" | "place">): Secret | undefined {
  const names = partsOf(path);
  const group = groupsIn(scope.place.home).find(({ compiled }) =>
    compiled.some((pattern) => fits(names, pattern)),
  );
  return group && { what: group.what, isMild: group.isMild ?? false };
}

type Compiled = (typeof GROUPS)[number] & { compiled: Pattern[] };

const byHome = new Map<string, Compiled[]>();

function groupsIn(home: string): Compiled[] {
  const known = byHome.get(home);
  if (known !== undefined) return known;
  const made = GROUPS.map((group) => ({
    ...group,
    compiled: group.patterns.map((text) => patternOf(text, home)),
  }));
  byHome.set(home, made);
  return made;
}
