import { hasFlag, plainArgs, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { type Judged, refuse } from "../finding.js";
import type { Rule } from "./rule.js";

const LIMIT_BYTES = 50 * 1024 ** 3;

export const exhaustion: Rule = {
  category: "exhaustion",
  judge: (call) => entryOf(JUDGES, call.program)?.(call) ?? startsItself(call),
};

const JUDGES: Record<string, (call: Call) => Judged | undefined> = {
  yes: endless,
  fallocate: ({ args }) => tooLarge(valuesOf(args, "-l", "--length")),
  truncate: ({ args }) => tooLarge(valuesOf(args, "-s", "--size")),
  mkfile: ({ args }) => tooLarge(plainArgs(args).slice(0, 1)),
  head: ({ args }) => tooLarge(valuesOf(args, "-c", "--bytes")),
  dd: filled,
  cat: poured,
  cp: poured,
  tee: poured,
  tail: poured,
  sort: poured,
  gzip: poured,
  xz: poured,
  openssl: ({ args }) => (args[0] === "rand" ? tooLarge(plainArgs(args).slice(-1)) : undefined),
  stress: () => refuse("it uses up the machine"),
  "stress-ng": () => refuse("it uses up the machine"),
};

/** `yes` for a program that asks is fine; into a file or into nothing it never ends. */
function endless({ readers }: Call): Judged | undefined {
  const reader = readers[0];
  return reader === undefined || reader === "tee" || reader === "cat"
    ? refuse("yes without an end to it")
    : undefined;
}

function filled({ args, redirections, input }: Call): Judged | undefined {
  const value = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  const source = value("if") ?? (input?.from.includes("yes") ? "/dev/zero" : "");
  const isEndless = /^\/dev\/(zero|u?random|full)$/.test(source);
  const target = value("of") ?? redirections[0]?.target;
  if (!isEndless || target === undefined || target === "/dev/null") return undefined;
  if (value("count") === undefined) return refuse("it writes until the disk is full");
  const size = bytesOf(value("bs") ?? "512") * bytesOf(value("count") ?? "1");
  return size > LIMIT_BYTES ? refuse("it would fill the disk") : undefined;
}

function poured({ args, redirections, readers }: Call): Judged | undefined {
  const sources = [
    ...args,
    ...redirections.filter(({ operator }) => operator === "<").map(({ target }) => target),
  ];
  if (!sources.some((source) => /^\/dev\/(zero|u?random|full)$/.test(source))) return undefined;
  return readers.some((reader) => /(^|\/)(head|dd|od|xxd|hexdump|timeout)$/.test(reader))
    ? undefined
    : refuse("it reads what never ends");
}

function tooLarge(sizes: string[]): Judged | undefined {
  return sizes.some((size) => bytesOf(size) > LIMIT_BYTES) ? refuse("it would fill the disk") : undefined;
}

const UNITS = "kmgtpezy";

function bytesOf(size: string): number {
  const [, number = "0", unit = ""] = /^[+<>/%-]?(\d+(?:\.\d+)?)([a-zA-Z]?)/.exec(size) ?? [];
  return Number(number) * 1024 ** (UNITS.indexOf(unit.toLowerCase() || " ") + 1);
}

/** `$0 & $0`. */
function startsItself({ program, args, scope, readers, words }: Call): Judged | undefined {
  const isSelf =
    scope.depth > 0 && words.length === 1 && words[0] === scope.variables.get("0") && readers.length > 0;
  if (isSelf) return refuse("it starts itself again and again");
  return program === "ulimit" && hasFlag(args, "u") && args.includes("unlimited")
    ? refuse("it lifts the limit of processes")
    : undefined;
}
