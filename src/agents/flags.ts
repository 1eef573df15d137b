/** Our flags, unless the user gave one of `names`: a flag is never given twice, and the user's wins. */
export function unlessGiven(userFlags: string[], names: string[], ours: string[]): string[] {
  return isGiven(userFlags, names) ? [] : ours;
}

export function isGiven(userFlags: string[], names: string[]): boolean {
  return userFlags.some((flag) => names.some((name) => flag === name || flag.startsWith(`${name}=`)));
}

export function modelFlag(userFlags: string[], model: string | undefined): string[] {
  return model === undefined ? [] : unlessGiven(userFlags, ["--model", "-m"], ["--model", model]);
}
