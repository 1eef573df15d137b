import { afterOptions, valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { list, rowOf } from "../list.js";
import { resolvePath } from "../paths.js";
import { type Inner, type LookThrough, scriptsOf, wordsOf } from "./inner.js";
import { PREFIXES, RUNNERS } from "./prefix-list.js";

export function prefixed(call: Call): Inner[] | undefined {
  const { program, args } = call;
  const runner = rowOf(RUNNERS, program);
  if (runner !== undefined) return isRunner(runner, args[0] ?? "") ? runnersOf(call) : [];
  const prefix = rowOf(PREFIXES, program);
  if (prefix === undefined) return undefined;
  const valued = prefix.filter((word) => word.startsWith("-"));
  const own = prefix.length > valued.length ? Number(prefix[0]) : 0;
  const words = afterOptions(args, valued).slice(own);
  const text = program === "npx" ? calledText(args, words) : undefined;
  if (text !== undefined) return scriptsOf(text);
  return withAssignments(words[0] === "--" ? words.slice(1) : words);
}

function isRunner(runner: string[], word: string): boolean {
  return word !== "" && (runner.length === 0 || runner.includes(word));
}

/** `npx -c TEXT`; what stands after a program is for that one. */
function calledText(args: string[], words: string[]): string | undefined {
  const front = args.slice(0, args.length - words.length);
  if (/^(-c|--call)$/.test(front.at(-1) ?? "")) return words[0];
  return front.find((arg) => arg.startsWith("--call="))?.slice(7);
}

function runnersOf({ program, args }: Call): Inner[] {
  const texts = valuesOf(args.slice(1), "-c", "--call", "--command");
  if (texts.length > 0 && /^(npm|pnpm|nix|doppler)$/.test(program)) return scriptsOf(...texts);
  const isNamed = /^(xcrun|corepack)$/.test(program);
  const words = afterOptions(
    args.slice(isNamed ? 0 : 1),
    list(`
    -n --name -p --package --with --from --python -C --prefix --group --extra -w --workspace
  `),
  );
  if (program === "yarn" && words.length === 1) return scriptsOf(...words);
  const skipped = /^(nvm|fnm|direnv|rustup)$/.test(program) ? 1 : 0;
  return withAssignments(words.slice(skipped));
}

/** `env A=b cmd`, and whatever else may have variables in front. */
function withAssignments(words: string[]): Inner[] {
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const front = at === -1 ? words : words.slice(0, at);
  const assignments = front.map((word) => ({
    name: word.slice(0, word.indexOf("=")),
    value: word.slice(word.indexOf("=") + 1),
  }));
  return at === -1 ? [] : [{ words: words.slice(at), assignments }];
}

export const environment: LookThrough = ({ args, scope }) => {
  const texts = valuesOf(args, "-S", "--split-string");
  if (texts.length > 0) return scriptsOf([...texts, ...afterOptions(args, ["-S", "-u", "-C"])].join(" "));
  const [folder] = valuesOf(args, "-C", "--chdir");
  const inner = withAssignments(afterOptions(args, ["-u", "--unset", "-C", "--chdir"]));
  return folder === undefined ? inner : inner.map((one) => ({ ...one, cwd: resolvePath(folder, scope) }));
};

export const commandBuiltin: LookThrough = ({ args }) =>
  args.some((arg) => /^-[pvV]*[vV]/.test(arg)) ? [] : wordsOf(afterOptions(args));
