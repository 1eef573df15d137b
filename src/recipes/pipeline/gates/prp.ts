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
import { criteriaIn } from "./spec-gates.js";

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
const PROBLEM = /\bproblem\b/i;

/** What a PRP consists of, in its own order, and what else is wrong with a part. */
const PARTS: [title: RegExp, name: string, more?: (section: Section) => [line: number, message: string][]][] =
  [
    [/\bmeta\b/i, "Meta"],
    [PROBLEM, "Problem"],
    [CRITERIA, "Success criteria", criteriaMistakes],
    [/\bscope\b/i, "Scope"],
    [/\bfunctional requirements?\b/i, "Functional requirements", requirementMistakes],
    [/\bfailure modes?\b/i, "Failure modes"],
    [/\bvalidation\b/i, "Validation commands"],
  ];

export function checkPrp(file: string, text: string, spec?: SpecText): GateFinding[] {
  const { error } = findingsIn(file);
  const sections = sectionsOf(text);
  const [first] = sections;
  const isTitled = first?.level === 1 && /^PRP-\S+/.test(first.title);
  const title = error(first?.line ?? 1, 'the title is not "# PRP-…", such as # PRP-2026-01-26-001');
  const parts = PARTS.flatMap(([pattern, name, more]) => {
    const section = sectionCalled(sections, pattern);
    if (section === undefined) return [error(1, `no section "${name}"`)];
    if (!saysSomething(section)) return [error(section.line, `"${section.title}" says nothing`)];
    return more?.(section).map(([line, message]) => error(line, message)) ?? [];
  });
  const phases = sections.filter(({ title }) => /\bphase \d+/i.test(title));
  const noPhase = error(1, 'no phase: add "## Phase 1: …" with its deliverables');
  const lists = ({ body }: Section): boolean => {
    const names = body.findIndex(({ text }) => /\bdeliverables?\b/i.test(text));
    return names >= 0 && body.slice(names).some(({ item }) => item !== undefined);
  };
  const empty = phases.filter((phase) => !lists(phase));
  return [
    ...(isTitled ? [] : [title]),
    ...parts,
    ...(phases.length === 0 ? [noPhase] : []),
    ...empty.map((phase) => error(phase.line, `"${phase.title}" lists no deliverables`)),
    ...(spec === undefined ? [] : againstSpec(file, text, sections, spec)),
  ].sort((a, b) => a.line - b.line);
}

/** The numbers of its criteria, in their order. */
export function criterionIds(text: string): string[] {
  const section = sectionCalled(sectionsOf(text), CRITERIA);
  return [...new Set(section && criterionRows(section).map(({ id }) => id))];
}

function criterionRows(section: Section): (SpecLine & { id: string })[] {
  return itemsIn(section).flatMap(({ text, line }) => {
    const id = /^\W*(SC-\d+)\b/.exec(text)?.[1];
    return id === undefined ? [] : [{ id, text, line }];
  });
}

const SOURCE = /\blines?\s*\d+|\bL\d+|:\d+/i;

function criteriaMistakes(section: Section): [line: number, message: string][] {
  const rows = criterionRows(section);
  if (rows.length === 0)
    return [[section.line, `"${section.title}" names no criterion: a table with SC-1, SC-2 … is needed`]];
  return rows.flatMap(({ id, text, line }, index) => {
    const first = rows.findIndex((row) => row.id === id);
    const twice = `${id} is there twice: it stands at line ${rows[first]?.line}, too`;
    const isSourced = SOURCE.test(text.replace(/SC-\d+/g, ""));
    const noSource = `${id} does not say its source line, such as "line 11"`;
    return [...(first === index ? [] : [twice]), ...(isSourced ? [] : [noSource])].map(
      (message): [number, string] => [line, message],
    );
  });
}

function requirementMistakes({ title, body, line }: Section): [line: number, message: string][] {
  if (body.some(({ text }) => /\bFR-\d+\b/.test(text))) return [];
  return [[line, `"${title}" names no requirement: FR-1, FR-2 … are needed`]];
}

/** What got lost on the way from the spec. */
function againstSpec(file: string, text: string, sections: Section[], spec: SpecText): GateFinding[] {
  const { error, warning } = findingsIn(file);
  const wanted = criteriaIn(spec.text).length;
  const ids = criterionIds(text).length;
  const line = sectionCalled(sections, CRITERIA)?.line ?? 1;
  const problem = sectionCalled(sections, PROBLEM);
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
