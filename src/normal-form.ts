import { stripVTControlCharacters } from "node:util";

/**
 * A text without what changes from one time to the next though nothing else does: colours, the folders of
 * absolute paths, temporary names, addresses, identifiers, times, numbers of lines.
 */
export function normalForm(text: string): string {
  return RULES.reduce((rest, [pattern, word]) => rest.replace(pattern, word), stripVTControlCharacters(text));
}

const RULES: [RegExp, string][] = [
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
  [/\d+/g, "0"],
  [/(?:0[.:,]?)*0 ?(?:ms|µs|us|ns|s|sec|secs|seconds?|m|min|minutes?)\b/g, "<time>"],
  [/[ \t]+$/gm, ""],
];
