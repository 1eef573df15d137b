/** `plain`: without comments. `masked`: without what texts say, too, every character at its place. */
export function mask(text: string, literals: RegExp): { plain: string; masked: string } {
  let [plain, masked, done] = ["", "", 0];
  for (const { 0: piece, index, groups } of text.matchAll(literals)) {
    const before = text.slice(done, index);
    const isComment = groups?.["comment"] !== undefined;
    const quoted = `${piece[0]}${blank(piece.slice(1, -1))}${piece.at(-1)}`;
    plain += before + (isComment || groups?.["docstring"] !== undefined ? blank(piece) : piece);
    masked += before + (isComment || piece.startsWith("/") ? blank(piece) : quoted);
    done = index + piece.length;
  }
  return { plain: plain + text.slice(done), masked: masked + text.slice(done) };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** The code with a part of it taken out, every character at its place. */
export function blanked(code: string, from: number, to: number): string {
  return to <= from ? code : code.slice(0, from) + blank(code.slice(from, to)) + code.slice(to);
}

/** How many more brackets are opened than closed. */
export function depthOf(line: string): number {
  return (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0);
}

const CLOSING: Record<string, string> = { "(": ")", "{": "}", "[": "]" };
const BLOCK = /^\s*(?:async\s+)?(?:def|class|if|elif|else|for|while|try|except|finally|with|match|case)\b/;
const CONDITION = /(?:\b(?:if|for|while|await)\s*\([^;{}]*\)|\belse|\bdo|&&|\|\|)\s*$/;
const CONTINUES = /^\s*[.?:+\-*/%&|^,<>=)\]}]/;
const IS_CONTINUED = /[=+\-*/%&|^,<>(?:.{[]\s*$/;

/** Masked code. What does not count is blanked in it, so that indexes and ends of brackets hold. */
export class Code {
  /** The index behind the end of each bracket, and of each block that is told by its indentation. */
  private readonly ends = new Map<number, number>();
  /** For each index, where the brackets around it end. */
  private readonly limits: Int32Array | undefined;

  /** `indented`: the colon in front of such a block becomes `⦃`. */
  constructor(
    public text: string,
    indented = false,
  ) {
    const open: number[] = [];
    for (const { 0: bracket, index } of text.matchAll(/[()[\]{}]/g)) {
      if (bracket in CLOSING) open.push(index);
      else if (CLOSING[text[open.at(-1) ?? -1] ?? ""] === bracket) this.ends.set(open.pop() ?? 0, index + 1);
    }
    if (indented) this.closeBlocks();
    const limits = new Int32Array(text.length + 1).fill(text.length);
    for (const [at, end] of [...this.ends].sort(([a], [b]) => a - b)) {
      const inner = this.text[at] === "⦃" ? end : end - 1;
      limits.fill(inner, at + 1, inner + 1);
    }
    this.limits = limits;
  }

  private closeBlocks(): void {
    const { text } = this;
    const open: { indent: number; colon: number }[] = [];
    const colons: number[] = [];
    let last = 0;
    // A line goes on while a bracket is open.
    for (let from = 0, end = 0; from < text.length; from = end + 1) {
      end = this.firstAt(from, (at) => text[at] === "\n");
      const line = text.slice(from, end);
      const indent = line.search(/\S/);
      if (indent < 0) continue;
      while ((open.at(-1)?.indent ?? -1) >= indent) this.ends.set(open.pop()?.colon ?? 0, last);
      last = end;
      const colon = this.firstAt(from, (at) => text[at] === ":" && text[at + 1] !== "=");
      if (!BLOCK.test(line) || colon >= end) continue;
      colons.push(colon);
      if (text.slice(colon + 1, end).trim() === "") open.push({ indent, colon });
      else this.ends.set(colon, end);
    }
    for (const { colon } of open) this.ends.set(colon, last);
    for (const at of colons) this.text = `${this.text.slice(0, at)}⦃${this.text.slice(at + 1)}`;
  }

  matches(pattern: RegExp | undefined): RegExpExecArray[] {
    return pattern === undefined ? [] : [...this.text.matchAll(pattern)];
  }

  /** Where the matches end. */
  endsOf(pattern: RegExp | undefined): number[] {
    return this.matches(pattern).map((match) => match.index + match[0].length);
  }

  blank(from: number, to: number): void {
    this.text = blanked(this.text, from, to);
  }

  opens(at: number): boolean {
    return /[([{⦃]/.test(this.text[at] ?? "");
  }

  /** The index behind the bracket or the block that is opened there. */
  endOf(open: number): number {
    return this.ends.get(open) ?? this.text.length;
  }

  /** The first index within the same brackets that is meant, or their end. */
  firstAt(from: number, isMeant: (at: number) => boolean): number {
    const limit = this.limits?.[from] ?? this.text.length;
    for (let at = from; at < limit; at = Math.max(at + 1, this.ends.get(at) ?? 0)) if (isMeant(at)) return at;
    return limit;
  }

  /** `if (x) return`, `else return`: what follows is run when it does not hold. */
  isConditional(index: number): boolean {
    return CONDITION.test(this.text.slice(0, index));
  }

  /** A statement may have no semicolon. */
  endsStatement(from: number, at: number): boolean {
    if (this.text[at] !== "\n") return this.text[at] === ";";
    const own = this.text.slice(from, at);
    return own.trim() === "" || (!CONTINUES.test(this.text.slice(at, at + 200)) && !IS_CONTINUED.test(own));
  }

  statementEnd(from: number): number {
    return this.firstAt(from, (at) => this.endsStatement(from, at));
  }

  /** Where the statement begins that goes on at the index. */
  statementStart(index: number): number {
    const starts = this.endsOf(/[;{}([]/g).filter((start) => start <= index);
    return starts.findLast((start) => this.firstAt(start, (at) => at === index) === index) ?? 0;
  }
}
