/** From the opening bracket to the one that closes it. */
export function argumentsAt(text: string, from: number): string {
  const open = text.slice(from).search(/[({[]/);
  if (open === -1) return text.slice(from, from + 300);
  let depth = 0;
  for (let at = from + open; at < Math.min(text.length, from + 2000); at += 1) {
    if ("([{".includes(text[at] ?? "")) depth += 1;
    if (")]}".includes(text[at] ?? "")) depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return text.slice(from, from + 2000);
}

/** The texts in quotes. */
export function literals(text: string): string[] {
  const found = text.matchAll(
    /"""([\s\S]*?)"""|'''([\s\S]*?)'''|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`$]*)`/g,
  );
  return [...found]
    .slice(0, 100)
    .map((match) =>
      (match[1] ?? match[2] ?? match[3] ?? match[4] ?? match[5] ?? "")
        .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/\\(["'\\])/g, "$1"),
    );
}
