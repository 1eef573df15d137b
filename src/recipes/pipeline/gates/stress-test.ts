import { type Finding, findingsIn } from "./finding.js";
import {
  itemsIn,
  type Line,
  linesOf,
  type Section,
  saysSomething,
  sectionCalled,
  sectionsOf,
  withoutCode,
  wordCount,
} from "./markdown.js";
import { vagueWarnings } from "./wording.js";

const PROBLEM = /\b(problem|pain points?|motivation|background|user journey|why)\b/i;
const CRITERIA = /\b(success|acceptance)\b.*\b(criteri|metrics?\b|measures?\b)|\bdefinition of done\b/i;
const SCOPE = /\bscope\b|\bnon-goals\b|\bout of scope\b/i;
const VERIFICATION = /\bverif|\bvalidat|\btest(s|ing|ed)?\b/i;

const MIN_WORDS = 100;

/** Is everything there that somebody would need to know? */
export function stressTest(file: string, text: string): Finding[] {
  const sections = sectionsOf(text);
  const { error, warning } = findingsIn(file);
  const words = wordCount(text);
  const problem = sectionCalled(sections, PROBLEM);
  return [
    ...(problem === undefined
      ? [error(1, 'no problem section: add "## Problem" and say what is wrong today')]
      : []),
    ...(problem !== undefined && !saysSomething(problem)
      ? [error(problem.line, `"${problem.title}" says nothing: say what is wrong today, and for whom`)]
      : []),
    ...criteriaFindings(file, sections),
    ...(words < MIN_WORDS ? [error(1, `only ${words} words, and at least ${MIN_WORDS} are needed`)] : []),
    ...(sectionCalled(sections, SCOPE) === undefined
      ? [warning(1, "no scope section: say what is not part of it")]
      : []),
    ...(sectionCalled(sections, VERIFICATION) === undefined
      ? [warning(1, "no verification section: say how it is checked")]
      : []),
    ...vagueWarnings(file, withoutCode(linesOf(text))),
  ];
}

/** The success or acceptance criteria of a spec. */
export function criteriaIn(text: string): Line[] {
  const section = sectionCalled(sectionsOf(text), CRITERIA);
  return section === undefined ? [] : itemsIn(section);
}

function criteriaFindings(file: string, sections: Section[]): Finding[] {
  const { error } = findingsIn(file);
  const section = sectionCalled(sections, CRITERIA);
  if (section === undefined)
    return [error(1, 'no success or acceptance criteria: add "## Success criteria" with a list')];
  if (itemsIn(section).length > 0) return [];
  return [error(section.line, `"${section.title}" holds no criterion: write each one as an item of a list`)];
}
