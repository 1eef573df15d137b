import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import type { Json } from "../../events.js";
import { textAt } from "../../workspace/content.js";
import { isAboutTests } from "../../workspace/runner.js";
import { decidingFiles, runnerFiles, scriptsIn, testParts, whatCounts } from "./deciding.js";
import { checkTests } from "./gates/check-tests.js";
import { errorsIn, type GateFinding } from "./gates/gate.js";
import { checkPrp } from "./gates/prp.js";
import { criteriaIn } from "./gates/spec-gates.js";
import { readBefore } from "./gates/test-files.js";
import { PIPELINE_FILES, type PipelineSpec, type PipelineState } from "./spec.js";

const Seals = z.object({
  /** Fingerprints of files, and the state that has seen each of them. */
  files: z.record(z.string(), z.object({ print: z.string(), since: z.string() })),
  /** The same files as the last gate has left them, and the pipeline's own. */
  seen: z.record(z.string(), z.string()),
  /** Criteria of the spec: none of them may get lost. */
  criteria: z.number(),
  /** The state that has seen the tests: nothing that decides over them may be added since. */
  tests: z.string().nullable(),
});

/** What has passed its gate, and what judges it: agents must leave it as it was. */
export type Seals = z.infer<typeof Seals>;

export const NOT_SEALED: Seals = { files: {}, seen: {}, criteria: 0, tests: null };

/** As the journal holds it. */
export function sealedIn(value: Json | undefined): Seals {
  return Seals.catch(NOT_SEALED).parse(value);
}

export function firstSealed(spec: PipelineSpec, workspace: string): Seals {
  const gates = spec.states.map(({ command }) => command);
  const judges = [...scriptsIn(workspace, ...gates), ...runnerBehind(spec.states[0], workspace)];
  const files = seals(judges, workspace, "the run began");
  return withSeen(spec, workspace, { ...NOT_SEALED, files, criteria: criteriaOf(spec, workspace) });
}

/** Says what is not as it was, or undefined. */
export function whatWasChanged(spec: PipelineSpec, workspace: string, sealed: Seals): string | undefined {
  const { files, criteria, tests } = sealed;
  const changed = Object.entries(files).find(([file, { print }]) => printOf(workspace, file) !== print);
  if (changed !== undefined)
    return `${changed[0]} was changed since ${changed[1].since}: put it back as it was`;
  const [added] = addedFiles(workspace, sealed);
  if (added !== undefined)
    return `${added} was added since ${tests}, and decides which tests run: take it away`;
  const now = criteriaOf(spec, workspace);
  if (now >= criteria) return undefined;
  return `${spec.specFile} had ${criteria} success criteria, and ${now} are left: drop none of them`;
}

/** What decides over sealed tests and was not there when they were sealed. */
function addedFiles(workspace: string, { files, tests }: Seals): string[] {
  if (tests === null) return [];
  return decidingFiles(workspace, Object.keys(files)).filter((file) => {
    if (files[file] !== undefined || printOf(workspace, file) === NOTHING) return false;
    // Packages of a workspace have their own.
    const manifest = file.replace(/\/node_modules$/, "/package.json");
    return manifest === file || files[manifest] === undefined;
  });
}

/** What has passed its own gate must stay as good: an agent could empty a test or a criterion. Says what is wrong, or undefined. */
export async function whatWasWeakened(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  beforeFile: string,
): Promise<string | undefined> {
  const { specFile, prpFile, states } = spec;
  const earlier = states.slice(0, states.indexOf(state));
  const prpGate = earlier.find(({ command }) => PRP_GATE.test(command));
  const testsGate = earlier.find(({ command }) => TESTS_GATE.test(command));
  const text = textAt(resolve(workspace, prpFile));
  if (prpGate !== undefined) {
    const wanted = textAt(resolve(workspace, specFile));
    const of = wanted === undefined ? undefined : { file: specFile, text: wanted };
    const wrong = text === undefined ? "it is gone" : firstError(checkPrp(prpFile, text, of));
    if (wrong !== undefined) return `the PRP is weaker than ${prpGate.name} has seen it: ${wrong}`;
  }
  if (testsGate === undefined || text === undefined) return undefined;
  const before = readBefore(beforeFile, asksForWork(spec, testsGate));
  const about = { workspace, file: prpFile, text, tests: testsOf(testsGate), before };
  const wrong = firstError(await checkTests(about));
  return wrong && `the tests are weaker than ${testsGate.name} has seen them: ${wrong}`;
}

function firstError(findings: GateFinding[]): string | undefined {
  const [error] = errorsIn(findings);
  return error && `${error.file}:${error.line}: ${error.message}`;
}

/** Fingerprints of files by name. */
type Prints = Record<string, string>;

/** Files before a gate runs what agents have written. */
export function printsBefore(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  sealed: Seals,
): Prints {
  const runsTests = state.runsTests === true || isAboutTests(state.command, workspace);
  return printsOf(workspace, [
    ...Object.keys(sealed.files),
    ...filesBehind(spec, workspace, state),
    ...(runsTests ? testParts(workspace, undefined) : []),
    spec.specFile,
  ]);
}

/** Says what has changed between the two, or undefined. */
export function whatMoved(before: Prints, after: Prints): string | undefined {
  const isMoved = (file: string): boolean => (before[file] ?? NONE) !== (after[file] ?? NONE);
  const moved = Object.keys({ ...before, ...after }).find(isMoved);
  return moved && `${moved} was changed while the gate ran: nothing that a gate runs may change it`;
}

/** What a gate has judged is sealed when it passes. */
export function sealedAfter(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  before: Seals,
  isPassed: boolean,
): Seals {
  if (!isPassed) return withSeen(spec, workspace, before);
  const files = { ...before.files, ...seals(filesBehind(spec, workspace, state), workspace, state.name) };
  const tests = TESTS_GATE.test(state.command) ? state.name : before.tests;
  return withSeen(spec, workspace, { ...before, files, tests, criteria: criteriaOf(spec, workspace) });
}

/** What was changed after the stop was changed by hand, and counts as it is now. */
export function sealedByHand(spec: PipelineSpec, workspace: string, before: Seals): Seals {
  const { seen } = before;
  const isByHand = (file: string): boolean =>
    seen[file] !== undefined && seen[file] !== printOf(workspace, file);
  const files = { ...before.files };
  for (const [file, seal] of Object.entries(files))
    if (isByHand(file)) files[file] = { ...seal, print: printOf(workspace, file) };
  const added = addedFiles(workspace, before).filter((file) => seen[file] === undefined);
  const criteria = isByHand(spec.specFile) ? criteriaOf(spec, workspace) : before.criteria;
  return { ...before, files: { ...files, ...seals(added, workspace, "the run was resumed") }, criteria };
}

/** Whether the pipeline's file is as the run has last seen it. */
export function isPipelineAsSeen(project: string, { seen }: Seals): boolean {
  return PIPELINE_FILES.every((file) => !(file in seen) || seen[file] === printOf(project, file));
}

const SPEC_GATE = /\bralph gate validate\b/;
const PRP_GATE = /\bralph gate check (?!-)/;
const TESTS_GATE = /\bralph gate check-tests\b|\bvalidate-tests\.sh\b/;

/** The folder or file that a gate of tests looks at, if it is named. */
export function testsOf({ command }: PipelineState): string | undefined {
  return /(?:--tests[ =]|validate-tests\.sh )(\S+)/.exec(command)?.[1];
}

/** Whether agents were asked to write what the gate judges: what was there before the run does not count then. */
export function asksForWork({ states }: Pick<PipelineSpec, "states">, state: PipelineState): boolean {
  const index = states.findIndex(({ name }) => name === state.name);
  return states.slice(0, index + 1).some(({ agent }) => agent === "before");
}

function filesBehind(spec: PipelineSpec, workspace: string, state: PipelineState): string[] {
  const { command, onPass } = state;
  const next = spec.states.find(({ name }) => name === onPass);
  const runner = runnerBehind(next, workspace);
  if (TESTS_GATE.test(command)) return [...testParts(workspace, testsOf(state)), ...runner];
  if (SPEC_GATE.test(command)) return [spec.specFile, ...runner];
  return PRP_GATE.test(command) ? [spec.prpFile, ...runner] : runner;
}

/** An agent that works on such a state must not change what judges it. */
function runnerBehind(state: PipelineState | undefined, workspace: string): string[] {
  return state?.unknownRunner === true ? runnerFiles(workspace) : [];
}

function seals(files: string[], workspace: string, since: string): Seals["files"] {
  return Object.fromEntries(files.map((file) => [file, { print: printOf(workspace, file), since }]));
}

function withSeen(spec: PipelineSpec, workspace: string, sealed: Seals): Seals {
  const added = addedFiles(workspace, sealed);
  const names = [...Object.keys(sealed.files), ...added, spec.specFile, ...PIPELINE_FILES];
  return { ...sealed, seen: printsOf(workspace, names) };
}

function criteriaOf({ specFile }: PipelineSpec, workspace: string): number {
  return criteriaIn(textAt(resolve(workspace, specFile)) ?? "").length;
}

function printsOf(workspace: string, files: string[]): Prints {
  return Object.fromEntries(files.map((file) => [file, printOf(workspace, file)]));
}

/** The fingerprint of what is not there, and of a folder. */
const NONE = "none";
const FOLDER = "folder";
/** Of a file that does not decide anything. */
const NOTHING = hash("");

function printOf(workspace: string, file: string): string {
  const path = resolve(workspace, file);
  const text = textAt(path, Number.POSITIVE_INFINITY);
  if (text !== undefined) return hash(whatCounts(file, text));
  return file.endsWith("node_modules") && existsSync(path) ? FOLDER : NONE;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
