/** Our flag with its value, unless the user gave it or one of `others`: a flag is never given twice, the user's wins. */
export function unlessGiven(userFlags: string[], ours: string[], ...others: string[]): string[] {
  return isGiven(userFlags, [...ours.slice(0, 1), ...others]) ? [] : ours;
}

export function isGiven(userFlags: string[], names: string[]): boolean {
  return userFlags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
}

/** What the user gave one of these flags, as `--flag value` or `--flag=value`. The last one counts. */
export function givenValue(userFlags: string[], names: string[]): string | undefined {
  const values = userFlags.flatMap((flag, index) => {
    if (names.includes(flag)) return userFlags.slice(index + 1, index + 2);
    const name = names.find((each) => flag.startsWith(`${each}=`));
    return name === undefined ? [] : [flag.slice(name.length + 1)];
  });
  return values.at(-1);
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
  return model === undefined ? [] : unlessGiven(userFlags, ["--model", model], ...MODEL_FLAGS);
}
