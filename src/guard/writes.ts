import { hasFlag, plainArgs, valuesOf } from "./args.js";
import type { Call } from "./call.js";
import { entryOf } from "./entry.js";
import { type GitCommand, gitCommand } from "./wrappers/git.js";

/** The files that a command would write, change or remove, as they stand in its words. */
export function writtenPaths(call: Call): string[] {
  return [...redirected(call), ...(entryOf(WRITERS, call.program)?.(call.args) ?? [])].filter(
    (path) => path !== "",
  );
}

function redirected({ redirections }: Call): string[] {
  return redirections
    .filter(
      ({ operator, target }) =>
        operator !== "<" && !(operator.includes("&") && /^(\d+|-|\d+-)$/.test(target)),
    )
    .filter(({ operator }) => operator !== "<&")
    .map(({ target }) => target);
}

type Targets = (args: string[]) => string[];

const last: Targets = (args) => plainArgs(args, ["-t", "-m", "-o", "-g", "-S"]).slice(-1);
const all: Targets = (args) => plainArgs(args);
const afterFirst: Targets = (args) => plainArgs(args).slice(1);
const intoFolder: Targets = (args) => {
  const folders = valuesOf(args, "-t", "--target-directory");
  return folders.length > 0 ? folders : last(args);
};

/** A file inside the folder that it is copied to has the same name as before. */
const copied: Targets = (args) => {
  const [target = ""] = intoFolder(args);
  const sources = plainArgs(args, ["-t", "-m", "-o", "-g", "-S"]).slice(0, -1);
  const names = sources.map((source) => source.slice(source.lastIndexOf("/") + 1));
  return [target, ...names.filter((name) => name !== "" && target !== "").map((name) => `${target}/${name}`)];
};

/** Folders that git makes. */
function checkedOut({ verb, args }: GitCommand): string[] {
  const plain = plainArgs(args, ["-b", "-B", "--reason", "--depth", "--branch", "-o", "-j", "-c"]);
  if (verb === "worktree") return args[0] === "add" ? plain.slice(1, 2) : [];
  if (verb === "init") return plain.slice(0, 1);
  if (verb === "config")
    return hasFlag(args, "l", "--get", "--list", "--get-all") ? [] : valuesOf(args, "-f", "--file");
  return verb === "clone" ? plain.slice(1, 2) : [];
}

const WRITERS: Record<string, Targets> = {
  tee: all,
  git: (args) => checkedOut(gitCommand(args)),
  touch: (args) => plainArgs(args, ["-d", "-t", "-r"]),
  rm: all,
  rmdir: all,
  unlink: all,
  shred: (args) => plainArgs(args, ["-n", "-s"]),
  truncate: (args) => plainArgs(args, ["-s", "--size", "-r"]),
  mkdir: (args) => plainArgs(args, ["-m"]),
  mkfifo: all,
  cp: copied,
  mv: (args) => [...copied(args), ...plainArgs(args, ["-t", "-S"]).slice(0, -1)],
  ln: copied,
  install: copied,
  rsync: (args) => last(args).filter((path) => !path.includes(":")),
  chmod: afterFirst,
  chown: afterFirst,
  chgrp: afterFirst,
  chattr: afterFirst,
  setfacl: (args) => plainArgs(args, ["-m", "-x"]),
  dd: (args) => args.filter((arg) => arg.startsWith("of=")).map((arg) => arg.slice(3)),
  sed: edited,
  gsed: edited,
  perl: (args) =>
    args.some((arg) => /^-[a-zA-Z]*i/.test(arg)) ? plainArgs(args, ["-e", "-E", "-pe", "-ne"]) : [],
  ruby: (args) => (args.some((arg) => /^-[a-zA-Z]*i/.test(arg)) ? plainArgs(args, ["-e"]) : []),
  awk: inPlace,
  gawk: inPlace,
  curl: (args) => [
    ...valuesOf(args, "-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar"),
    ...(hasFlag(args, "OJ", "--remote-name", "--remote-name-all") ? named(args) : []),
  ],
  wget: (args) => [
    ...valuesOf(args, "-O", "--output-document", "-P", "--directory-prefix", "-o", "--output-file"),
    ...(hasFlag(args, "O", "--output-document") ? [] : named(args)),
  ],
  sort: (args) => valuesOf(args, "-o", "--output"),
  tar: (args) => [
    ...valuesOf(args, "-C", "--directory"),
    ...(isCreating(args) ? valuesOf(args, "-f", "--file") : []),
  ],
  unzip: (args) => valuesOf(args, "-d"),
  cpio: (args) => valuesOf(args, "-D", "--directory"),
  "7z": (args) => args.filter((arg) => arg.startsWith("-o")).map((arg) => arg.slice(2)),
  unrar: (args) => plainArgs(args).slice(2),
  unar: (args) => valuesOf(args, "-o", "-output-directory"),
  make: (args) =>
    args.includes("install")
      ? args.filter((arg) => /^(DESTDIR|prefix)=/i.test(arg)).map((arg) => arg.slice(arg.indexOf("=") + 1))
      : [],
  patch: (args) => [...plainArgs(args, ["-i", "-d", "-p"]).slice(0, 1), ...valuesOf(args, "-d", "-o")],
  ed: all,
  ex: all,
  vi: all,
  vim: all,
  nvim: all,
  nano: all,
  emacs: all,
  pico: all,
  split: (args) => plainArgs(args, ["-b", "-l", "-n", "-a"]).slice(1),
  csplit: (args) => valuesOf(args, "-f"),
  "ssh-keygen": (args) =>
    hasFlag(args, "R")
      ? valuesOf(args, "-f")
      : hasFlag(args, "lyFB")
        ? []
        : [...valuesOf(args, "-f"), ...(args.includes("-f") ? [] : ["~/.ssh/id_rsa"])],
  sponge: all,
  xxd: (args) => (hasFlag(args, "r") ? plainArgs(args).slice(1) : []),
  openssl: (args) => valuesOf(args, "-out", "-keyout"),
  gpg: (args) => valuesOf(args, "-o", "--output"),
  mkswap: all,
  script: (args) => plainArgs(args, ["-c", "-t", "-E"]),
  wipefs: all,
  gzip: (args) => (hasFlag(args, "cdltk") ? [] : all(args)),
  scp: (args) => last(args).filter((path) => !path.includes(":")),
  yq: (args) => (hasFlag(args, "i", "--inplace") ? plainArgs(args).slice(1) : []),
  crudini: afterFirst,
};

/** Files that are called as they are where they come from. */
function named(args: string[]): string[] {
  const addresses = args.filter((arg) => /^[a-z]+:\/\/./i.test(arg));
  return addresses.map((address) => address.replace(/[?#].*$/, "").replace(/^.*\//, ""));
}

function edited(args: string[]): string[] {
  if (!args.some((arg) => /^-[nErsz]*i/.test(arg) || arg.startsWith("--in-place"))) return [];
  const hasScript = args.some((arg) => /^(-[nErsz]*e|--expression|-f|--file)/.test(arg) && !/^-i/.test(arg));
  return plainArgs(args, ["-e", "-f", "--expression", "--file"]).slice(hasScript ? 0 : 1);
}

function inPlace(args: string[]): string[] {
  return args.includes("inplace") ? plainArgs(args, ["-i", "-F", "-v"]).slice(1) : [];
}

function isCreating(args: string[]): boolean {
  return args.some((arg, index) => /^-?[a-zA-Z]*[cru]/.test(arg) && index === 0) || args.includes("--create");
}
