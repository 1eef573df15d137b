/** `plain`: without comments. `masked`: without what texts say, too, every character at its place. */
export function mask(text: string, literals: RegExp): { plain: string; masked: string } {
  let [plain, masked, done] = ["", "", 0];
  for (const { 0: piece, index, groups } of text.matchAll(literals)) {
    const before = text.slice(done, index);
    const isComment = groups?.["comment"] !== undefined;
    plain += before + (isComment || groups?.["docstring"] !== undefined ? blank(piece) : piece);
    masked += before + (isComment || piece.startsWith("/") ? blank(piece) : quoted(piece));
    done = index + piece.length;
  }
  return { plain: plain + text.slice(done), masked: masked + text.slice(done) };
}

function quoted(piece: string): string {
  return `${piece[0]}${blank(piece.slice(1, -1))}${piece.at(-1)}`;
}

export function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** The code with a part of it taken out, every character at its place. */
export function blanked(code: string, from: number, to: number): string {
  return to <= from ? code : code.slice(0, from) + blank(code.slice(from, to)) + code.slice(to);
}

const BLOCK = /^\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|try|except|finally|with|match|case)\b/;

/** Puts `⦃` and `⦄` around blocks that are told by their indentation. */
export function bracketed(code: string): string {
  const lines: string[] = [];
  const open: number[] = [];
  let last = 0;
  for (const line of logicalLines(code)) {
    const indent = line.search(/\S/);
    for (; indent >= 0 && (open.at(-1) ?? -1) >= indent; open.pop()) lines[last] += "⦄";
    if (indent >= 0) last = lines.length;
    const [head, body] = splitHead(line);
    if (body?.trim() === "") open.push(indent);
    lines.push(body === undefined ? head : `${head}⦃${body}${body.trim() === "" ? "" : "⦄"}`);
  }
  lines[last] += "⦄".repeat(open.length);
  return lines.join("\n");
}

/** The head of a block and what follows it in its line; undefined: it is no head. */
function splitHead(line: string): [head: string, body?: string] {
  const colon = firstAt(line, 0, (at) => line[at] === ":" && line[at + 1] !== "=");
  return BLOCK.test(line) && colon < line.length ? [line.slice(0, colon + 1), line.slice(colon + 1)] : [line];
}

/** A line goes on while a bracket is open. */
function logicalLines(code: string): string[] {
  const lines: string[] = [];
  let depth = 0;
  for (const line of code.split("\n")) {
    if (depth > 0) lines[lines.length - 1] += `\n${line}`;
    else lines.push(line);
    depth = Math.max(0, depth + depthOf(line));
  }
  return lines;
}

/** How many more brackets are opened than closed. */
export function depthOf(line: string): number {
  return (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0);
}

/** `if (x) return`, `else return`: what follows is run when it does not hold. */
export function isConditional(code: string, index: number): boolean {
  return CONDITION.test(code.slice(0, index));
}

const CONDITION = /(?:\b(?:if|for|while|await)\s*\([^;{}]*\)|\belse|\bdo|&&|\|\|)\s*$/;

const CLOSING: Record<string, string> = { "(": ")", "{": "}", "[": "]", "⦃": "⦄" };
const CLOSERS = Object.values(CLOSING);

export function opens(code: string, at: number): boolean {
  return (code[at] ?? " ") in CLOSING;
}

/** The index behind the bracket that closes the one there. */
export function closingOf(code: string, open: number): number {
  const stack: string[] = [];
  for (let at = open; at < code.length; at += 1) {
    const closing = CLOSING[code[at] ?? ""];
    if (closing !== undefined) stack.push(closing);
    else if (code[at] === stack.at(-1)) stack.pop();
    if (stack.length === 0) return at + 1;
  }
  return code.length;
}

/** The first place within the same brackets that is meant, or their end. */
export function firstAt(code: string, from: number, isMeant: (at: number) => boolean): number {
  let depth = 0;
  for (let at = from; at < code.length; at += 1) {
    if (depth === 0 && isMeant(at)) return at;
    if (opens(code, at)) depth += 1;
    else if (CLOSERS.includes(code[at] ?? "")) depth -= 1;
    if (depth < 0) return at;
  }
  return code.length;
}

const CONTINUES = /^\s*[.?:+\-*/%&|^,<>=)\]}]/;
const IS_CONTINUED = /[=+\-*/%&|^,<>(?:.{[]\s*$/;

/** Where a statement ends that may have no semicolon. */
export function statementEnd(code: string, from: number): number {
  return firstAt(code, from, (at) => endsStatement(code, from, at));
}

export function endsStatement(code: string, from: number, at: number): boolean {
  if (code[at] !== "\n") return code[at] === ";";
  const own = code.slice(from, at);
  return own.trim() === "" || (!CONTINUES.test(code.slice(at, at + 200)) && !IS_CONTINUED.test(own));
}

/** Where the statement begins that goes on at the index. */
export function statementStart(code: string, index: number): number {
  const starts = [...code.slice(0, index).matchAll(/[;{}([]/g)].map((match) => match.index + 1);
  return starts.findLast((start) => firstAt(code, start, (at) => at === index) === index) ?? 0;
}
