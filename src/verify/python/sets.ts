import { readEscapeInSet } from "./escapes.js";
import { nextChar, type Reading, take } from "./reading.js";

/** What stands between square brackets; a closing one in the first place is a member. */
export function readSet(reading: Reading): string {
  let set = take(reading, /^\[\^?/)?.[0] ?? "";
  const first = reading.at;
  while (nextChar(reading) !== "]" || reading.at === first) set += readMember(reading);
  reading.at += 1;
  return `${set}]`;
}

function readMember(reading: Reading): string {
  const char = nextChar(reading);
  if (char === "") throw new Error("a set [ without its ]");
  if (char === "\\") return readEscapeInSet(reading);
  const named = take(reading, /^\[:\^?\w+:\]/);
  if (named !== null) throw new Error(`[${named[0]}] is not Python; write out the characters, as in [a-z]`);
  reading.at += char.length;
  return /[[\]]/.test(char) ? `\\${char}` : char;
}
