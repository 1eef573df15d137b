import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { readAnyText } from "../../text-file.js";
import {
  findingsIn,
  type Gate,
  type GateFinding,
  type GateOptions,
  instructionFile,
  prpFileFor,
} from "./gate.js";
import {
  itemsIn,
  type Section,
  type SpecLine,
  saysSomething,
  sectionCalled,
  sectionsOf,
} from "./markdown.js";
import { printOf } from "./scan.js";
import { criteriaIn } from "./stress-test.js";

/** Is the PRP there? The instruction alone makes nobody write anything. */
export const GENERATE: Gate = {
  about: "spec",
  passed: "Instruction generated",
  judge(_, { workspace, file, prpFile = prpFileFor(file), before }) {
    const path = resolve(workspace, prpFile);
    const { error } = findingsIn(prpFile);
    if (!existsSync(path))
      return [error(1, `it is not there yet: ${instructionFile("generate")} says how to write it`)];
    const text = readFileSync(path, "utf8");
    if (text.trim() === "") return [error(1, "it is empty")];
    if (!before?.onlyNew || before.prp !== printOf(text)) return [];
    return [error(1, `it is as it was before the run began: write it anew from ${file}`)];
  },
};

/** Are the parts of a PRP there, and its criteria each once? */
export const CHECK: Gate = {
  about: "PRP",
  passed: "PRP validation passed",
  judge: (text, options) => checkPrp(options.file, text, specOf(options)),
};

export interface SpecText {
  file: string;
  text: string;
}

function specOf({ workspace, file, spec }: GateOptions): SpecText | undefined {
  if (spec !== undefined) return { file: spec, text: readAnyText("spec", spec, workspace) };
  const found = `specs/${basename(file).replace(/\.prp\.md$/, ".md")}`;
  const path = resolve(workspace, found);
  return existsSync(path) ? { file: found, text: readFileSync(path, "utf8") } : undefined;
}

const CRITERIA = /\bsuccess criteria\b/i;
const REQUIREMENTS = /\bfunctional requirements?\b/i;

/** What a PRP consists of, in its own order. */
const PARTS: [title: RegExp, name: string][] = [
  [/\bmeta\b/i, "Meta"],
  [/\bproblem\b/i, "Problem"],
  [CRITERIA, "Success criteria"],
  [/\bscope\b/i, "Scope"],
  [REQUIREMENTS, "Functional requirements"],
  [/\bfailure modes?\b/i, "Failure modes"],
  [/\bvalidation\b/i, "Validation commands"],
];

export function checkPrp(file: string, text: string, spec?: SpecText): GateFinding[] {
  const { error } = findingsIn(file);
  const sections = sectionsOf(text);
  const [first] = sections;
  const isTitled = first?.level === 1 && /^PRP-\S+/.test(first.title);
  const title = error(first?.line ?? 1, 'the title is not "# PRP-…", such as # PRP-2026-01-26-001');
  const parts = PARTS.flatMap(([pattern, name]) => {
    const section = sectionCalled(sections, pattern);
    if (section === undefined) return [error(1, `no section "${name}"`)];
    return saysSomething(section) ? [] : [error(section.line, `"${section.title}" says nothing`)];
  });
  return [
    ...(isTitled ? [] : [title]),
    ...parts,
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

function criterionRows(sections: Section[]): (SpecLine & { id: string })[] {
  const section = sectionCalled(sections, CRITERIA);
  return (section === undefined ? [] : itemsIn(section)).flatMap(({ text, line }) => {
    const id = /^\W*(SC-\d+)\b/.exec(text)?.[1];
    return id === undefined ? [] : [{ id, text, line }];
  });
}

const SOURCE = /\blines?\s*\d+|\bL\d+|:\d+/i;

function criteriaFindings(file: string, sections: Section[]): GateFinding[] {
  const { error } = findingsIn(file);
  const section = sectionCalled(sections, CRITERIA);
  if (section === undefined || !saysSomething(section)) return [];
  const rows = criterionRows(sections);
  if (rows.length === 0)
    return [
      error(section.line, `"${section.title}" names no criterion: a table with SC-1, SC-2 … is needed`),
    ];
  return rows.flatMap(({ id, text, line }, index) => {
    const first = rows.findIndex((row) => row.id === id);
    const isSourced = SOURCE.test(text.replace(/SC-\d+/g, ""));
    return [
      ...(first === index
        ? []
        : [error(line, `${id} is there twice: it stands at line ${rows[first]?.line}, too`)]),
      ...(isSourced ? [] : [error(line, `${id} does not say its source line, such as "line 11"`)]),
    ];
  });
}

function requirementFindings(file: string, sections: Section[]): GateFinding[] {
  const section = sectionCalled(sections, REQUIREMENTS);
  if (section === undefined || !saysSomething(section)) return [];
  if (section.body.some(({ text }) => /\bFR-\d+\b/.test(text))) return [];
  const message = `"${section.title}" names no requirement: FR-1, FR-2 … are needed`;
  return [findingsIn(file).error(section.line, message)];
}

function phaseFindings(file: string, sections: Section[]): GateFinding[] {
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
function againstSpec(file: string, text: string, sections: Section[], spec: SpecText): GateFinding[] {
  const { error, warning } = findingsIn(file);
  const wanted = criteriaIn(spec.text).length;
  const ids = criterionIds(text).length;
  const line = sectionCalled(sections, CRITERIA)?.line ?? 1;
  const problem = sectionCalled(sections, /\bproblem\b/i);
  const words = plain(problem?.body.map((one) => one.text).join(" ") ?? "");
  return [
    ...(wanted > ids && ids > 0
      ? [error(line, `${spec.file} has ${wanted} criteria, and ${ids} are here`)]
      : []),
    ...(problem === undefined || plain(spec.text).includes(words)
      ? []
      : [warning(problem.line, `the problem is not in the words of ${spec.file}`)]),
  ];
}

function plain(text: string): string {
  return text.replace(/[\s>*_`]+/g, " ").trim();
}
