import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { textAt } from "../../../workspace/content.js";
import { readAnyText } from "../../prompt.js";
import { findingsIn, type Gate, type GateFinding, instructionFile, prpFileFor } from "./gate.js";
import { printOf } from "./languages.js";
import { criteriaIn, documentOf, type Section, saysSomething } from "./spec-gates.js";

/** Is the PRP there? The instruction alone makes nobody write anything. */
export const GENERATE: Gate = {
  about: "spec",
  passed: "Instruction generated",
  judge(_, { workspace, file, prpFile = prpFileFor(file), before }) {
    const said = (why: string) => [findingsIn(prpFile).error(1, why)];
    const text = textAt(resolve(workspace, prpFile));
    if (text === undefined)
      return said(`it does not exist yet: ${instructionFile("generate")} says how to write it`);
    if (text.trim() === "") return said("it is empty");
    if (!before?.onlyNew || !before.prints[prpFile]?.includes(printOf(text))) return [];
    return said(`it has not changed since the run began: write it again from ${file}`);
  },
};

/** Are the parts of a PRP there, and its criteria each once? */
export const CHECK: Gate = {
  about: "PRP",
  passed: "PRP validation passed",
  judge(text, { workspace, file, spec }) {
    const found = spec ?? `specs/${basename(file).replace(/\.prp\.md$/, ".md")}`;
    if (spec === undefined && !existsSync(resolve(workspace, found))) return checkPrp(file, text);
    return checkPrp(file, text, { file: found, text: readAnyText("spec", found, workspace) });
  },
};

type SpecText = { file: string; text: string };

const CRITERIA = /\bsuccess criteria\b/i;
const PROBLEM = /\bproblem\b/i;

type Mistake = [line: number, message: string];

/** What a PRP consists of, in its own order, and what else is wrong with a part. */
const PARTS: [title: RegExp, name: string, more?: (section: Section) => Mistake[]][] = [
  [/\bmeta\b/i, "Meta"],
  [PROBLEM, "Problem"],
  [CRITERIA, "Success criteria", criteriaMistakes],
  [/\bscope\b/i, "Scope"],
  [
    /\bfunctional requirements?\b/i,
    "Functional requirements",
    ({ title, body, line }) =>
      body.some(({ text }) => /\bFR-\d+\b/.test(text))
        ? []
        : [[line, `"${title}" names no requirement: FR-1, FR-2 … are needed`]],
  ],
  [/\bfailure modes?\b/i, "Failure modes"],
  [/\bvalidation\b/i, "Validation commands"],
];

export function checkPrp(file: string, text: string, spec?: SpecText): GateFinding[] {
  const { error, warning } = findingsIn(file);
  const { sections, section } = documentOf(text);
  const [first] = sections;
  const isTitled = first?.level === 1 && /^PRP-\S+/.test(first.title);
  const title: Mistake = [first?.line ?? 1, 'the title is not "# PRP-…", such as # PRP-2026-01-26-001'];
  const parts = PARTS.flatMap(([pattern, name, more]): Mistake[] => {
    const part = section(pattern);
    if (part === undefined) return [[1, `no section "${name}"`]];
    return saysSomething(part) ? (more?.(part) ?? []) : [[part.line, `"${part.title}" says nothing`]];
  });
  const phases = sections.filter((one) => /\bphase \d+/i.test(one.title));
  const noPhase: Mistake = [1, 'no phase: add "## Phase 1: …" with its deliverables'];
  const empty = phases.filter(({ body }) => {
    const names = body.findIndex((one) => /\bdeliverables?\b/i.test(one.text));
    return names < 0 || body.slice(names).every(({ item }) => item === undefined);
  });
  const [wanted, ids] = [criteriaIn(spec?.text ?? "").length, criterionIds(text).length];
  const lost: Mistake = [
    section(CRITERIA)?.line ?? 1,
    `${spec?.file} has ${wanted} criteria, and this file has ${ids}`,
  ];
  const problem = section(PROBLEM);
  const said = problem?.body.map((one) => one.text).join(" ") ?? "";
  const strange = spec && somethingElse(said, spec);
  const mistakes = [
    ...(isTitled ? [] : [title]),
    ...(strange === undefined ? [] : [[problem?.line ?? 1, strange] as Mistake]),
    ...parts,
    ...(phases.length === 0 ? [noPhase] : []),
    ...empty.map((phase): Mistake => [phase.line, `"${phase.title}" lists no deliverables`]),
    ...(wanted > ids && ids > 0 ? [lost] : []),
  ].map(([line, message]) => error(line, message));
  const isVerbatim = spec === undefined || strange !== undefined || plain(spec.text).includes(plain(said));
  const reworded = warning(problem?.line ?? 1, `the problem section does not quote ${spec?.file}`);
  return [...mistakes, ...(isVerbatim ? [] : [reworded])].sort((a, b) => a.line - b.line);
}

/** Fewer words than this say too little to compare. */
const ENOUGH_WORDS = 5;

/** A problem that shares hardly a word with the spec is that of another product. */
function somethingElse(problem: string, { file, text }: SpecText): string | undefined {
  const words = longWords(problem);
  const known = longWords(text);
  const shared = [...words].filter((word) => known.has(word)).length;
  if (words.size < ENOUGH_WORDS || shared * 3 >= words.size) return undefined;
  return `the problem is not that of ${file}: they share ${shared} of ${words.size} words; write the PRP of ${file}`;
}

/** Scripts without spaces between words have none. */
function longWords(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{4,}/gu));
}

function plain(text: string): string {
  return text.replace(/[\s>*_`]+/g, " ").trim();
}

/** The numbers of its criteria, in their order. */
export function criterionIds(text: string): string[] {
  const section = documentOf(text).section(CRITERIA);
  return [...new Set(section && criterionRows(section).map(({ id }) => id))];
}

function criterionRows({ items }: Section): { id: string; text: string; line: number }[] {
  return items.flatMap(({ text, line }) => {
    const id = /^\W*(SC-\d+)\b/.exec(text)?.[1];
    return id === undefined ? [] : [{ id, text, line }];
  });
}

const SOURCE = /\blines?\s*\d+|\bL\d+|:\d+/i;

function criteriaMistakes(section: Section): Mistake[] {
  const rows = criterionRows(section);
  if (rows.length === 0)
    return [[section.line, `"${section.title}" names no criterion: a table with SC-1, SC-2 … is needed`]];
  return rows.flatMap(({ id, text, line }, index): Mistake[] => {
    const first = rows.findIndex((row) => row.id === id);
    const twice: Mistake = [line, `${id} appears twice: see line ${rows[first]?.line}, too`];
    const isSourced = SOURCE.test(text.replace(/SC-\d+/g, ""));
    const noSource: Mistake = [line, `${id} does not say its source line, such as "line 11"`];
    return [...(first === index ? [] : [twice]), ...(isSourced ? [] : [noSource])];
  });
}
