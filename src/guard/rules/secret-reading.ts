import { plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { type Judged, refuse, warn } from "../finding.js";
import { list, namesIn } from "../list.js";
import { secretAt } from "../secret-files.js";
import { writtenPaths } from "../writes.js";

const NO_READERS = namesIn(`
  ls ll stat test [ echo printf mkdir touch rm chmod chown cd pushd which type du file basename dirname
  realpath readlink rmdir exa eza tree ssh ssh-add ssh-keygen kubectl helm k9s kubectx export unset alias
  true : grep:
`);
const SEARCHERS = namesIn("grep egrep fgrep rg ag ack sed awk gawk jq yq perl");
const SENDERS = namesIn("scp rsync sftp");

/** Files with secrets among those that a command reads. */
export function readSecret(call: Call): Judged | undefined {
  const { program, args, redirections, scope } = call;
  const read = redirections.filter(({ operator }) => operator === "<").map(({ target }) => target);
  const written = program === "openssl" ? [...writtenPaths(call), ...ownKeys(args)] : [];
  const words = NO_READERS.has(program)
    ? []
    : candidates(program, args).filter((word) => !written.includes(word));
  for (const path of [...read, ...words]) {
    const secret = secretAt(path, scope);
    if (secret !== undefined)
      return secret.isMild ? warn(`${path} may hold secrets`) : refuse(`${path} is ${secret.what}`);
  }
  return undefined;
}

/** Making a certificate or a public key shows no private one. */
function ownKeys(args: string[]): string[] {
  const isUse =
    /^(req|x509|ca|dgst|s_server|verify|s_client)$/.test(args[0] ?? "") || args.includes("-pubout");
  return isUse ? args.filter((arg) => /^[\w./-]+\.(pem|key)$/.test(arg) && !/^\/|\.ssh|\.\./.test(arg)) : [];
}

/** Words that can name a file; the pattern of a search and the message of a commit do not. */
function candidates(program: string, args: string[]): string[] {
  if (program === "git")
    return args
      .filter((arg, index) => !/^(-m|--message|-am|-F)$/.test(args[index - 1] ?? "") && !/\s/.test(arg))
      .flatMap(parts);
  if (SEARCHERS.has(program)) return searched(args).flatMap(parts);
  if (program === "find") return [];
  if (program === "tar") return [...args, ...inFolders(args)].flatMap(parts);
  if (SENDERS.has(program)) return plainArgs(args, ["-i", "-e", "-F", "-o"]).flatMap(parts);
  return args.filter((arg) => arg.startsWith("/") || arg.startsWith("~") || !/\s/.test(arg)).flatMap(parts);
}

/** `tar -C folder name`. */
function inFolders(args: string[]): string[] {
  const folders = valuesOf(args, "-C", "--directory");
  return folders.flatMap((folder) => plainArgs(args, ["-C", "-f"]).map((name) => `${folder}/${name}`));
}

function searched(args: string[]): string[] {
  const hasFlag = args.some((arg) => /^(-\w*[ef]|--regexp|--expression|--file)$/.test(arg));
  const plain = plainArgs(
    args,
    list(`
    -e -f --regexp --expression -A -B -C -m --include --exclude --exclude-dir -g -t --glob -F -v --arg
  `),
  );
  return hasFlag ? plain : plain.slice(1);
}

/** `if=x`, `@x`, `file=@x`, `--file=x`, `x:y`. */
function parts(arg: string): string[] {
  const given = arg.includes("=") ? arg.replace(/^--?[\w-]+=/, "").replace(/^[\w.-]+=/, "") : arg;
  const named = given.startsWith("@") ? given.slice(1) : given;
  const value = named.startsWith("file://") ? named.slice(7) : named;
  return [
    value,
    ...(value.includes(":") ? value.split(":").filter((part) => /[/.~]/.test(part)) : []),
  ].filter((part) => part !== "" && !part.startsWith("-"));
}
