import { CATEGORIES, type Finding, type Verdict } from "../guard/finding.js";
import type { Formatter } from "./format.js";
import { harmlessJson, harmlessLine } from "./harmless.js";

/** What the guard thinks of a command, as people read it. */
export function guardLines({ allowed, refusals, warnings }: Verdict, format: Formatter): string {
  const heading = allowed
    ? format.paint("green", `${format.mark.ok} It would run.`)
    : format.paint("red", `${format.mark.error} It would be refused.`);
  const lines = [...refusals, ...warnings].flatMap((finding) => findingLines(finding, format));
  return `${[heading, ...lines].join("\n")}\n`;
}

function findingLines({ category, level, reason, command }: Finding, format: Formatter): string[] {
  const title = level === "warn" ? `${CATEGORIES[category]}, a warning` : CATEGORIES[category];
  const about =
    command === ""
      ? []
      : format.paragraph(`in: ${harmlessLine(command)}`, "dim").map((line) => `    ${line}`);
  return [
    `  ${format.paint("bold", title)}`,
    ...format.paragraph(harmlessLine(reason)).map((line) => `    ${line}`),
    ...about,
  ];
}

export function guardJson(command: string, { allowed, refusals, warnings }: Verdict): string {
  return `${harmlessJson({ v: 1, command, allowed, refusals, warnings }, 2)}\n`;
}
