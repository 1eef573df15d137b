import { type Call, plainArgs, type Where } from "./call.js";
import { type Risk, refuse, warn } from "./finding.js";
import { findListed } from "./protected.js";
import { namesIn } from "./text.js";

const MILD = "a file with secrets";
const SECRETS = [
  `a private key:
    **/.ssh/id_* **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.ssh/*_rsa **/.ssh/*.key /etc/ssh/ssh_host_*_key
    ~/.ssh ~/.ssh/* **/.gnupg/** /etc/ssl/private/** **/*.pem **/*.p12 **/*.pfx **/*.ppk **/*.jks **/*.keystore
    **/private.key **/server.key **/*.kdbx`,
  `a login of a cloud:
    **/.aws/** ~/.kube/** **/.kube/config* **/.azure/** **/.config/gcloud/** **/.oci/** **/.docker/config.json
    **/application_default_credentials.json **/.terraform.d/credentials* **/.config/doctl/** **/.fly/config.yml
    /var/run/secrets/** /run/secrets/**`,
  `a file with logins:
    **/.netrc **/_netrc **/.pgpass **/.npmrc **/.pypirc **/.my.cnf **/.git-credentials **/.config/gh/hosts.yml
    **/.cargo/credentials* **/.gem/credentials **/.vault-token **/.password-store/** **/.config/op/** **/.htpasswd
    **/.claude/.credentials.json **/.codex/auth.json **/.gemini/oauth_creds.json **/default/login?data
    **/default/cookies **/key4.db **/logins.json ~/library/keychains/**`,
  `a file with passwords of the system:
    /etc/shadow* /etc/gshadow* /etc/sudoers /etc/sudoers.d/** /etc/security/opasswd /etc/krb5.keytab
    /private/etc/master.passwd /etc/master.passwd`,
  "the history of a shell: **/.*_history **/.zhistory **/fish_history **/.lesshst **/.viminfo",
  "the environment of a program: /proc/*/environ",
  "the memory of a program: /proc/*/mem /proc/kcore",
  `${MILD}: **/.env **/.env.local **/.env.production **/.env.prod **/.envrc **/secrets.yml **/secrets.yaml **/secrets.json`,
];

/** Certificates and public keys are not secret. */
const PUBLIC =
  /(\.pub|known_hosts.*|authorized_keys|.*(cert|chain|ca-?bundle|public|pubkey|root-?ca)[^/]*\.(pem|crt)|ca\.pem|(^|\/)certs?\/(?![^/]*(key|priv))[\w.-]+\.(pem|crt))$/i;

/** Why not to read a path: it contains a secret, or may contain one. */
export function secretIssue(path: string, where: Where): Risk | undefined {
  if (path.length > 1000 || path === "~/.ssh/config") return undefined;
  const what = findListed(SECRETS, path, where);
  // An expression is compiled when it is first used, and most paths are in no list.
  if (what === undefined || PUBLIC.test(path)) return undefined;
  return what === MILD
    ? warn("secrets", `${path} may hold secrets`)
    : refuse("secrets", `${path} is ${what}`);
}

const SECRET_NAME =
  /(secret|token|passw|passphrase|credential|api_?key|private_?key|access_?key|auth_?key|_key$|^key$|_pat$|_pwd$|_cookie$)/i;

/** Whether a variable with this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !/(_url|_path|_file|_dir|_count|_id|_name)$/i.test(name);
}

/** The name of a reader that searches for a harmless word: it shows only matching lines. */
export const SEARCHED = "grep:harmless";

export function isHarmlessSearch(args: string[]): boolean {
  const [pattern = ""] = plainArgs(args);
  const isInverted = args.some((arg) => /^-\w*v|^--invert/.test(arg));
  const isHarmless = /^\^?[\w=-]{3,}\$?$/.test(pattern) && !/^(key|aws|pass|auth|gh_|api)/i.test(pattern);
  return isHarmless && !isInverted && !SECRET_NAME.test(pattern);
}

const NO_READERS = namesIn(`
  ls ll stat test [ echo printf mkdir touch rm chmod chown cd pushd which type du file basename dirname realpath readlink
  rmdir exa eza tree ssh ssh-add ssh-keygen kubectl helm k9s kubectx export unset alias true : find
`);

/** The files with secrets that a command reads. */
export function readingIssue(call: Call): Risk | undefined {
  const read = call.redirections.filter(({ operator }) => operator === "<").map(({ target }) => target);
  const words = NO_READERS.has(call.program) ? [] : candidates(call).flatMap(parts);
  for (const path of [...read, ...words]) {
    const issue = secretIssue(path, call.scope);
    if (issue !== undefined) return issue;
  }
  return undefined;
}

/** Words that may name a file; a search pattern or a commit message does not. */
function candidates({ program, args, plain }: Call): string[] {
  if (/^(grep|egrep|fgrep|rg|ag|ack|sed|awk|jq|yq|perl)$/.test(program)) {
    const isGiven = args.some((arg) => /^(-\w*[ef]|--regexp|--expression|--file)$/.test(arg));
    return isGiven ? plain : plain.slice(1);
  }
  if (/^(scp|rsync|sftp)$/.test(program)) return plainArgs(args, ["-i", "-e", "-F", "-o"]);
  // Making a certificate or a public key does not show the private key.
  const isOwnKey =
    program === "openssl" &&
    (!/^(rsa|pkey|pkcs8|pkcs12|ec|enc|base64)$/.test(args[0] ?? "") || args.includes("-pubout"));
  const isMessage = (index: number) =>
    program === "git" && /^(-m|--message|-am|-F)$/.test(args[index - 1] ?? "");
  const named = args.filter((arg, index) => !isMessage(index) && (/^[/~]/.test(arg) || !/\s/.test(arg)));
  return isOwnKey ? named.filter((arg) => /^[/~]|\.ssh|\.\./.test(arg)) : named;
}

/** `if=x`, `@x`, `file=@x`, `--file=x`, `x:y`. */
function parts(arg: string): string[] {
  const value = arg
    .replace(/^--?[\w-]+=/, "")
    .replace(/^[\w.-]+=/, "")
    .replace(/^@/, "")
    .replace(/^file:\/\//, "");
  const pieces = value.includes(":") ? value.split(":").filter((part) => /[/.~]/.test(part)) : [];
  return [value, ...pieces].filter((part) => part !== "" && !part.startsWith("-"));
}
