import { hasFlag, plainArgs, valuesOf } from "../args.js";
import { type Call, UNKNOWN } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import { namesIn } from "../list.js";
import { isInside, resolvePath } from "../paths.js";
import { secretAt } from "../secret-files.js";
import { isLocal, isRemotePath } from "./hosts.js";
import type { Rule } from "./rule.js";
import { isSecretName } from "./secrets.js";
import { HARMLESS, isOfFiles, sentByCurl, sentByHttpie, sentByWget } from "./uploads.js";

export const exfiltration: Rule = {
  category: "exfiltration",
  judge: (call) => entryOf(JUDGES, call.program)?.(call) ?? byName(call),
};

function byName(call: Call): Judged | undefined {
  const { program, args } = call;
  if (SCANNERS.has(program)) return refuse(`${program} looks into other machines or their traffic`);
  if (MAILERS.has(program)) return refuse("it sends mail");
  if (LOOKUPS.has(program)) return lookedUp(call);
  if (!SENDERS.has(program) || hasFlag(args, "", "--help", "--version")) return undefined;
  return refuse("it sends files elsewhere");
}

const SCANNERS = namesIn(`
  nmap masscan zmap nikto hydra sqlmap ettercap arpspoof tcpdump tshark dsniff responder gobuster ffuf
  nping rustscan wpscan aircrack-ng netdiscover
`);
const MAILERS = namesIn("mail mailx mutt sendmail swaks msmtp ssmtp s-nail");
const SENDERS = namesIn(`
  sftp ftp tftp lftp ncftp ncftpput smbclient croc wormhole ffsend filebin pastebinit transfer termbin
  wput uucp
`);
const LOOKUPS = namesIn("dig nslookup host ping drill getent");

/** Much is put into buckets all day; secrets are not. */
function stored(args: string[], bucket: string, scope: Call["scope"]): Judged | undefined {
  const plain = plainArgs(args);
  const isSent = plain.at(-1)?.startsWith(bucket) ?? false;
  return isSent && plain.slice(0, -1).some((path) => secretAt(path, scope) !== undefined)
    ? refuse("it sends a file with secrets elsewhere")
    : undefined;
}

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
  aws: ({ args, scope }) =>
    args[0] === "s3" && /^(cp|mv|sync)$/.test(args[1] ?? "")
      ? stored(args.slice(2), "s3:", scope)
      : undefined,
  gsutil: ({ args, scope }) =>
    args.some((arg) => /^(cp|mv|rsync)$/.test(arg)) ? stored(args, "gs:", scope) : undefined,
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
  "http-server": ofTheMachine,
  serve: ofTheMachine,
  "live-server": ofTheMachine,
  busybox: ({ args }) => (args[0] === "httpd" ? refuse("it serves files to everybody") : undefined),
  git: ({ args }) => (args[0] === "daemon" ? refuse("it serves the repository to everybody") : undefined),
};

function sentTo(target = ""): Judged | undefined {
  return isRemotePath(target) ? refuse(`it sends files to ${target.replaceAll(UNKNOWN, "…")}`) : undefined;
}

function ofTheMachine({ args, scope }: Call): Judged | undefined {
  const [folder = "."] = plainArgs(args, [
    "-p",
    "-l",
    "-a",
    "-c",
    "-C",
    "-K",
    "--listen",
    "--port",
    "--config",
  ]);
  return isInside(scope.place.home, resolvePath(folder, scope))
    ? refuse("it serves more than the project")
    : undefined;
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
