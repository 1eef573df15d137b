import { readable } from "./excerpt.js";

/** How runners of tests say that there was none. */
const NONE = [
  /^[#ℹ] tests 0$/m,
  // Tests that cannot be imported yet are there all the same.
  /\bcollected 0 items\b(?! \/ \d+ error)/,
  /\bno tests? (?:ran|(?:were )?(?:run|executed|collected))\b/i,
  /\bno tests? (?:files? )?found\b/i,
  /\bno tests? to run\b/i,
  /\[no test files\]/,
  /^Ran 0 tests\b/m,
  /^running 0 tests$/m,
  /^1\.\.0\b/m,
  /\b0 passing\b/,
  /\b0 (?:tests|examples), 0 (?:assertions|failures)\b/,
];

/** How they say that there were some. */
const SOME = [
  /^[#ℹ] tests [1-9]\d*$/m,
  /\bcollected [1-9]\d* items?\b/,
  /\b[1-9]\d* (?:passed|passing|failed|failing)\b/,
  /^Ran [1-9]\d* tests?\b/m,
  /^running [1-9]\d* tests?$/m,
  /^1\.\.[1-9]/m,
  /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*\[no tests)/m,
  /\b[1-9]\d* (?:tests?|examples?), \d+ (?:assertions?|failures?)\b/,
];

/** Whether the output is that of a runner that found no test: nothing was proved, whatever its exit code. */
export function foundNoTests(output: string): boolean {
  const text = readable(output);
  return NONE.some((pattern) => pattern.test(text)) && !ranTests(text);
}

export function ranTests(output: string): boolean {
  const text = readable(output);
  return SOME.some((pattern) => pattern.test(text));
}
