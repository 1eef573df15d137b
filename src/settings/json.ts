import { type ParseError, parse } from "jsonc-parser";

/** Reads JSON with comments and trailing commas, unless `isStrict`. `mistake`: where it stops being that. */
export function readJsonText(text: string, isStrict = false): { value: unknown; mistake?: string } {
  const mistakes: ParseError[] = [];
  const options = { allowTrailingComma: !isStrict, disallowComments: isStrict };
  const value: unknown = parse(text, mistakes, options);
  const [first] = mistakes;
  if (first === undefined) return { value };
  const before = text.slice(0, first.offset).split("\n");
  const found = /^(?:[\w.+-]+|[\s\S])/u.exec(text.slice(first.offset))?.[0] ?? "end of file";
  const column = (before.at(-1) ?? "").length + 1;
  return { value, mistake: `unexpected ${found} at line ${before.length}, column ${column}` };
}
