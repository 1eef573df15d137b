/** What `echo` makes of its arguments. */
export function echoed(args: string[]): string {
  const from = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const flags = args.slice(0, from === -1 ? args.length : from).join("");
  const text = (from === -1 ? [] : args.slice(from)).join(" ");
  return flags.includes("e") ? unescaped(text) : text;
}

/** What `printf` makes of its arguments. */
export function formatted([format = "", ...values]: string[]): string {
  if (format === "-v") return "";
  const round = (rest: string[]): string => {
    const left = [...rest];
    return unescaped(format).replace(
      /%(%|[-+ #0]*\d*(?:\.\d+)?([a-zA-Z]))/g,
      (_, all: string, kind?: string) => {
        if (all === "%") return "%";
        const value = left.shift() ?? "";
        return kind === "b" ? unescaped(value) : value;
      },
    );
  };
  const each = Math.max((format.match(/%[^%]/g) ?? []).length, 1);
  let text = round(values);
  for (let at = each; at < Math.min(values.length, MOST_VALUES) && format.includes("%"); at += each)
    text += round(values.slice(at));
  return text;
}

const MOST_VALUES = 64;
const ESCAPES: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "\\": "\\",
  a: "",
  b: "",
  e: "",
  f: "",
  v: "",
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|0?([0-7]{1,3})|([\s\S]))/g,
    (whole, hex?: string, unicode?: string, octal?: string, letter?: string) => {
      if (letter !== undefined) return ESCAPES[letter] ?? whole;
      return String.fromCharCode(
        octal === undefined ? Number.parseInt(hex ?? unicode ?? "0", 16) : Number.parseInt(octal, 8),
      );
    },
  );
}
