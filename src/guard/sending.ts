import { type Call, hasFlag, plainArgs, type Stream, valuesOf } from "./call.js";
import { REMOVERS, WRITERS } from "./programs.js";
import { isSecretName } from "./secrets.js";
import { isUnknown, list, regex, rowsIn } from "./text.js";

/** Whether an address is this machine. */
export function isLocal(address: string): boolean {
  const local =
    /^(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.localhost)$/i;
  return local.test(hostOf(address));
}

function hostOf(address: string): string {
  const [, authority = ""] = /^(?:[a-z][\w+.-]*:\/\/)?([^/?#]*)/i.exec(address) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  return host.startsWith("[") ? host.slice(0, host.indexOf("]") + 1) : host.replace(/:[^:]*$/, "");
}

/** `user@host:path` and `host::module`, but not a file name with a colon after a slash. */
export function isRemotePath(word: string): boolean {
  if (/^(rsync|sftp|scp|ssh):\/\//.test(word)) return !isLocal(word);
  const [, host] = /^([^/:]+):/.exec(word) ?? [];
  return host !== undefined && (isUnknown(host) || !isLocal(host));
}

/** Flags that carry data, and others with a value; of curl, of wget. */
const DATA = list(`
  -d --data --data-binary --data-raw --data-ascii --data-urlencode --json -F --form -T --upload-file
  --post-data --body-data --post-file --body-file
`);
const VALUED = list(`
  -H --header -A --user-agent -b --cookie -e --referer -X --request -u --user -o --output -c -m --max-time --retry
  --retry-delay --connect-timeout -w --write-out --cacert --cert --key -x --proxy --unix-socket --resolve -D -K --config
  --limit-rate -r --range --output-dir --form-string --url -O -P -U -i -a
`);
/** Programs whose output reveals nothing about this machine or its files. */
const HARMLESS =
  /^(date|echo|printf|git (rev-parse|describe|branch|symbolic-ref|config|rev-list|merge-base|ls-remote|tag)|uuidgen|seq|jq|basename|dirname|nproc|expr|bc|openssl|gh|npm|node|tr|cut|true|sha256sum|pwd|mktemp|gcloud|sleep)$/;

/** What curl, wget or httpie would send to another machine, in words. */
export function uploadOf(call: Call): string | undefined {
  const isHttpie = call.program === "http";
  const args = call.program === "curl" ? call.args.flatMap(apart) : call.args;
  const plain = plainArgs(args, [...DATA, ...VALUED]).filter((word) => !/^[A-Z]+$|^[\w.-]+:?==?/.test(word));
  const addresses = [...plain, ...valuesOf(args, "--url")];
  if (addresses.length > 0 && addresses.every((address) => isLocal(address) || /^:\d*/.test(address)))
    return undefined;
  const raw = valuesOf(args, "--data-raw", "--form-string");
  const data = valuesOf(args, ...DATA);
  const files = data.filter((value) => /^@|^[\w.-]+@|=[@<]/.test(value) && !raw.includes(value));
  const given = [...files, ...valuesOf(args, "-T", "--upload-file", "--post-file", "--body-file")];
  const isOfFile = isHttpie && args.some((arg) => /^[\w.-]*:?=?@/.test(arg));
  if (given.length > 0 || isOfFile) return "it sends a file to another machine";
  if (![...data, ...addresses, ...(isHttpie ? args : [])].some(isUnknown)) return undefined;
  const told = call.substituted.find((program) => !HARMLESS.test(program));
  if (told !== undefined) return `it sends what ${told} says to another machine`;
  return call.variables.some(isSecretName) ? "it sends a secret variable to another machine" : undefined;
}

/** Letters of short flags may be grouped, and a value may follow directly: `-sd @x`, `-sT x`. */
function apart(arg: string): string[] {
  const [, before, flag, value = ""] = /^-([a-zA-Z#]*?)([dFToHXuAbcemwxDK])(.*)$/s.exec(arg) ?? [];
  if (arg.startsWith("--") || flag === undefined) return [arg];
  return [`-${before}`, `-${flag}`, value].filter((part) => part !== "-" && part !== "");
}

/** Data from files, or from programs that describe this machine. */
export function comesFromFiles(input: Stream | undefined): boolean {
  return input?.from.some((program) => !/^(echo|printf|yes|true|)$/.test(program)) ?? false;
}

/** The files that a command would write, change or remove, as its words name them. */
export function writtenPaths(call: Call): string[] {
  const redirected = call.redirections
    .filter(
      ({ operator, target }) =>
        !/^<&?$/.test(operator) && !(operator.includes("&") && /^(\d+-?|-)$/.test(target)),
    )
    .map(({ target }) => target);
  return [...redirected, ...pathsIn(WRITERS, call)].filter((path) => path !== "" && !isRemotePath(path));
}

/** Trees and files that the command would remove. */
export function removedPaths(call: Call): string[] {
  return pathsIn(REMOVERS, call);
}

function pathsIn(table: string, call: Call): string[] {
  return rowsIn(table, call.program).flatMap((tokens) => {
    const conditions = tokens.filter((token) => /^(\?|\.\.)/.test(token));
    if (!conditions.every((condition) => holds(condition, call))) return [];
    return tokens.flatMap((token) => (conditions.includes(token) ? [] : pathsOf(token, call)));
  });
}

function holds(condition: string, { args, plain }: Call): boolean {
  if (condition.startsWith("..")) return plain.includes(condition.slice(2));
  if (condition.startsWith("?~")) return args.some((arg) => regex(condition.slice(2)).test(arg));
  if (condition.startsWith("?!")) return !hasFlag(args, ...condition.slice(2).split("|"));
  return hasFlag(args, ...condition.slice(1).split("|"));
}

function pathsOf(token: string, { args, plain }: Call): string[] {
  const folders = valuesOf(args, "-t", "--target-directory");
  switch (token) {
    case "all":
      return plain;
    case "last":
      return plain.slice(-1);
    case "first":
      return plain.slice(0, 1);
    case "rest":
      return plain.slice(1);
    case "sources":
      return folders.length > 0 || plain.length === 1 ? plain : plain.slice(0, -1);
    case "edited":
      return hasFlag(args, "-e", "-f", "--expression", "--file") ? plain : plain.slice(1);
    case "into":
      return folders.length > 0
        ? below(folders[0] ?? "", plain)
        : below(plain.at(-1) ?? "", plain.slice(0, -1));
    case "named":
      return args
        .filter((arg) => /^[a-z]+:\/\/./i.test(arg))
        .map((url) => url.replace(/[?#].*$/, "").replace(/^.*\//, ""));
    default:
      return token.endsWith("=")
        ? args.filter((arg) => arg.startsWith(token)).map((arg) => arg.slice(token.length))
        : valuesOf(args, token);
  }
}

/** A file copied into a folder keeps its name. */
function below(target: string, sources: string[]): string[] {
  const names = sources.map((source) => source.slice(source.lastIndexOf("/") + 1));
  return [target, ...names.filter((name) => name !== "" && target !== "").map((name) => `${target}/${name}`)];
}
