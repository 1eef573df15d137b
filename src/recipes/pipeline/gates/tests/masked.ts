/** The code without what its comments and texts say, every character at its place. */
export function maskedBraces(text: string): string {
  return masked(text, BRACES);
}

export function maskedPython(text: string): string {
  return masked(text, PYTHON);
}

/** The text without its comments, every character at its place. */
export function uncommentedBraces(text: string): string {
  return text.replace(BRACES, withoutComment);
}

export function uncommentedPython(text: string): string {
  return text.replace(PYTHON, withoutComment);
}

function withoutComment(piece: string): string {
  return /^(?:#|\/[/*])/.test(piece) ? blank(piece) : piece;
}

/** A regular expression stands where a value may begin. */
const BRACES =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};]\s*|\breturn\s+)\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/g;

const PYTHON =
  /#[^\n]*|"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;

function masked(text: string, pattern: RegExp): string {
  return text.replace(pattern, (piece) => {
    if (piece.startsWith("#") || piece.startsWith("/")) return blank(piece);
    return piece.length < 2 ? piece : `${piece[0]}${blank(piece.slice(1, -1))}${piece.at(-1)}`;
  });
}

export function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

const CLOSING: Record<string, string> = { "(": ")", "{": "}", "[": "]" };

/** The index behind the bracket that closes the one there; undefined: none does. */
export function closingOf(code: string, open: number): number | undefined {
  const stack: string[] = [];
  for (let at = open; at < code.length; at += 1) {
    const char = code[at] ?? "";
    const closing = CLOSING[char];
    if (closing !== undefined) stack.push(closing);
    else if (char === stack.at(-1)) stack.pop();
    if (stack.length === 0) return at + 1;
  }
  return undefined;
}

/** The same code with a part of it taken out. */
export function blanked(code: string, from: number, to: number): string {
  return to <= from ? code : code.slice(0, from) + blank(code.slice(from, to)) + code.slice(to);
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
