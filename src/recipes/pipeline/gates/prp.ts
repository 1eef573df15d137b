import { type Finding, findingsIn } from "./finding.js";
import { itemsIn, type Line, type Section, saysSomething, sectionCalled, sectionsOf } from "./markdown.js";
import { criteriaIn } from "./stress-test.js";

/** What a PRP consists of, in its own order. */
const PARTS: [title: RegExp, name: string][] = [
  [/\bmeta\b/i, "Meta"],
  [/\bproblem\b/i, "Problem"],
  [/\bsuccess criteria\b/i, "Success criteria"],
  [/\bscope\b/i, "Scope"],
  [/\bfunctional requirements?\b/i, "Functional requirements"],
  [/\bfailure modes?\b/i, "Failure modes"],
  [/\bvalidation\b/i, "Validation commands"],
];

export interface Spec {
  file: string;
  text: string;
}

/** Are the parts of a PRP there, and its criteria each once? */
export function checkPrp(file: string, text: string, spec?: Spec): Finding[] {
  const sections = sectionsOf(text);
  return [
    ...titleFindings(file, sections),
    ...PARTS.flatMap(([title, name]) => partFindings(file, sections, title, name)),
    ...criteriaFindings(file, sections),
    ...requirementFindings(file, sections),
    ...phaseFindings(file, sections),
    ...(spec === undefined ? [] : againstSpec(file, text, sections, spec)),
  ].sort((a, b) => a.line - b.line);
}

/** The numbers of its criteria, in their order. */
export function criterionIds(text: string): string[] {
  return [...new Set(criterionRows(sectionsOf(text)).map(({ id }) => id))];
}

interface Row extends Line {
  id: string;
}

function criterionRows(sections: Section[]): Row[] {
  const section = sectionCalled(sections, /\bsuccess criteria\b/i);
  const rows = section === undefined ? [] : itemsIn(section);
  return rows.flatMap(({ text, line }) => {
    const id = /^\W*(SC-\d+)\b/.exec(text)?.[1];
    return id === undefined ? [] : [{ id, text, line }];
  });
}

function titleFindings(file: string, [first]: Section[]): Finding[] {
  if (first !== undefined && first.level === 1 && /^PRP-\S+/.test(first.title)) return [];
  return [
    findingsIn(file).error(first?.line ?? 1, 'the title is not "# PRP-…", such as # PRP-2026-01-26-001'),
  ];
}

function partFindings(file: string, sections: Section[], title: RegExp, name: string): Finding[] {
  const { error } = findingsIn(file);
  const section = sectionCalled(sections, title);
  if (section === undefined) return [error(1, `no section "${name}"`)];
  return saysSomething(section) ? [] : [error(section.line, `"${section.title}" says nothing`)];
}

function criteriaFindings(file: string, sections: Section[]): Finding[] {
  const { error } = findingsIn(file);
  const section = sectionCalled(sections, /\bsuccess criteria\b/i);
  if (section === undefined || !saysSomething(section)) return [];
  const rows = criterionRows(sections);
  if (rows.length === 0)
    return [
      error(section.line, `"${section.title}" names no criterion: a table with SC-1, SC-2 … is needed`),
    ];
  const unsourced = rows.filter(({ text }) => !SOURCE.test(text.replace(/SC-\d+/g, "")));
  return [
    ...twice(rows).map(({ id, line, first }) =>
      error(line, `${id} is there twice: it stands at line ${first}, too`),
    ),
    ...unsourced.map(({ id, line }) => error(line, `${id} does not say its source line, such as "line 11"`)),
  ];
}

const SOURCE = /\blines?\s*\d+|\bL\d+|:\d+/i;

function twice(rows: Row[]): (Row & { first: number })[] {
  return rows.flatMap((row, index) => {
    const first = rows.findIndex(({ id }) => id === row.id);
    return first === index ? [] : [{ ...row, first: rows[first]?.line ?? 0 }];
  });
}

function requirementFindings(file: string, sections: Section[]): Finding[] {
  const section = sectionCalled(sections, /\bfunctional requirements?\b/i);
  if (section === undefined || !saysSomething(section)) return [];
  if (section.body.some(({ text }) => /\bFR-\d+\b/.test(text))) return [];
  return [
    findingsIn(file).error(section.line, `"${section.title}" names no requirement: FR-1, FR-2 … are needed`),
  ];
}

function phaseFindings(file: string, sections: Section[]): Finding[] {
  const { error } = findingsIn(file);
  const phases = sections.filter(({ title }) => /\bphase \d+/i.test(title));
  if (phases.length === 0) return [error(1, 'no phase: add "## Phase 1: …" with its deliverables')];
  return phases.flatMap((phase) => {
    const names = phase.body.findIndex(({ text }) => /\bdeliverables?\b/i.test(text));
    const listed = names >= 0 && itemsIn({ ...phase, body: phase.body.slice(names) }).length > 0;
    return listed ? [] : [error(phase.line, `"${phase.title}" lists no deliverables`)];
  });
}

/** What got lost on the way from the spec. */
function againstSpec(file: string, text: string, sections: Section[], spec: Spec): Finding[] {
  const { error, warning } = findingsIn(file);
  const wanted = criteriaIn(spec.text);
  const ids = criterionIds(text);
  const section = sectionCalled(sections, /\bsuccess criteria\b/i);
  const lost = wanted.length - ids.length;
  const problem = sectionCalled(sections, /\bproblem\b/i);
  const isVerbatim = problem === undefined || plain(spec.text).includes(plain(bodyText(problem)));
  return [
    ...(lost > 0 && ids.length > 0
      ? [error(section?.line ?? 1, `${spec.file} has ${wanted.length} criteria, and ${ids.length} are here`)]
      : []),
    ...(isVerbatim ? [] : [warning(problem.line, `the problem is not in the words of ${spec.file}`)]),
  ];
}

function bodyText({ body }: Section): string {
  return body.map(({ text }) => text).join(" ");
}

function plain(text: string): string {
  return text.replace(/[\s>*_`]+/g, " ").trim();
}
