import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Json } from "../../events.js";
import { isAboutTests } from "../../workspace/runner.js";
import { criteriaIn } from "./gates/stress-test.js";
import { decidingFiles, gateScripts, runnerFiles, testParts } from "./sealed-files.js";
import type { PipelineState } from "./spec.js";
import { PIPELINE_FILES, type PipelineSpec } from "./spec.js";
import { PRP_GATE, TESTS_GATE, testsOf, textOf } from "./weakened.js";
import { whatCounts } from "./what-counts.js";

/** What has passed its gate, and what judges it: agents must leave it as it was. */
export interface Sealed {
  /** Files with their fingerprints, and the state that has seen them. */
  files: Record<string, Seal>;
  /** The same files as the last gate has left them, and the pipeline's own. */
  seen: Record<string, string>;
  /** Criteria of the spec: none of them may get lost. */
  criteria: number;
  /** The state that has seen the tests: nothing that decides over them may be added since. */
  tests: string | null;
}

type Seal = { print: string; since: string };

export const NOT_SEALED: Sealed = { files: {}, seen: {}, criteria: 0, tests: null };

const SPEC_GATE = /\bralph gate validate\b/;

export function firstSealed(spec: PipelineSpec, workspace: string): Sealed {
  const judges = [...gateScripts(spec.states, workspace), ...runnerBehind(spec.states[0], workspace)];
  const files = seals(judges, workspace, "the run began");
  return looked(spec, workspace, { ...NOT_SEALED, files, criteria: criteriaOf(spec, workspace) });
}

/** Says what is not as it was, or undefined. */
export function whatWasChanged(spec: PipelineSpec, workspace: string, sealed: Sealed): string | undefined {
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
function addedFiles(workspace: string, { files, tests }: Sealed): string[] {
  if (tests === null) return [];
  return decidingFiles(workspace, Object.keys(files)).filter((file) => {
    if (files[file] !== undefined || printOf(workspace, file) === NOTHING) return false;
    // Packages of a workspace have their own.
    return (
      !file.endsWith("/node_modules") || files[file.replace(/node_modules$/, "package.json")] === undefined
    );
  });
}

/** Files with their fingerprints before a gate runs what agents have written. */
export type Look = Record<string, string>;

export function lookBefore(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  sealed: Sealed,
): Look {
  const runsTests = state.runsTests === true || isAboutTests(state.command, workspace);
  const names = [
    ...Object.keys(sealed.files),
    ...filesBehind(spec, workspace, state),
    ...(runsTests ? testParts(workspace, undefined) : []),
    spec.specFile,
  ];
  return Object.fromEntries(names.map((file) => [file, printOf(workspace, file)]));
}

/** Says what has changed since that look, or undefined. */
export function whatMoved(before: Look, after: Look): string | undefined {
  const moved = [...new Set([...Object.keys(before), ...Object.keys(after)])].find(
    (file) => (before[file] ?? NONE) !== (after[file] ?? NONE),
  );
  return moved && `${moved} was changed while the gate ran: nothing that a gate runs may change it`;
}

/** What a gate has looked at is sealed when it passes. */
export function sealedAfter(
  spec: PipelineSpec,
  workspace: string,
  state: PipelineState,
  before: Sealed,
  isPassed: boolean,
): Sealed {
  if (!isPassed) return looked(spec, workspace, before);
  const files = { ...before.files, ...seals(filesBehind(spec, workspace, state), workspace, state.name) };
  const tests = TESTS_GATE.test(state.command) ? state.name : before.tests;
  return looked(spec, workspace, { ...before, files, tests, criteria: criteriaOf(spec, workspace) });
}

/** What was changed after the stop was changed by hand, and counts as it is now. */
export function sealedByHand(spec: PipelineSpec, workspace: string, before: Sealed): Sealed {
  const { seen } = before;
  const isByHand = (file: string): boolean =>
    seen[file] !== undefined && seen[file] !== printOf(workspace, file);
  const files = Object.entries(before.files).map(([file, seal]) =>
    isByHand(file) ? [file, { ...seal, print: printOf(workspace, file) }] : [file, seal],
  );
  const added = addedFiles(workspace, before).filter((file) => seen[file] === undefined);
  const criteria = isByHand(spec.specFile) ? criteriaOf(spec, workspace) : before.criteria;
  return {
    ...before,
    files: { ...Object.fromEntries(files), ...seals(added, workspace, "the run was resumed") },
    criteria,
  };
}

/** Whether the pipeline's file is as the run has last seen it. */
export function isPipelineAsSeen(project: string, { seen }: Sealed): boolean {
  return PIPELINE_FILES.every((file) => !(file in seen) || seen[file] === printOf(project, file));
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

function seals(files: string[], workspace: string, since: string): Record<string, Seal> {
  return Object.fromEntries(files.map((file) => [file, { print: printOf(workspace, file), since }]));
}

function looked(spec: PipelineSpec, workspace: string, sealed: Sealed): Sealed {
  const names = [
    ...Object.keys(sealed.files),
    ...addedFiles(workspace, sealed),
    spec.specFile,
    ...PIPELINE_FILES,
  ];
  return { ...sealed, seen: Object.fromEntries(names.map((file) => [file, printOf(workspace, file)])) };
}

function criteriaOf({ specFile }: PipelineSpec, workspace: string): number {
  return criteriaIn(textOf(workspace, specFile) ?? "").length;
}

/** The fingerprint of what is not there, and of a folder. */
const NONE = "none";
const FOLDER = "folder";
/** Of a file that does not decide anything. */
const NOTHING = hash("");

function printOf(workspace: string, file: string): string {
  const text = textOf(workspace, file);
  if (text !== undefined) return hash(whatCounts(file, text));
  return file.endsWith("node_modules") && existsSync(resolve(workspace, file)) ? FOLDER : NONE;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** It is read from the journal, so it is looked at before it is used. */
export function sealedIn(value: Json | undefined): Sealed {
  const { files, seen, criteria, tests } = objectIn(value);
  const seal = ([file, found]: [string, Json]): [string, Seal][] => {
    const { print, since } = objectIn(found);
    return typeof print === "string" && typeof since === "string" ? [[file, { print, since }]] : [];
  };
  const text = ([file, print]: [string, Json]): [string, string][] =>
    typeof print === "string" ? [[file, print]] : [];
  return {
    files: Object.fromEntries(Object.entries(objectIn(files)).flatMap(seal)),
    seen: Object.fromEntries(Object.entries(objectIn(seen)).flatMap(text)),
    criteria: typeof criteria === "number" ? criteria : 0,
    tests: typeof tests === "string" ? tests : null,
  };
}

function objectIn(value: Json | undefined): Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
