import { findingsIn, type Gate, type GateFinding } from "./gate.js";
import {
  itemsIn,
  linesOf,
  type Section,
  type SpecLine,
  saysSomething,
  sectionCalled,
  sectionsOf,
  wordCount,
} from "./markdown.js";

/** Is everything there that somebody would need to know? */
export const STRESS_TEST: Gate = {
  about: "spec",
  passed: "Instruction generated",
  judge: (text, { file }) => stressTest(file, text),
};

const PROBLEM = /\b(problem|pain points?|motivation|background|user journey|why)\b/i;
const CRITERIA = /\b(success|acceptance)\b.*\b(criteri|metrics?\b|measures?\b)|\bdefinition of done\b/i;
const SCOPE = /\bscope\b|\bnon-goals\b|\bout of scope\b/i;
const VERIFICATION = /\bverif|\bvalidat|\btest(s|ing|ed)?\b/i;

/** Qualities without a measure. */
export const VAGUE =
  /\b(fast|faster|slow|quick(?:ly)?|eas(?:y|ier|ily)|simpl[ey]|intuitive(?:ly)?|user[- ]friendly|friendly|nice(?:ly)?|good|well|better|best|great|clean|modern|robust(?:ly)?|scalable|secure(?:ly)?|reliabl[ey]|efficient(?:ly)?|performant|responsive(?:ly)?|seamless(?:ly)?|smooth(?:ly)?|beautiful|pleasant|happy|happier|satisf(?:ied|ying|action)|delight(?:s|ed|ful)?|pleas(?:es|ed|ing)|impress(?:ed|ive)?|excit(?:ed|ing)|engag(?:ed|ing)|enjoy(?:s|able)?|lov(?:e|es|ely)|feels?|comfortabl[ey]|convenient(?:ly)?|elegant|powerful|high[- ]quality|flexible|usable|works?)\b/i;

const MIN_WORDS = 100;

export function stressTest(file: string, text: string): GateFinding[] {
  const sections = sectionsOf(text);
  const { error, warning } = findingsIn(file);
  const words = wordCount(text);
  const findings: GateFinding[] = [];
  const problem = sectionCalled(sections, PROBLEM);
  if (problem === undefined)
    findings.push(error(1, 'no problem section: add "## Problem" and say what is wrong today'));
  else if (!saysSomething(problem))
    findings.push(
      error(problem.line, `"${problem.title}" says nothing: say what is wrong today, and for whom`),
    );
  findings.push(...criteriaFindings(file, sections));
  if (words < MIN_WORDS) findings.push(error(1, `only ${words} words, and at least ${MIN_WORDS} are needed`));
  if (sectionCalled(sections, SCOPE) === undefined)
    findings.push(warning(1, "no scope section: say what is not part of it"));
  if (sectionCalled(sections, VERIFICATION) === undefined)
    findings.push(warning(1, "no verification section: say how it is checked"));
  // The same word is named once.
  const vague = new Map<string, number>();
  for (const { text: content, line } of linesOf(text)) {
    const word = VAGUE.exec(content)?.[0].toLowerCase();
    if (word !== undefined && !vague.has(word)) vague.set(word, line);
  }
  const warnings = [...vague].map(([word, line]) =>
    warning(line, `"${word}" is vague: say how it is measured`),
  );
  return [...findings, ...warnings];
}

/** The success or acceptance criteria of a spec. */
export function criteriaIn(text: string): SpecLine[] {
  const section = sectionCalled(sectionsOf(text), CRITERIA);
  return section === undefined ? [] : itemsIn(section);
}

function criteriaFindings(file: string, sections: Section[]): GateFinding[] {
  const { error } = findingsIn(file);
  const section = sectionCalled(sections, CRITERIA);
  if (section === undefined)
    return [error(1, 'no success or acceptance criteria: add "## Success criteria" with a list')];
  if (itemsIn(section).length > 0) return [];
  return [error(section.line, `"${section.title}" holds no criterion: write each one as an item of a list`)];
}
