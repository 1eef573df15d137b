import { valuesOf } from "../args.js";
import type { Call } from "../call.js";
import { entryOf } from "../entry.js";
import { refuse } from "../finding.js";
import { gitCommand } from "../wrappers/git.js";
import type { Rule } from "./rule.js";

/** Options that make a harmless program run another one. */
export const hiddenPrograms: Rule = {
  category: "obfuscation",
  judge(call) {
    const program = (entryOf(RUN, call.program)?.(call) ?? []).find((value) => !USUAL.test(value));
    return program === undefined ? undefined : refuse(`an option of ${call.program} runs ${program}`);
  },
};

const USUAL =
  /^$|^((\/usr)?\/bin\/)?(less|more|most|cat|bat|batcat|gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzop|lzma|brotli|pdftotext|vim?|code|unzip|git-upload-pack)( -[\w-]+)*$/;
const option =
  (...flags: string[]) =>
  ({ args }: Call): string[] =>
    valuesOf(args, ...flags);
const scriptShell = ({ args }: Call): string[] =>
  valuesOf(args, "--script-shell").filter((shell) => !/^((\/usr)?\/bin\/)?(ba|z|da)?sh$/.test(shell));

const RUN: Record<string, (call: Call) => string[]> = {
  rg: option("--pre", "--hostname-bin"),
  sort: option("--compress-program"),
  tar: ({ args }) => [
    ...valuesOf(args, "--to-command", "--rsh-command", "--info-script", "--new-volume-script"),
    ...valuesOf(args, "--checkpoint-action").flatMap((action) => /^exec=(.*)$/s.exec(action)?.[1] ?? []),
    ...valuesOf(args, "-I", "--use-compress-program"),
  ],
  zip: option("-TT", "--unzip-command"),
  man: option("-P", "--pager"),
  less: ({ args }) => args.filter((arg) => /^\+{1,2}[^/?]*[!|]/.test(arg)),
  more: ({ args }) => args.filter((arg) => /^\+[^/]*!/.test(arg)),
  npm: scriptShell,
  pnpm: scriptShell,
  git: ({ args }) => {
    const { verb, args: rest } = gitCommand(args);
    const front = args.slice(0, args.length - rest.length);
    return [
      ...front.filter((arg) => arg.startsWith("--exec-path=")).map((arg) => arg.slice(12)),
      ...(verb === "grep" ? opened(rest) : []),
      ...(/^(clone|fetch|pull|ls-remote|fetch-pack|archive)$/.test(verb)
        ? valuesOf(rest, "--upload-pack", "--exec", ...(verb === "clone" ? ["-u"] : []))
        : []),
    ];
  },
};

function opened(args: string[]): string[] {
  return args
    .filter((arg) => /^-O.|^--open-files-in-pager=/.test(arg))
    .map((arg) => arg.replace(/^-O|^--open-files-in-pager=/, ""));
}
