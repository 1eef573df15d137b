import { stripVTControlCharacters } from "node:util";

/** A text without colours, folders, addresses, ids, times and numbers: all that differs each time. */
export function normalForm(text: string): string {
  return applied([...RULES, [/\d+/g, "0"], ...ENDINGS], text);
}

/** The same for a line that names a test: numbers in the name are part of it, times and places are not. */
export function sameNames(line: string): string {
  return applied([...RULES, ...MEASURES, ...ENDINGS], line);
}

type Rule = [RegExp, string];

function applied(rules: Rule[], text: string): string {
  return rules.reduce((rest, [pattern, word]) => rest.replace(pattern, word), stripVTControlCharacters(text));
}

const RULES: Rule[] = [
  [
    /(?:[A-Za-z]:)?[\\/](?:private[\\/])?(?:tmp|var[\\/]folders|dev[\\/]shm)(?:[\\/][\w.@+-]+)+/g,
    "<temporary>",
  ],
  [/(?<![\w.@~-])(?:[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])+/g, "/"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/gi, "<hash>"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?=\d|[A-Z][a-z]{2} \d)/g, ""],
  [/\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* (?=\d)/g, ""],
];

const MEASURES: Rule[] = [
  [/\d+(?:[.:]\d+)+/g, "0"],
  [/:\d+/g, ":0"],
  [/\b\d+ ?(?=(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?)\b)/g, "0"],
];

const ENDINGS: Rule[] = [
  [/(?:0[.:,]?)*0 ?(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?)\b/g, "<time>"],
  [/[ \t]+$/gm, ""],
];
