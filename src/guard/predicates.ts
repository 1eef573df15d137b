import { type Call, hasFlag, plainArgs, type Variable, valuesOf, type Where } from "./call.js";
import { isInside, resolvePath, TEMPORARY } from "./paths.js";
import { protection } from "./protected.js";
import { isSecretName, SEARCHED, secretIssue } from "./secrets.js";
import { comesFromFiles, isLocal, isRemotePath, uploadOf } from "./sending.js";
import { contentOf } from "./shell/output.js";
import { hasPattern, isUnknown } from "./text.js";

/** Conditions of the table that no flag or word can express. A text that one returns stands for `{}` in the reason. */
export const PREDICATES: Record<string, (call: Call) => boolean | string | undefined> = {
  none: ({ args }) => args.length === 0,
  "to-null": ({ args }) => args.at(-1) === "/dev/null",
  /** `rm -r /` among the words, also inside of one. */
  "removes-root": ({ args }) =>
    /\brm\s+(-\S+\s+)*-\S*[rR]\S*\s+(-\S+\s+)*\/\*?([\s"';&|]|$)/.test(args.join(" ")),
  elsewhere: ({ args, scope }) => {
    const [path = scope.cwd] = valuesOf(args, "-C", "--work-tree").map((folder) =>
      resolvePath(folder, scope),
    );
    return !isUnknown(path) && !isInside(path, scope.place.workspace) && !TEMPORARY.test(path);
  },

  /** `yes` for a program that asks is fine; into a file or into nothing it never ends. */
  endless: ({ readers }) => /^(|tee|cat|dd)$/.test(readers[0] ?? ""),
  huge: ({ args }) => args.some((arg) => bytesOf(arg.replace(/^--?[a-z]+=?/, "")) > LIMIT_BYTES),
  fills: ({ args, redirections, input }) => {
    const value = (name: string) => args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
    const isEndless = ENDLESS.test(value("if") ?? "") || input?.from.includes("yes") === true;
    const target = value("of") ?? redirections[0]?.target ?? "/dev/null";
    const size = bytesOf(value("bs") ?? "512") * bytesOf(value("count") ?? "1e9P");
    return isEndless && target !== "/dev/null" && size > LIMIT_BYTES;
  },
  pours: ({ args, redirections, readers }) =>
    [...args, ...redirections.map(({ target }) => target)].some((path) => ENDLESS.test(path)) &&
    !readers.some((reader) => /(^|\/)(head|dd|od|xxd|hexdump|timeout)$/.test(reader)),

  uploads: uploadOf,
  "to-remote": ({ plain }) => isRemotePath(plain.at(-1) ?? ""),
  "bound-here": ({ args }) =>
    valuesOf(args, "--bind", "-b").some((host) => /^(localhost$|127\.|::1)/.test(host)),
  "feeds-remote": ({ input, args }) => comesFromFiles(input) && !valuesOf(args, "-connect").some(isLocal),
  address: ({ plain, scope }) => {
    const target = scope.files.get(`.git/remotes/${plain[1]}`)?.text ?? plain[1] ?? "";
    return /^(https?|git|ssh):\/\/|^[\w.-]+@[\w.-]+:/.test(target) && !isLocal(target);
  },
  "elsewhere-host": ({ plain }) => plain[0] !== undefined && !isLocal(plain[0]),
  "elsewhere-socket": ({ plain }) =>
    plain
      .filter((address) => !/^(-|stdio|stdin|stdout|unix|open|file|gopen|pty|pipe|create)/i.test(address))
      .some((address) => !isLocal(address.replace(/^[\w-]+:/, ""))),
  connected: ({ input, readers, redirections }) =>
    input !== undefined || readers.length > 0 || redirections.some(({ target }) => !/^\d$/.test(target)),

  /** Every variable is shown, unless a search leaves only what is no secret. */
  bare: ({ program, args, readers }) =>
    (args.length === 0 ||
      (program !== "set" && args.every((arg) => /^(-0|--null|-|-p|-xp?|-px)$/.test(arg)))) &&
    !readers.includes(SEARCHED),
  "secret-name": ({ plain }) => plain.some(isSecretName),
  /** `echo $TOKEN | docker login --password-stdin` shows nothing. */
  "secret-shown": ({ program, variables, readers, input, redirections }) => {
    const isKept = input === undefined || redirections.some(({ operator }) => operator.startsWith(">"));
    const isShown = !/^(cat|tee|base64|xxd|od|rev)$/.test(program) || !isKept;
    return isShown && variables.some(isSecretName) && !readers.some((reader) => LOGINS.test(reader));
  },

  mounts: ({ args, scope }) => {
    const volumes = valuesOf(args, "-v", "--volume").map((value) => value.split(":")[0] ?? "");
    const mounts = valuesOf(args, "--mount").map((value) => /(?:source|src)=([^,]*)/.exec(value)?.[1] ?? "");
    return [...volumes, ...mounts].some((path) => /^[/.~\uE0FF]/.test(path) && isOpenPath(path, scope));
  },

  "open-index": ({ args }) => args.some((arg) => isOpenAddress(arg.replace(/^(--?[\w-]+=|-[if])/, ""))),
  "main-gone": ({ plain, args }) => {
    const isDeleting = hasFlag(args, "-d", "--delete");
    const gone = plain.slice(1).filter((ref) => isDeleting || ref.startsWith(":"));
    return gone.some((ref) => MAIN.test(ref.replace(/^:/, "")) || isUnknown(ref));
  },
  "to-main": ({ plain }) => plain.slice(2).some((ref) => MAIN.test(ref.split(":").at(-1) ?? "")),
  main: ({ plain }) => plain.slice(1).some((name) => MAIN.test(name) || name.includes("*")),
  steering: (call) => gitSettings(call).some(({ name, value }) => isSteering(name, value)),
  "hooks-path": (call) =>
    gitSettings(call).some(({ name, value }) => /^core\.hookspath$/i.test(name) && value !== ""),
  "all-files": ({ args }) =>
    args.some((arg) => /^(\.|:\/|\*|\.\/|:\(top\))$/.test(arg)) &&
    !hasFlag(args, "-p", "--patch", "--ours", "--theirs"),

  "first-process": ({ args }) =>
    pidsOf(args).some((pid) => /^(1|-1|-0)$/.test(pid) || (pid === "0" && /KILL|9/.test(args[0] ?? ""))),
  unchosen: ({ args, substituted, input }) => {
    const from = [...substituted, ...(input?.from ?? [])];
    const isOfAll = from.includes("ps") && !from.some((name) => /grep$|^(rg|head|tail)$/.test(name));
    return isOfAll || args.length > 30 || pidsOf(args).some(hasPattern);
  },
  /** A pattern with no two letters that have to be there fits most processes. */
  wide: ({ args, plain: [pattern = ""] }) => {
    const flags = args.filter((arg) => !/^-(\d+|[A-Z]{3,}\d?)$/.test(arg));
    const letters = pattern.replace(/\[\^?[^\]]*\]+|\\[a-zA-Z]/g, "").split("|");
    const isAny = letters.some((one) => one.replace(/[^a-z0-9]/gi, "").length < 2);
    const isOfOne = hasFlag(flags, "-P", "--parent") || isUnknown(pattern);
    const isOfRoot = valuesOf(args, "-u", "-U", "--euid", "--uid").some((user) => /^(root|0)$/.test(user));
    return isOfRoot || hasFlag(flags, "-v", "--inverse") || (isAny && !isOfOne) || PRECIOUS.test(pattern);
  },
  "sql-refused": (call) => statementsOf(call).some(isDestructive),
  "sql-warned": (call) =>
    statementsOf(call).some(
      (text) => (/\bupdate\s+\S+\s+set\b/i.test(text) && isForAll(text)) || /\bdrop\s+column\b/i.test(text),
    ),
  "one-pod": ({ plain, args }) =>
    /^(po|pods?|jobs?|job\.batch)(\/|$)/i.test(plain[1] ?? "") &&
    !hasFlag(args, "-A", "--all", "--all-namespaces"),
};

const LIMIT_BYTES = 50 * 1024 ** 3;
const ENDLESS = /^(if=)?\/dev\/(zero|u?random|full)$/;
const MAIN =
  /^(refs\/heads\/)?(main|master|trunk|develop|development|dev|production|prod|staging|stable|release([/-].*)?|gh-pages|HEAD)$/i;
const LOGINS = /^(docker|podman|gh|npm|helm|oc|kubectl|vault|skopeo|az|op|wrangler|vercel|fly)$/;
const PRECIOUS =
  /^\^?(root|ralph|claude|codex|init|systemd|sshd?|dockerd|containerd|bash|zsh|sh|login|tmux|screen|cron|dbus-daemon|launchd)\$?$/i;

function bytesOf(size: string): number {
  const [, number = "0", unit = ""] =
    /^[+<>/%-]?(\d+(?:\.\d+)?(?:e\d+)?)([kmgtpezy]?)(?:i?b)?$/i.exec(size) ?? [];
  return Number(number) * 1024 ** ("kmgtpezy".indexOf(unit.toLowerCase() || " ") + 1);
}

/** Process ids, with the signal in front left out. */
function pidsOf(args: string[]): string[] {
  const [first = "", ...rest] = args;
  if (args.includes("--")) return args.slice(args.indexOf("--") + 1);
  if (first === "-s" || first === "-n") return args.slice(2);
  return /^-([A-Z]+\d*|[a-z]+|\d+)$/.test(first) && rest.length > 0 ? rest : args;
}

function isOpenPath(path: string, where: Where): boolean {
  const resolved = resolvePath(path, where);
  const { home, workspace } = where.place;
  if (resolved.endsWith("docker.sock") || isInside(home, resolved)) return true;
  if (isInside(resolved, workspace) && !resolved.includes("/.git/")) return false;
  if (/^\/(etc\/(localtime|timezone|ssl\/certs|ca-certificates)|usr\/share\/zoneinfo)/.test(resolved))
    return false;
  const isKept = protection(path, where) !== undefined || secretIssue(path, where) !== undefined;
  return isKept || /^\/(dev|proc|sys|run)?$/.test(resolved);
}

/** Plain http from another machine: anybody on the way can change what comes. */
export function isOpenAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^git\+/, "");
  return plain.startsWith("http://") && !isLocal(plain);
}

const READS = [
  "--get",
  "--get-all",
  "--get-regexp",
  "--get-urlmatch",
  "--list",
  "-l",
  "--name-only",
  "-e",
  "--edit",
];

/** Settings that a call of git makes: with `-c`, or for good with `git config`. */
function gitSettings({ args, plain: [verb = ""] }: Call): Variable[] {
  const at = args.indexOf(verb);
  const given = valuesOf(verb === "clone" ? args : args.slice(0, Math.max(at, 0)), "-c", "--config");
  const settings = given.map((text) => ({
    name: text.split("=")[0] ?? "",
    value: text.slice(text.indexOf("=") + 1),
  }));
  const own = args.slice(at + 1);
  const words = plainArgs(own, ["-f", "--file", "--type", "--blob"]);
  if (verb !== "config" || hasFlag(own, ...READS) || /^(get|list|edit)$/.test(words[0] ?? ""))
    return settings;
  const isWord = /^(set|unset|add|remove-section)$/.test(words[0] ?? "");
  const isRemoved =
    hasFlag(own, "--unset", "--unset-all", "--remove-section") || /^(unset|remove)/.test(words[0] ?? "");
  const [name = "", value] = isWord ? words.slice(1) : words;
  return value === undefined && !isRemoved ? settings : [...settings, { name, value: value ?? "" }];
}

const STEERING =
  /^(credential\b.*|core\.(hookspath|sshcommand|fsmonitor|gitproxy|askpass|attributesfile|worktree)|url\..*insteadof|http\..*(proxy|extraheader|cookiefile)|filter\..*|diff\..*\.?(external|command|textconv)|merge\..*\.driver|gpg\..*program|init\.templatedir|include(if)?\..*|remote\..*\.(uploadpack|receivepack|proxy)|protocol\..*allow|(merge|diff)tool\..*cmd|uploadpack\..*|sendemail\..*)$/i;

/** Settings of git that run programs, give away logins or lead elsewhere. */
function isSteering(name: string, value: string): boolean {
  if (/^alias\./i.test(name)) return value.startsWith("!") || isUnknown(value);
  if (/^(core\.pager|pager\.\w+|core\.editor|sequence\.editor)$/i.test(name))
    return !/^(|cat|less( -\w+)?|delta|true|:|vim?|nano|code --wait|false)$/.test(value);
  return STEERING.test(name) || (/^http\..*sslverify$/i.test(name) && /^(false|0|no)$/i.test(value));
}

const CLIENT = /(^|[\s/"'])(psql|mysql|mariadb|mongosh?|redis-cli|sqlite3|clickhouse-client|cqlsh)\b/;

/** Statements that a client of a database is given, without comments and texts in quotes. */
function statementsOf({ program, args, input, scope }: Call): string[] {
  // A client in a container or on another machine works on the same data.
  if (/^(docker|kubectl|heroku|fly|ssh)$/.test(program) && !CLIENT.test(args.join(" "))) return [];
  const files = valuesOf(args, "-f", "--file").map((file) => contentOf(file, scope).text);
  return [...args, input?.text, ...files].flatMap((text = "") =>
    text
      .slice(0, 20_000)
      .replace(/^(--[a-z-]+=|-[ceqQ](?=[a-z]))/i, "")
      .replace(/--[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*/g, " ")
      .replace(/\bexecute\s+'/gi, "")
      .replace(/'(?:[^']|'')*'/g, "''")
      .split(";"),
  );
}

const DESTRUCTIVE =
  /\bdrop\s+(database|table|schema|user|role|owned|tablespace|keyspace|collection|materialized\s+view|index\s+if)\b|^[\s(]*truncate\b|\btruncate\s+table\b|\bdropDatabase\s*\(|\.drop\s*\(\s*\)|\.(deleteMany|remove)\s*\(\s*(\{\s*\})?\s*\)|dropCollection|dropUser|^\s*(flushall|flushdb|debug\s+segfault)\b/i;

function isDestructive(statement: string): boolean {
  return DESTRUCTIVE.test(statement) || (/\bdelete\s+from\s+\S+/i.test(statement) && isForAll(statement));
}

function isForAll(statement: string): boolean {
  return !/\bwhere\b(?!\s*(1\s*=\s*1|true|1|''\s*=\s*'')\s*"?$)/i.test(statement);
}
