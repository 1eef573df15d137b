import { fromPython } from "./python/regex.js";

/** A done pattern, in Python's syntax as far as JavaScript can do it; `^` and `$` are the ends of a line. */
export function donePattern(source: string): RegExp {
  const { pattern, flags } = fromPython(source);
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    throw new Error(reasonOf(error as Error), { cause: error });
  }
}

/** The engine puts the translated pattern before its reason, which nobody has written. */
function reasonOf({ message }: Error): string {
  return message.slice(message.lastIndexOf(": ") + 2).toLowerCase();
}
