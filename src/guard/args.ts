/** Whether one of the flags is given: a letter also among others (`-rf`), a long one also with a value. */
export function hasFlag(args: string[], letters: string, ...longs: string[]): boolean {
  return options(args).some((arg) => {
    if (arg.startsWith("--")) return longs.some((long) => arg === long || arg.startsWith(`${long}=`));
    if (longs.some((long) => !long.startsWith("--") && (arg === long || arg.startsWith(`${long}=`))))
      return true;
    return [...arg.slice(1)].some((letter) => letters.includes(letter));
  });
}

function options(args: string[]): string[] {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).filter((arg) => arg.length > 1 && arg.startsWith("-"));
}

/** Values of the flags: `-o x`, `-ox`, `--output x`, `--output=x`. */
export function valuesOf(args: string[], ...flags: string[]): string[] {
  const values: string[] = [];
  for (const [index, arg] of args.entries()) {
    for (const flag of flags) {
      if (arg === flag) values.push(args[index + 1] ?? "");
      else if (arg.startsWith(`${flag}=`)) values.push(arg.slice(flag.length + 1));
      else if (isJoined(arg, flag)) values.push(arg.slice(2));
    }
  }
  return values;
}

function isJoined(arg: string, flag: string): boolean {
  return (
    flag.length === 2 && flag !== "--" && arg.length > 2 && arg.startsWith(flag) && !arg.startsWith("--")
  );
}

/** What is left without options; `valued` are those whose value is a word of its own. */
export function plainArgs(args: string[], valued: string[] = []): string[] {
  const plain: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--") return [...plain, ...args.slice(index + 1)];
    if (valued.includes(arg)) index += 1;
    else if (!arg.startsWith("-") || arg === "-") plain.push(arg);
  }
  return plain;
}

/** The words from the first that is no option on. */
export function afterOptions(args: string[], valued: string[] = []): string[] {
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? "";
    if (arg === "--") return args.slice(index + 1);
    if (valued.includes(arg)) index += 1;
    else if (!arg.startsWith("-") || arg === "-") return args.slice(index);
  }
  return [];
}
