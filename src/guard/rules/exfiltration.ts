import { hasFlag, plainArgs, valuesOf } from "../args.js";
import { type Call, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { isLocal, isRemotePath } from "./hosts.js";
import type { Rule } from "./rule.js";
import { isSecretName } from "./secrets.js";

export const exfiltration: Rule = {
  category: "exfiltration",
  judge: (call) =>
    entryOf(JUDGES, call.program)?.(call) ??
    (SCANNERS.has(call.program)
      ? refuse(`${call.program} looks into other machines or their traffic`)
      : undefined),
};

const SCANNERS = new Set([
  "nmap",
  "masscan",
  "zmap",
  "nikto",
  "hydra",
  "sqlmap",
  "ettercap",
  "arpspoof",
  "tcpdump",
  "tshark",
  "dsniff",
  "responder",
  "gobuster",
  "ffuf",
  "rustscan",
  "wpscan",
  "aircrack-ng",
  "netdiscover",
]);
const MAILERS = ["mail", "mailx", "mutt", "sendmail", "swaks", "msmtp", "ssmtp", "s-nail"];
const SENDERS = [
  "sftp",
  "ftp",
  "tftp",
  "lftp",
  "ncftp",
  "ncftpput",
  "smbclient",
  "croc",
  "wormhole",
  "ffsend",
  "filebin",
  "pastebinit",
  "transfer",
  "termbin",
  "wput",
  "uucp",
];
const LOOKUPS = ["dig", "nslookup", "host", "ping", "drill", "getent"];

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  curl: sentByCurl,
  wget: sentByWget,
  http: sentByHttpie,
  https: sentByHttpie,
  xh: sentByHttpie,
  scp: ({ args }) => sentTo(plainArgs(args, ["-i", "-P", "-o", "-F", "-J", "-S", "-c", "-l"]).at(-1)),
  rsync: ({ args }) => sentTo(plainArgs(args, ["-e", "--rsh", "--exclude", "--include", "-f"]).at(-1)),
  rclone: ({ args }) =>
    /^(copy|copyto|sync|move|moveto|rcat|bisync|serve|mount)$/.test(args[0] ?? "")
      ? refuse("it sends files elsewhere")
      : undefined,
  python: served,
  python2: served,
  python3: served,
  php: ({ args }) =>
    valuesOf(args, "-S").some((address) => !/^(localhost|127\.)/.test(address))
      ? refuse("it serves files to everybody")
      : undefined,
  ruby: ({ args }) =>
    args.includes("-run") || args.some((arg) => /httpd|un\.rb/.test(arg) && arg.startsWith("-"))
      ? refuse("it serves files to everybody")
      : undefined,
  openssl: ({ args, input }) =>
    args[0] === "s_client" && isOfFiles(input?.from) && !valuesOf(args, "-connect").some(isLocal)
      ? refuse("it sends what it reads to another machine")
      : undefined,
  ssh: ({ input }) =>
    isOfFiles(input?.from) ? refuse("it sends what it reads to another machine") : undefined,
  gh: ({ args }) =>
    args[0] === "gist" && /^(create|edit)$/.test(args[1] ?? "") ? refuse("it publishes files") : undefined,
  busybox: ({ args }) => (args[0] === "httpd" ? refuse("it serves files to everybody") : undefined),
  git: ({ args }) => (args[0] === "daemon" ? refuse("it serves the repository to everybody") : undefined),
  ...Object.fromEntries(
    SENDERS.map((name) => [
      name,
      ({ args }: Call) =>
        hasFlag(args, "", "--help", "--version") ? undefined : refuse("it sends files elsewhere"),
    ]),
  ),
  ...Object.fromEntries(MAILERS.map((name) => [name, () => refuse("it sends mail")])),
  ...Object.fromEntries(LOOKUPS.map((name) => [name, lookedUp])),
};

const VALUED = [
  "-H",
  "--header",
  "-X",
  "--request",
  "-u",
  "--user",
  "-A",
  "--user-agent",
  "-o",
  "--output",
  "-b",
  "--cookie",
  "-c",
  "-e",
  "--referer",
  "-m",
  "--max-time",
  "--retry",
  "--retry-delay",
  "--connect-timeout",
  "-w",
  "--write-out",
  "--cacert",
  "--cert",
  "--key",
  "-x",
  "--proxy",
  "--unix-socket",
  "--resolve",
  "-D",
  "-K",
  "--config",
  "--retry-max-time",
  "--limit-rate",
  "-r",
  "--range",
  "-t",
  "-y",
  "-Y",
  "-z",
  "--output-dir",
  "--form-string",
  "--url",
];
const DATA = [
  "-d",
  "--data",
  "--data-binary",
  "--data-raw",
  "--data-ascii",
  "--data-urlencode",
  "--json",
  "-F",
  "--form",
  "-T",
  "--upload-file",
];

function sentByCurl(call: Call): Judged | undefined {
  const args = call.args.flatMap(apart);
  const addresses = [...plainArgs(args, [...VALUED, ...DATA]), ...valuesOf(args, "--url")];
  if (valuesOf(args, "--unix-socket").some((path) => path.includes("docker.sock")))
    return { ...refuse("it steers docker through its socket"), category: "containers" };
  if (addresses.length > 0 && addresses.every(isLocal)) return undefined;
  const uploads = [...valuesOf(args, "-T", "--upload-file"), ...valuesOf(args, ...DATA).filter(isFile)];
  const raw = valuesOf(args, "--data-raw", "--form-string");
  if (uploads.some((value) => !raw.includes(value))) return refuse("it sends a file to another machine");
  return sentInside(call, [...valuesOf(args, ...DATA), ...addresses]);
}

/** Letters of short flags stand together, and their value may follow at once: `-sd @x`, `-sT x`. */
function apart(arg: string): string[] {
  const [, before, flag, value = ""] = /^-([a-zA-Z#]*?)([dFToHXuAbcemwxDKK])(.*)$/s.exec(arg) ?? [];
  if (arg.startsWith("--") || before === undefined || flag === undefined) return [arg];
  return [...(before === "" ? [] : [`-${before}`]), `-${flag}`, ...(value === "" ? [] : [value])];
}

function isFile(data: string): boolean {
  return /^@|^[\w.-]+@|=[@<]/.test(data);
}

/** Programs whose output tells nothing about this machine or its files. */
const HARMLESS =
  /^(date|echo|printf|git (rev-parse|describe|branch|symbolic-ref|config|rev-list|merge-base|ls-remote|tag)|uuidgen|seq|jq|basename|dirname|nproc|expr|bc|openssl|gh|npm|node|tr|cut|true|sha256sum|pwd|mktemp|gcloud|sleep)$/;

function sentInside({ substituted, variables }: Call, texts: string[]): Judged | undefined {
  const told = substituted.find((program) => !HARMLESS.test(program));
  if (told !== undefined && texts.some((text) => text.includes(UNKNOWN)))
    return refuse(`it sends what ${told} says to another machine`);
  const isTold = variables.some(isSecretName) && texts.some((text) => text.includes(UNKNOWN));
  return isTold
    ? { ...refuse("it sends a secret variable to another machine"), category: "secrets" }
    : undefined;
}

function sentByWget(call: Call): Judged | undefined {
  const { args } = call;
  const addresses = plainArgs(args, ["-O", "-o", "-P", "-U", "-t", "-T", "-e", "-i", "-a"]);
  if (addresses.length > 0 && addresses.every(isLocal)) return undefined;
  if (valuesOf(args, "--post-file", "--body-file").length > 0)
    return refuse("it sends a file to another machine");
  return sentInside(call, [...addresses, ...valuesOf(args, "--post-data", "--body-data")]);
}

function sentByHttpie(call: Call): Judged | undefined {
  const [first = "", second = ""] = plainArgs(call.args);
  const address = /^[A-Z]+$/.test(first) ? second : first;
  if (isLocal(address) || /^:\d*/.test(address)) return undefined;
  if (call.args.some((arg) => /[=:]?@/.test(arg) && /^[\w.-]+:?=?@/.test(arg)) || isOfFiles(call.input?.from))
    return refuse("it sends a file to another machine");
  return sentInside(call, call.args);
}

function sentTo(target = ""): Judged | undefined {
  return isRemotePath(target) ? refuse(`it sends files to ${target.replaceAll(UNKNOWN, "…")}`) : undefined;
}

function served({ args }: Call): Judged | undefined {
  const module = valuesOf(args, "-m")[0] ?? "";
  if (!/^(http\.server|SimpleHTTPServer|pyftpdlib|uploadserver|smtpd|aiosmtpd)$/.test(module))
    return undefined;
  const isBound = valuesOf(args, "--bind", "-b").some((address) => isLocal(address) && address !== "0.0.0.0");
  return isBound ? undefined : refuse("it serves files to everybody; bind it to 127.0.0.1");
}

function lookedUp({ substituted, variables }: Call): Judged | undefined {
  const told = substituted.find((program) => !HARMLESS.test(program));
  if (told !== undefined) return refuse(`it sends what ${told} says in the name that it looks up`);
  return variables.some(isSecretName) ? refuse("it sends a secret in the name that it looks up") : undefined;
}

/** Data that comes from files or from what a program tells about the machine. */
function isOfFiles(from: string[] | undefined): boolean {
  return from?.some((program) => !/^(echo|printf|yes|true|)$/.test(program)) ?? false;
}
