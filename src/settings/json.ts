/** Where a text stops being JSON. */
export interface JsonMistake {
  line: number;
  column: number;
  /** What stands there. */
  found: string;
}

const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside strings
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|((?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])))/uy;

/** For a text that `JSON.parse` refused: it tells what is wrong, and only sometimes where. */
export function findJsonMistake(text: string): JsonMistake {
  const offset = mistakeOffset(text);
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", start)) {
    line += 1;
    start = end + 1;
  }
  const found = /^(?:[\w.+-]+|[\s\S])/u.exec(text.slice(offset))?.[0] ?? "end of file";
  return { line, column: offset - start + 1, found };
}

/** What may come next, by what came before; `open` is the stack of brackets. */
type Expecting = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or end";

function mistakeOffset(text: string): number {
  const open: string[] = [];
  let expecting: Expecting = "value";
  TOKEN.lastIndex = 0;
  for (;;) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    const at = start + (/^[ \t\r\n]*/.exec(text.slice(start))?.[0].length ?? 0);
    const next: Expecting | undefined = match === null ? undefined : after(expecting, kindOf(match), open);
    if (next === undefined) return at;
    expecting = next;
  }
}

function kindOf([, punctuation, text]: RegExpExecArray): string {
  return punctuation ?? (text === undefined ? "scalar" : "string");
}

function after(expecting: Expecting, token: string, open: string[]): Expecting | undefined {
  if (expecting === "colon") return token === ":" ? "value" : undefined;
  if (expecting === "comma or end") return afterValue(token, open);
  if (expecting.startsWith("key")) return token === "string" ? "colon" : close(token, "}", expecting, open);
  if (token === "{" || token === "[") {
    open.push(token);
    return token === "{" ? "key or }" : "value or ]";
  }
  return token === "string" || token === "scalar" ? "comma or end" : close(token, "]", expecting, open);
}

function afterValue(token: string, open: string[]): Expecting | undefined {
  const inside = open.at(-1);
  if (token === "," && inside !== undefined) return inside === "{" ? "key" : "value";
  if (token !== (inside === "{" ? "}" : "]") || inside === undefined) return undefined;
  open.pop();
  return "comma or end";
}

function close(token: string, bracket: string, expecting: Expecting, open: string[]): Expecting | undefined {
  if (token !== bracket || !expecting.endsWith(bracket)) return undefined;
  open.pop();
  return "comma or end";
}
