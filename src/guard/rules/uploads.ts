import { plainArgs, valuesOf } from "../args.js";
import { type Call, UNKNOWN } from "../call.js";
import { type Judged, refuse } from "../finding.js";
import { list, namesIn } from "../list.js";
import { isLocal } from "./hosts.js";
import { isSecretName } from "./secrets.js";

const VALUED = list(`
  -H --header -X --request -u --user -A --user-agent -o --output -b --cookie -c -e --referer -m --max-time
  --retry --retry-delay --connect-timeout -w --write-out --cacert --cert --key -x --proxy --unix-socket
  --resolve -D -K --config --retry-max-time --limit-rate -r --range -t -y -Y -z --output-dir --form-string
  --url
`);
const DATA = list(`
  -d --data --data-binary --data-raw --data-ascii --data-urlencode --json -F --form -T --upload-file
`);

export function sentByCurl(call: Call): Judged | undefined {
  const args = call.args.flatMap(apart);
  const addresses = [...plainArgs(args, [...VALUED, ...DATA]), ...valuesOf(args, "--url")];
  if (valuesOf(args, "--unix-socket").some((path) => path.includes("docker.sock")))
    return { ...refuse("it steers docker through its socket"), category: "containers" };
  if (addresses.length > 0 && addresses.every(isLocal)) return undefined;
  const uploads = [...valuesOf(args, "-T", "--upload-file"), ...valuesOf(args, ...DATA).filter(isFile)];
  const raw = valuesOf(args, "--data-raw", "--form-string");
  if (uploads.some((value) => !raw.includes(value))) return refuse("it sends a file to another machine");
  return sentInside(call, [...valuesOf(args, ...DATA), ...addresses]) ?? sentInHeader(call, args);
}

/** A login in a header is usual; what was made to fit in there is not. */
function sentInHeader({ substituted }: Call, args: string[]): Judged | undefined {
  const isEncoded = substituted.some((program) => ENCODERS.has(program));
  const told = substituted.find((program) => !HARMLESS.test(program) && !ENCODERS.has(program));
  const headers = valuesOf(args, "-H", "--header", "-A", "--user-agent", "-b", "--cookie", "-e", "--referer");
  return isEncoded && told !== undefined && headers.some((header) => header.includes(UNKNOWN))
    ? refuse(`it sends what ${told} says to another machine`)
    : undefined;
}

const ENCODERS = namesIn("base64 base32 xxd od hexdump gzip bzip2 xz");

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
export const HARMLESS =
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

export function sentByWget(call: Call): Judged | undefined {
  const { args } = call;
  const addresses = plainArgs(args, ["-O", "-o", "-P", "-U", "-t", "-T", "-e", "-i", "-a"]);
  if (addresses.length > 0 && addresses.every(isLocal)) return undefined;
  if (valuesOf(args, "--post-file", "--body-file").length > 0)
    return refuse("it sends a file to another machine");
  return sentInside(call, [...addresses, ...valuesOf(args, "--post-data", "--body-data")]);
}

export function sentByHttpie(call: Call): Judged | undefined {
  const [first = "", second = ""] = plainArgs(call.args);
  const address = /^[A-Z]+$/.test(first) ? second : first;
  if (isLocal(address) || /^:\d*/.test(address)) return undefined;
  if (call.args.some((arg) => /[=:]?@/.test(arg) && /^[\w.-]+:?=?@/.test(arg)) || isOfFiles(call.input?.from))
    return refuse("it sends a file to another machine");
  return sentInside(call, call.args);
}

/** Data that comes from files or from what a program tells about the machine. */
export function isOfFiles(from: string[] | undefined): boolean {
  return from?.some((program) => !/^(echo|printf|yes|true|)$/.test(program)) ?? false;
}
