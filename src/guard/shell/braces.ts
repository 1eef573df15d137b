const MOST = 64;

/** The texts that `{a,b}` or `{1..3}` stands for. */
export function braceAlternatives(text: string): string[] {
  const inside = text.slice(1, -1);
  const range = /^(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.-?\d+)?$/.exec(inside);
  if (range !== null) return rangeOf(range[1] ?? "", range[2] ?? "");
  const alternatives = splitAtCommas(inside);
  return alternatives.length === 1 ? [text] : alternatives.slice(0, MOST);
}

function rangeOf(first: string, last: string): string[] {
  const isNumber = /\d/.test(first);
  const [from, to] = isNumber ? [Number(first), Number(last)] : [first.charCodeAt(0), last.charCodeAt(0)];
  const count = Math.min(Math.abs(to - from) + 1, MOST);
  const step = from <= to ? 1 : -1;
  return Array.from({ length: count }, (_, index) => {
    const value = from + index * step;
    return isNumber ? String(value) : String.fromCharCode(value);
  });
}

const TOKEN = /\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[{},]|[^\\'"{},]+|[\s\S]/g;

function splitAtCommas(text: string): string[] {
  const alternatives = [""];
  let depth = 0;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") depth += 1;
    if (token === "}") depth -= 1;
    if (token === "," && depth === 0) alternatives.push("");
    else alternatives[alternatives.length - 1] += token;
  }
  return alternatives;
}
