/** A function of the file that tests may call. */
export interface Definition {
  name: string;
  body: string;
}

export interface Assertions {
  /** What asserts by itself. */
  sure: RegExp;
  /** A call whose name, the first group, says that it asserts. */
  named: RegExp;
}

/** Tells whether code asserts, by itself or by a function of the same file that does. */
export function assertsWith(
  definitions: Definition[],
  { sure, named }: Assertions,
): (code: string) => boolean {
  const own = new Set(definitions.map(({ name }) => name));
  const asserting = new Set<string>();
  // A function of this file is looked into; of others the name has to do.
  const asserts = (code: string): boolean =>
    sure.test(code) ||
    [...code.matchAll(named)].some(([, name = ""]) => !own.has(name)) ||
    [...code.matchAll(CALL)].some(([, name = ""]) => asserting.has(name));
  for (let size = -1; size !== asserting.size; ) {
    size = asserting.size;
    for (const { name, body } of definitions) if (!asserting.has(name) && asserts(body)) asserting.add(name);
  }
  return asserts;
}

/** `name(…)`, and the name alone where a function is handed over. */
const CALL = /(?<![\w$])([\w$]+)\s*(?=[(),])/g;
