import { plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import type { Rule } from "./rule.js";
import { readSecret } from "./secret-reading.js";

export const secrets: Rule = {
  category: "secrets",
  judge: (call) => shownVariables(call) ?? entryOf(SHOWN, call.program)?.(call) ?? readSecret(call),
};

const SECRET_NAME =
  /(secret|token|passw|passphrase|passwd|credential|api_?key|private_?key|access_?key|auth_?key|_key$|^key$|_pat$|_pwd$|_cookie$)/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !/(_url|_path|_file|_dir|_count|_id|_name)$/i.test(name);
}

const SHOWS = namesIn("echo printf print say logger wall figlet cowsay");
const COPIES = namesIn("cat tee base64 xxd od rev");

/** Programs that show their arguments or what they read. */
function shownVariables({ program, variables, readers, input, redirections }: Call): Judged | undefined {
  const shows =
    SHOWS.has(program) ||
    (COPIES.has(program) &&
      input !== undefined &&
      !redirections.some(({ operator }) => operator.startsWith(">")));
  const name = shows ? variables.find(isSecretName) : undefined;
  if (name === undefined || readers.some((reader) => LOGINS.test(reader))) return undefined;
  return refuse(`it shows the variable ${name}`);
}

/** `echo $TOKEN | docker login --password-stdin` shows nothing. */
const LOGINS =
  /^(docker|podman|gh|npm|helm|oc|kubectl|vault|skopeo|buildah|az|op|wrangler|vercel|fly|flyctl)$/;

const SHOWN: Record<string, (call: Call) => Judged | undefined> = {
  env: ({ args, readers }) =>
    args.every((arg) => /^(-0|--null|-i|-)$/.test(arg)) && !args.includes("-i") ? dumped(readers) : undefined,
  printenv: ({ args, readers }) => {
    const names = plainArgs(args);
    if (names.length === 0) return dumped(readers);
    return names.some(isSecretName) ? refuse("it shows a secret variable") : undefined;
  },
  set: ({ args, readers }) => (args.length === 0 ? dumped(readers) : undefined),
  export: ({ args, readers }) => (args.length === 0 || args[0] === "-p" ? dumped(readers) : undefined),
  declare: ({ args, readers }) =>
    args.length === 0 || /^-[xp]+$/.test(args.join("")) ? dumped(readers) : undefined,
  compgen: ({ args, readers }) => (/^-[ev]$/.test(args[0] ?? "") ? dumped(readers) : undefined),
  history: ({ args }) => (args[0] === "-c" ? undefined : refuse("the history of a shell holds secrets")),
  fc: ({ args }) => (args.includes("-l") ? refuse("the history of a shell holds secrets") : undefined),
  gh: ({ args }) =>
    args.join(" ").startsWith("auth token") || (args[1] === "status" && args.includes("--show-token"))
      ? refuse("it shows a login")
      : undefined,
  aws: ({ args }) =>
    /configure (get|export-credentials)|secretsmanager get-secret-value|get-session-token|get-login-password|--with-decryption|ecr get-authorization-token/.test(
      args.join(" "),
    )
      ? refuse("it shows a secret")
      : undefined,
  gcloud: ({ args }) =>
    /auth (application-default )?print-(access|identity)-token|secrets versions access/.test(args.join(" "))
      ? refuse("it shows a secret")
      : undefined,
  az: ({ args }) =>
    /account get-access-token|keyvault secret (show|download)/.test(args.join(" "))
      ? refuse("it shows a secret")
      : undefined,
  kubectl: ({ args }) =>
    /^(get|describe|view)$/.test(args[0] ?? "") &&
    args.some((arg) => /^secrets?(\/|$)/.test(arg)) &&
    valuesOf(args, "-o", "--output").some((form) => !/^(name|wide)$/.test(form))
      ? refuse("it shows secrets")
      : rawConfig(args),
  vault: ({ args }) =>
    /^(read|kv get|token lookup|print token)/.test(args.join(" ")) ? refuse("it shows a secret") : undefined,
  op: ({ args }) => (/^(read|item get)/.test(args.join(" ")) ? refuse("it shows a secret") : undefined),
  pass: ({ args }) =>
    /^(show|ls|list|find|init|git|version|help)$/.test(args[0] ?? "ls") && args[0] !== "show"
      ? undefined
      : refuse("it shows a secret"),
  security: ({ args }) =>
    /^(find-(generic|internet)-password|dump-keychain|export)$/.test(args[0] ?? "")
      ? refuse("it shows a secret")
      : undefined,
  "secret-tool": () => refuse("it shows a secret"),
  gpg: ({ args }) =>
    args.some((arg) => arg.startsWith("--export-secret")) ? refuse("it gives away a private key") : undefined,
  git: ({ args }) =>
    args[0] === "credential" || args[0]?.startsWith("credential-") ? refuse("it shows a login") : undefined,
  npm: ({ args }) =>
    ["token", "config"].includes(args[0] ?? "") &&
    /^token (list|ls|create)|^config get .*_(authToken|password|auth)/.test(args.join(" "))
      ? refuse("it shows a login")
      : undefined,
  heroku: ({ args }) =>
    /^(config( -|$)|auth:token|config:get)/.test(args.join(" ")) ? refuse("it shows secrets") : undefined,
  doppler: ({ args }) => (args[0] === "secrets" ? refuse("it shows secrets") : undefined),
  ps: ({ args }) =>
    /^(-?\w*e\w*ww\w*|eww\w*|auxe\w*)$/.test(args[0] ?? "") && !/^-/.test(args[0] ?? "")
      ? refuse("it shows the environment of programs")
      : undefined,
};

function rawConfig(args: string[]): Judged | undefined {
  return args[0] === "config" && args.includes("--raw") ? refuse("it shows logins") : undefined;
}

/** Everything, unless it is searched for something that is no secret. */
function dumped(readers: string[]): Judged | undefined {
  return readers.includes(SEARCHED)
    ? undefined
    : refuse("it shows every variable, with the secrets among them");
}

/** What a pipe calls a search for a harmless word; see `shell/run.ts`. */
export const SEARCHED = "grep:harmless";

export function isHarmlessSearch(args: string[]): boolean {
  const [pattern = ""] = plainArgs(args);
  const inverts = args.some((arg) => /^-\w*v|^--invert/.test(arg));
  return (
    /^\^?[\w=-]{3,}\$?$/.test(pattern) &&
    !inverts &&
    !SECRET_NAME.test(pattern) &&
    !/^(key|aws|pass|auth|gh_|api)/i.test(pattern)
  );
}
