import { UNKNOWN } from "./call.js";

type Token = "*" | ((letter: string) => boolean);

const LONGEST = 1000;
const MOST_KEPT = 2000;
const known = new Map<string, Token[]>();

/** Whether a name fits a pattern of a shell. No pattern makes it slow: a star is tried again only where it stands last. */
export function fitsGlob(name: string, glob: string): boolean {
  if (glob.length > LONGEST || name.length > LONGEST || differAtOnce(name, glob)) return false;
  const tokens = tokensOf(glob);
  let [at, token, star, resume] = [0, 0, -1, 0];
  while (at < name.length) {
    const wanted = tokens[token];
    if (wanted === "*") [star, resume, token] = [token, at, token + 1];
    else if (wanted?.(name[at] ?? "")) [at, token] = [at + 1, token + 1];
    else if (star === -1) return false;
    else [resume, at, token] = [resume + 1, resume + 1, star + 1];
  }
  return tokens.slice(token).every((rest) => rest === "*");
}

/** Most names do: then nothing has to be made of the pattern. */
function differAtOnce(name: string, glob: string): boolean {
  const [first = "", last = ""] = [glob[0], glob.at(-1)];
  return (isPlain(first) && first !== name[0]) || (isPlain(last) && last !== name.at(-1));
}

function isPlain(letter: string): boolean {
  return letter !== "" && !SPECIAL.includes(letter);
}

const SPECIAL = `*?[]\\${UNKNOWN}`;

function tokensOf(glob: string): Token[] {
  const kept = known.get(glob);
  if (kept !== undefined) return kept;
  const tokens = [...glob.matchAll(/\[[!^]?\]?[^\]]*\]|./gs)].map(([text]) => tokenOf(text));
  if (known.size > MOST_KEPT) known.clear();
  known.set(glob, tokens);
  return tokens;
}

function tokenOf(text: string): Token {
  if (text === "*" || text === UNKNOWN) return "*";
  if (text === "?") return () => true;
  if (text.length === 1) return (letter) => letter === text;
  const isNot = /^\[[!^]/.test(text);
  const inside = text.slice(isNot ? 2 : 1, -1);
  return (letter) => isAmong(letter, inside) !== isNot;
}

/** Letters, ranges and classes such as `[:alpha:]`, which are taken for any letter. */
function isAmong(letter: string, inside: string): boolean {
  if (inside.startsWith("[:")) return true;
  for (let at = 0; at < inside.length; at += 1) {
    const [from = "", to = ""] = inside[at + 1] === "-" ? [inside[at], inside[at + 2]] : [];
    if (inside[at] === letter || (to !== "" && from <= letter && letter <= to)) return true;
  }
  return false;
}
