/** Our flags, unless the user gave one of `names`: a flag is never given twice, and the user's wins. */
export function unlessGiven(userFlags: string[], names: string[], ours: string[]): string[] {
  return isGiven(userFlags, names) ? [] : ours;
}

export function isGiven(userFlags: string[], names: string[]): boolean {
  return userFlags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
}

/** What the user gave one of these flags, as `--flag value` or `--flag=value`. */
export function givenValue(userFlags: string[], names: string[]): string | undefined {
  for (const [index, flag] of userFlags.entries()) {
    if (names.includes(flag)) return userFlags[index + 1];
    const name = names.find((each) => flag.startsWith(`${each}=`));
    if (name !== undefined) return flag.slice(name.length + 1);
  }
  return undefined;
}

/** The flags without this one and its value. */
export function withoutFlag(flags: string[], names: string[]): string[] {
  return flags.filter((flag, index) => {
    const isValue = names.includes(flags[index - 1] ?? "");
    return !isValue && !isGiven([flag], names);
  });
}

export const MODEL_FLAGS = ["--model", "-m"];

export function modelFlag(userFlags: string[], model: string | undefined): string[] {
  return model === undefined ? [] : unlessGiven(userFlags, MODEL_FLAGS, ["--model", model]);
}
