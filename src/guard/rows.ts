import { type Call, hasFlag, valuesOf, type Where } from "./call.js";
import type { Category, Risk } from "./finding.js";
import { isInside, resolvePath } from "./paths.js";
import { protection } from "./protected.js";
import { RULES } from "./rules.js";
import { isSecretName, SEARCHED, secretIssue } from "./secrets.js";
import { comesFromFiles, isLocal, isRemotePath, uploadOf } from "./sending.js";
import { contentOf } from "./shell/output.js";
import { isUnknown, regex } from "./text.js";

/** The issue of a table row, and its conditions. */
interface Row extends Risk {
  conditions: string[];
}

/** Categories of programs with a help or dry-run flag, which then change nothing. */
const TRIED: Category[] = ["cloud", "supply-chain"];
const ASKED: Category[] = [...TRIED, "disks", "system", "processes", "remote-access", "exfiltration"];

/** The table's objections to a call, one for each category. */
export function issuesOf(call: Call): Risk[] {
  const found = new Map<Category, Risk>();
  const { args, plain } = call;
  const isBare = plain.length === 1 && /^(version|help)$/.test(plain[0] ?? "");
  const isQuestion =
    isBare || hasFlag(args, "--help") || args[0] === "--version" || args.at(-1) === "--version";
  const isTrial = args.some((arg) => /^--dry-?run/.test(arg) && !/=(false|none)$/.test(arg));
  for (const { conditions, category, level, reason } of rowsFor(call.program)) {
    const isAsked = (isQuestion && ASKED.includes(category)) || (isTrial && TRIED.includes(category));
    if (isAsked || found.get(category)?.level === "refuse") continue;
    const name = holding(conditions, call);
    if (name !== undefined) found.set(category, { category, level, reason: reason.replace("{}", name) });
  }
  return [...found.values()];
}

let groups: { category: Category; commands: string; reason: string }[] | undefined;
const known = new Map<string, Row[]>();

/** The table's rows about a program. Parses only the lines that name it. */
export function rowsFor(program: string): Row[] {
  const before = known.get(program);
  if (before !== undefined || program === "") return before ?? [];
  groups ??= Object.entries(RULES).flatMap(([category, text]) =>
    [...text.matchAll(/([\s\S]+?)\s(=\?? .*)\n/g)].map(([, commands = "", reason = ""]) => ({
      category: category as Category,
      commands,
      reason,
    })),
  );
  const rows = groups
    .filter(({ commands }) => commands.includes(program))
    .flatMap(({ category, commands, reason }) =>
      commands.split(/,\s+/).map((command): Row => {
        const level = reason.startsWith("=?") ? "warn" : "refuse";
        return {
          category,
          level,
          reason: reason.replace(/^=\?? /, ""),
          conditions: command.trim().split(" "),
        };
      }),
    )
    .filter(({ conditions }) => conditions[0]?.split("|").includes(program));
  if (rows.length > 0) known.set(program, rows);
  return rows;
}

/** The text for `{}` if all conditions hold. */
function holding([, ...conditions]: string[], call: Call): string | undefined {
  let name = (call.words[0] ?? "").replace(/^.*\//, "");
  let next = 0;
  for (const condition of conditions) {
    const isNot = condition.startsWith("!");
    const text = isNot ? condition.slice(1) : condition;
    const isWord = !/^(\.\.|[-~@])/.test(text);
    const found = isWord ? fitsWord(call.plain[next], text) : holds(text, call);
    if (isWord && !isNot) next += 1;
    if (isNot === (found !== false && found !== undefined)) return undefined;
    if (typeof found === "string") name = found;
  }
  return name;
}

function fitsWord(word: string | undefined, wanted: string): boolean {
  if (word === undefined || wanted === "*") return word !== undefined;
  return wanted.startsWith("^") ? regex(wanted).test(word) : wanted.split("|").includes(word);
}

function holds(condition: string, { args, plain, ...call }: Call): boolean | string | undefined {
  if (condition.startsWith("@")) return PREDICATES[condition.slice(1)]?.({ args, plain, ...call });
  if (condition.startsWith("..")) return plain.some((word) => condition.slice(2).split("|").includes(word));
  if (condition.startsWith("~~")) return regex(condition.slice(2), "i").test(args.join(" "));
  if (condition.startsWith("~")) return args.some((arg) => regex(condition.slice(1)).test(arg));
  const at = condition.indexOf("~");
  if (at === -1) return hasFlag(args, ...condition.split("|"));
  const values = valuesOf(args, ...condition.slice(0, at).split("|"));
  return values.some((value) => regex(condition.slice(at + 1)).test(value));
}

/** Conditions that no flag or word can express. A returned text replaces `{}` in the reason. */
export const PREDICATES: Record<string, (call: Call) => boolean | string | undefined> = {
  none: ({ args }) => args.length === 0,

  /** `yes` may answer a program's questions; into a file or into nothing it never ends. */
  endless: ({ readers }) => /^(|tee|cat|dd)$/.test(readers[0] ?? ""),
  huge: ({ args }) => args.some((arg) => bytesOf(arg.replace(/^--?[a-z]+=?/, "")) > LIMIT_BYTES),
  fills: ({ args }) => {
    const value = (name: string) => args.find((arg) => arg.startsWith(name))?.slice(name.length);
    const size = bytesOf(value("bs=") ?? "512") * bytesOf(value("count=") ?? "1e9P");
    return ENDLESS.test(value("if=") ?? "") && value("of=") !== "/dev/null" && size > LIMIT_BYTES;
  },
  pours: ({ args, redirections, readers }) =>
    [...args, ...redirections.map(({ target }) => target)].some((path) => ENDLESS.test(path)) &&
    !readers.some((reader) => /^(head|dd|od|xxd|hexdump)$/.test(reader)),

  uploads: uploadOf,
  "to-remote": ({ plain }) => isRemotePath(plain.at(-1) ?? ""),
  "feeds-remote": ({ input, args }) => comesFromFiles(input) && !valuesOf(args, "-connect").some(isLocal),
  "elsewhere-host": ({ plain }) => plain[0] !== undefined && !isLocal(plain[0]),

  /** Shows every variable, unless a search selects harmless ones. */
  bare: ({ program, args, readers }) =>
    (args.length === 0 || (program !== "set" && args.every((arg) => /^(-0|--null|-|-x|-x?p)$/.test(arg)))) &&
    !readers.includes(SEARCHED),
  "secret-name": ({ plain }) => plain.some(isSecretName),
  /** `echo $TOKEN | docker login --password-stdin` shows nothing. */
  "secret-shown": ({ variables, readers }) =>
    variables.some(isSecretName) && !readers.some((reader) => LOGINS.test(reader)),

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
  steering: (call) => gitSettings(call).some(isSteering),

  "first-process": ({ args }) =>
    pidsOf(args).some((pid) => /^(1|-1|-0)$/.test(pid) || (pid === "0" && /KILL|9/.test(args[0] ?? ""))),
  /** A pattern without two fixed letters matches most processes. */
  wide: ({ args, plain: [pattern = ""] }) => {
    const isAny = pattern.split("|").some((one) => one.replace(/[^a-z0-9]/gi, "").length < 2);
    const isOfOne = args.includes("-P") || isUnknown(pattern);
    return hasFlag(args, "-v", "--inverse") || (isAny && !isOfOne) || PRECIOUS.test(pattern);
  },
  "sql-refused": (call) => statementsOf(call).some(isDestructive),
  "sql-warned": (call) =>
    statementsOf(call).some((text) => /\bupdate\s+\S+\s+set\b/i.test(text) && isForAll(text)),
};

const LIMIT_BYTES = 50 * 1024 ** 3;
const ENDLESS = /^\/dev\/(zero|u?random|full)$/;
const MAIN =
  /^(refs\/heads\/)?(main|master|trunk|develop|development|dev|production|prod|staging|stable|release([/-].*)?|gh-pages|HEAD)$/i;
const LOGINS = /^(docker|podman|gh|npm|helm|oc|kubectl|vault|skopeo|az|op|wrangler|vercel|fly)$/;
const PRECIOUS =
  /^\^?(root|ralph|claude|codex|init|systemd|sshd?|dockerd|containerd|bash|zsh|sh|login|tmux|screen|cron|launchd)\$?$/i;

function bytesOf(size: string): number {
  const [, number = "0", unit = ""] = /^\+?(\d+(?:\.\d+)?(?:e\d+)?)([kmgtpezy]?)(?:i?b)?$/i.exec(size) ?? [];
  return Number(number) * 1024 ** ("kmgtpezy".indexOf(unit.toLowerCase() || " ") + 1);
}

/** Process ids, without a leading signal. */
function pidsOf(args: string[]): string[] {
  const [first = "", ...rest] = args;
  if (args.includes("--")) return args.slice(args.indexOf("--") + 1);
  if (first === "-s" || first === "-n") return args.slice(2);
  return /^-([A-Z]+\d*|[a-z]+|\d+)$/.test(first) && rest.length > 0 ? rest : args;
}

function isOpenPath(path: string, where: Where): boolean {
  const resolved = resolvePath(path, where);
  const { home, workspace } = where.site;
  if (resolved.endsWith("docker.sock") || isInside(home, resolved)) return true;
  const isFree = /^\/(etc\/(localtime|timezone|ssl\/certs)|usr\/share\/zoneinfo)/.test(resolved);
  if (isFree || (isInside(resolved, workspace) && !resolved.includes("/.git/"))) return false;
  const isKept = protection(path, where) !== undefined || secretIssue(path, where) !== undefined;
  return isKept || /^\/(dev|proc|sys|run)?$/.test(resolved);
}

/** Plain http from another machine: anybody on the way can change the content. */
function isOpenAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^git\+/, "");
  return plain.startsWith("http://") && !isLocal(plain);
}

/** The settings in a call of git, as `name=value`: from `-c`, or from `git config`. */
function gitSettings({ args, plain: [verb, ...words] }: Call): string[] {
  const given = valuesOf(args, "-c", "--config").filter((text) => text.includes("="));
  const [name, value] = /^(set|add)$/.test(words[0] ?? "") ? words.slice(1) : words;
  return verb === "config" && value !== undefined ? [...given, `${name}=${value}`] : given;
}

const STEERING =
  /^(credential\b.*|core\.(hookspath|sshcommand|fsmonitor|gitproxy|askpass|attributesfile|worktree)|url\..*insteadof|http\..*(proxy|extraheader|cookiefile)|filter\..*|diff\..*\.?(external|command|textconv)|merge\..*\.driver|gpg\..*program|init\.templatedir|include(if)?\..*|remote\..*\.(uploadpack|receivepack|proxy)|protocol\..*allow|(merge|diff)tool\..*cmd|uploadpack\..*|sendemail\..*)$/i;

/** Git settings that run programs, give away logins, or redirect. */
function isSteering(setting: string): boolean {
  const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(setting) ?? [];
  if (/^alias\./i.test(name)) return value.startsWith("!") || isUnknown(value);
  if (/^(core\.pager|pager\.\w+|core\.editor|sequence\.editor)$/i.test(name))
    return !/^(|cat|less( -\w+)?|delta|true|:|vim?|nano|code --wait|false)$/.test(value);
  return STEERING.test(name) || (/^http\..*sslverify$/i.test(name) && /^(false|0|no)$/i.test(value));
}

const CLIENT = /(^|[\s/"'])(psql|mysql|mariadb|mongosh?|redis-cli|sqlite3|clickhouse-client|cqlsh)\b/;

/** The statements for a database client, without comments and quoted texts. */
function statementsOf({ program, args, input, scope }: Call): string[] {
  // A client in a container or on another machine works on the same data.
  if (/^(docker|kubectl|heroku|fly|ssh)$/.test(program) && !CLIENT.test(args.join(" "))) return [];
  const files = valuesOf(args, "-f", "--file").map((file) => contentOf(file, scope).text);
  return [...args, input?.text, ...files].flatMap((text = "") =>
    text
      .slice(0, 20_000)
      .replace(/^(--[a-z-]+=|-[ceqQ](?=[a-z]))/i, "")
      .replace(/--[^\n]*|\/\*[\s\S]*?\*\/|#[^\n]*/g, " ")
      .replace(/'(?:[^']|'')*'/g, "''")
      .split(";"),
  );
}

const DESTRUCTIVE =
  /\bdrop\s+(database|table|schema|user|role|owned|tablespace|keyspace|collection|index\s+if)\b|^[\s(]*truncate\b|\btruncate\s+table\b|\bdropDatabase\s*\(|\.drop\s*\(\s*\)|\.(deleteMany|remove)\s*\(\s*(\{\s*\})?\s*\)|dropCollection|dropUser|^\s*(flushall|flushdb)\b/i;

function isDestructive(statement: string): boolean {
  return DESTRUCTIVE.test(statement) || (/\bdelete\s+from\s+\S+/i.test(statement) && isForAll(statement));
}

function isForAll(statement: string): boolean {
  return !/\bwhere\b(?!\s*(1\s*=\s*1|true|1)\s*"?$)/i.test(statement);
}
