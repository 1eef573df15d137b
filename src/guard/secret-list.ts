import type { Listed } from "./listed-paths.js";

export interface Secret extends Listed {
  what: string;
  /** Often there and often harmless: worth a warning. */
  isMild?: true;
}

/** Files that hold secrets. */
export const SECRETS: Secret[] = [
  {
    what: "a private key",
    patterns: `
      **/.ssh/id_* **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.ssh/*_rsa **/.ssh/*.key
      /etc/ssh/ssh_host_*_key ~/.ssh ~/.ssh/* **/.gnupg/** /etc/ssl/private/**
    `,
  },
  {
    what: "a private key",
    patterns: `
      **/*.pem **/*.p12 **/*.pfx **/*.ppk **/*.jks **/*.keystore **/private.key **/server.key **/*.kdbx
    `,
  },
  {
    what: "a login of a cloud",
    patterns: `
      **/.aws/credentials* **/.aws/** ~/.kube/** **/.aws/config **/.aws/sso/** **/.kube/config*
      **/.azure/** **/.config/gcloud/** **/.oci/** **/.docker/config.json
      **/application_default_credentials.json **/.terraform.d/credentials* **/.config/doctl/**
      **/.fly/config.yml
    `,
  },
  // On their own: many a command has the word `run`, and would have to be compared with all of the others.
  { what: "a login of a cloud", patterns: "/var/run/secrets/** /run/secrets/**" },
  {
    what: "a file with logins",
    patterns: `
      **/.netrc **/_netrc **/.pgpass **/.npmrc **/.pypirc
      **/.my.cnf **/.git-credentials **/.config/gh/hosts.yml **/.cargo/credentials* **/.gem/credentials
      **/.vault-token **/.password-store/** **/.config/op/** **/.htpasswd **/.claude/.credentials.json
      **/.codex/auth.json **/.gemini/oauth_creds.json **/default/login?data **/default/cookies **/key4.db
      **/logins.json ~/library/keychains/**
    `,
  },
  {
    what: "a file with passwords of the system",
    patterns: `
      /etc/shadow* /etc/gshadow* /etc/sudoers /etc/sudoers.d/** /etc/security/opasswd /etc/krb5.keytab
      /private/etc/master.passwd /etc/master.passwd
    `,
  },
  {
    what: "the history of a shell",
    patterns: "**/.*_history **/.zhistory **/fish_history **/.lesshst **/.viminfo",
  },
  { what: "the environment of a program", patterns: "/proc/*/environ" },
  { what: "the memory of a program", patterns: "/proc/*/mem /proc/kcore" },
  {
    what: "a file with secrets",
    patterns: `
      **/.env **/.env.local **/.env.production **/.env.prod **/.envrc **/secrets.yml **/secrets.yaml
      **/secrets.json
    `,
    isMild: true,
  },
];
