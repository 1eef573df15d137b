/** What a terminal sends when keys are pressed. */
export interface KeysRead {
  /** A character, or the name of a key; what was pasted is one of its own. */
  keys: Key[];
  /** The beginning of a key whose other half has not come yet. */
  rest: string;
}

export type Key = string | { pasted: string };

/** Splits what was read into keys. A key that means nothing here is left out. */
export function readKeys(text: string): KeysRead {
  const keys: Key[] = [];
  let rest = text;
  while (rest !== "") {
    const found = nextKey(rest);
    if (found === undefined) return { keys, rest };
    if (found.key !== undefined) keys.push(found.key);
    rest = rest.slice(found.chars);
  }
  return { keys, rest };
}

/** When nothing has followed for a while, an escape was the key of that name. */
export function endOfKeys({ rest }: KeysRead): KeysRead {
  if (rest.startsWith(PASTE_START)) return { keys: [], rest };
  return { keys: rest === ESCAPE ? ["escape"] : [], rest: "" };
}

const ESCAPE = "\u001b";
const PASTE_START = `${ESCAPE}[200~`;
const PASTE_END = `${ESCAPE}[201~`;

/** undefined: more must come first. */
function nextKey(text: string): { key?: Key; chars: number } | undefined {
  if (text.startsWith(PASTE_START)) return pasted(text);
  if (!text.startsWith(ESCAPE)) return plainKey(text);
  const sequence = SEQUENCE.exec(text)?.[0];
  if (sequence !== undefined)
    return keyOf(SEQUENCES[sequence.replace(`${ESCAPE}O`, `${ESCAPE}[`)], sequence.length);
  return UNFINISHED.test(text) ? undefined : { chars: Math.min(text.length, 2) };
}

function pasted(text: string): { key: Key; chars: number } | undefined {
  const end = text.indexOf(PASTE_END);
  if (end < 0) return undefined;
  return { key: { pasted: text.slice(PASTE_START.length, end) }, chars: end + PASTE_END.length };
}

function plainKey(text: string): { key?: Key; chars: number } {
  const character = String.fromCodePoint(text.codePointAt(0) ?? 0);
  if (character >= " " && character !== "\u007f") return { key: character, chars: character.length };
  return keyOf(CONTROLS[character], 1);
}

function keyOf(key: string | undefined, chars: number): { key?: Key; chars: number } {
  return key === undefined ? { chars } : { key, chars };
}

/** Cursor and function keys, and answers to questions that another program asked the terminal. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\))/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNFINISHED = /^\u001b(?:\[[0-?]*[ -/]*|O|[\]PX^_][^\u0007\u001b]*\u001b?)?$/;

const SEQUENCES: Record<string, string> = {
  "\u001b[A": "up",
  "\u001b[B": "down",
  "\u001b[H": "home",
  "\u001b[1~": "home",
  "\u001b[F": "end",
  "\u001b[4~": "end",
  "\u001b[5~": "page up",
  "\u001b[6~": "page down",
};

const CONTROLS: Record<string, string> = {
  "\u0003": "ctrl+c",
  "\u0004": "ctrl+d",
  "\u0008": "backspace",
  "\u000c": "ctrl+l",
  "\u000a": "enter",
  "\u000d": "enter",
  "\u0015": "ctrl+u",
  "\u001a": "ctrl+z",
  "\u007f": "backspace",
};
