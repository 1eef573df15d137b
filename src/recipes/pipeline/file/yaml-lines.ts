import type { Node, Pair, YAMLMap } from "yaml";
import { RalphError } from "../../../errors.js";
import { nearest } from "../../../nearest.js";

/** A value in a YAML file, and the line that it stands at. */
export interface Value {
  value: unknown;
  line: number;
}

export interface Entry {
  key: string;
  line: number;
  node: unknown;
}

/** Reads a YAML file by hand, so that every mistake is told with its line. */
export async function yamlReader(text: string, file: string) {
  const { isMap, isScalar, LineCounter, parseDocument } = await import("yaml");
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });

  const lineOf = (node: unknown): number => {
    const range = (node as Node | null)?.range;
    return range ? counter.linePos(range[0]).line : 1;
  };
  const mistake = (line: number, what: string): RalphError =>
    new RalphError(`${file}:${line}: ${what}`, { code: "pipeline_invalid" });

  const [broken] = document.errors;
  if (broken !== undefined)
    throw mistake(
      broken.linePos?.[0].line ?? 1,
      (broken.message.split("\n", 1)[0] ?? "").replace(/ at line.*$/, ""),
    );

  const entriesOf = (node: unknown, what: string, line: number): Entry[] => {
    if (!isMap(node)) throw mistake(line, `${what} has to hold keys and values`);
    return (node as YAMLMap).items.map(({ key, value }: Pair) => ({
      key: String(isScalar(key) ? key.value : key),
      line: lineOf(key),
      node: value,
    }));
  };

  return {
    root: document.contents as unknown,
    mistake,
    entriesOf,
    /** The same where only these keys have a meaning. */
    fieldsOf(node: unknown, what: string, line: number, known: string[]): Map<string, Entry> {
      const entries = entriesOf(node, what, line);
      const unknown = entries.find(({ key }) => !known.includes(key));
      if (unknown === undefined) return new Map(entries.map((entry) => [entry.key, entry]));
      const meant = nearest(unknown.key, known);
      const hint = meant === undefined ? `known keys: ${known.join(", ")}` : `did you mean "${meant}"?`;
      throw mistake(unknown.line, `unknown key "${unknown.key}" in ${what} (${hint})`);
    },
    valueLine: ({ node, line }: Entry): number => (isScalar(node) ? lineOf(node) : line),
    valueOf(entry: Entry): Value {
      if (isScalar(entry.node)) return { value: entry.node.value, line: lineOf(entry.node) };
      const isNothing = entry.node === null || entry.node === undefined;
      throw mistake(entry.line, `"${entry.key}" ${isNothing ? "has no value" : "has to be a single value"}`);
    },
  };
}

export type YamlReader = Awaited<ReturnType<typeof yamlReader>>;
