import type { AskOptions } from "./agent.js";

export function isGiven(userFlags: string[], names: string[]): boolean {
  return userFlags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
}

/** The value that the user gave one of these flags: `--flag value` or `--flag=value`. The last one counts. */
export function givenValue(userFlags: string[], names: string[]): string | undefined {
  const last = userFlags.findLastIndex((flag) => isGiven([flag], names));
  const [flag = "", next] = last < 0 ? [] : userFlags.slice(last);
  return names.includes(flag) ? next : flag.split(/=(.*)/s)[1];
}

export function withoutFlag(flags: string[], names: string[]): string[] {
  return flags.filter((flag, index) => {
    const isValue = names.includes(flags[index - 1] ?? "");
    return !isValue && !isGiven([flag], names);
  });
}

export const MODEL_FLAGS = ["--model", "-m"];

/** The parts of a command. The user's words may begin with the `subcommand` that ralph uses. */
export function partsOf(
  options: Pick<AskOptions, "words" | "flags" | "model"> & Partial<Pick<AskOptions, "permissions">>,
  subcommand = /^$/,
) {
  const { words, flags, model, permissions } = options;
  const [file = "", ...extra] = words;
  const own = [...(subcommand.test(extra[0] ?? "") ? extra.slice(1) : extra), ...flags];
  /** Our flag with its value, unless the user gave it or one of `others`: the user's flag wins. */
  const ours = (flag: string[], ...others: string[]): string[] =>
    isGiven(own, [...flag.slice(0, 1), ...others]) ? [] : flag;
  return {
    file,
    own,
    ours,
    modelFlag: model === undefined ? [] : ours(["--model", model], ...MODEL_FLAGS),
    isUnattended: permissions === "unattended" || permissions === "all",
  };
}
