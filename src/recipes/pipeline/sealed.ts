import { createHash } from "node:crypto";
import type { Json } from "../../events.js";
import { criteriaIn } from "../../gates/stress-test.js";
import { PIPELINE_FILE } from "../../pipeline/load-pipeline.js";
import type { PipelineSpec } from "./pipeline.js";
import type { PipelineState } from "./pipeline-state.js";
import { gateScripts, runnerFiles, testParts, whatCounts } from "./sealed-files.js";
import { PRP_GATE, TESTS_GATE, testsOf, textOf } from "./weakened.js";

/** What has passed its gate, and what judges it: agents must leave it as it was. */
export interface Sealed {
  /** Files with their fingerprints, and the state that has seen them. */
  files: Record<string, Seal>;
  /** The same files as the last gate has left them, and the pipeline's own. */
  seen: Record<string, string>;
  /** Criteria of the spec: none of them may get lost. */
  criteria: number;
}

type Seal = { print: string; since: string };

export const NOT_SEALED: Sealed = { files: {}, seen: {}, criteria: 0 };

const SPEC_GATE = /\bralph gate validate\b/;

export function firstSealed(spec: PipelineSpec, workspace: string): Sealed {
  const judges = [...gateScripts(spec.states, workspace), ...runnerBehind(spec.states[0], workspace)];
  const files = seals(judges, workspace, "the run began");
  return looked(spec, workspace, { ...NOT_SEALED, files, criteria: criteriaOf(spec, workspace) });
}

/** Says what is not as it was, or undefined. */
export function whatWasChanged(
  spec: PipelineSpec,
  workspace: string,
  { files, criteria }: Sealed,
): string | undefined {
  const changed = Object.entries(files).find(([file, { print }]) => printOf(workspace, file) !== print);
  if (changed !== undefined)
    return `${changed[0]} was changed since ${changed[1].since}: put it back as it was`;
  const now = criteriaOf(spec, workspace);
  if (now >= criteria) return undefined;
  return `${spec.specFile} had ${criteria} success criteria, and ${now} are left: drop none of them`;
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
  return looked(spec, workspace, { ...before, files, criteria: criteriaOf(spec, workspace) });
}

/** What was changed after the stop was changed by hand, and counts as it is now. */
export function sealedByHand(spec: PipelineSpec, workspace: string, before: Sealed): Sealed {
  const { seen } = before;
  const isByHand = (file: string): boolean =>
    seen[file] !== undefined && seen[file] !== printOf(workspace, file);
  const files = Object.entries(before.files).map(([file, seal]) =>
    isByHand(file) ? [file, { ...seal, print: printOf(workspace, file) }] : [file, seal],
  );
  const criteria = isByHand(spec.specFile) ? criteriaOf(spec, workspace) : before.criteria;
  return { ...before, files: Object.fromEntries(files), criteria };
}

/** Whether the pipeline's file is as the run has last seen it. */
export function isPipelineAsSeen(project: string, { seen }: Sealed): boolean {
  return seen[PIPELINE_FILE] === printOf(project, PIPELINE_FILE);
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
  const names = [...Object.keys(sealed.files), spec.specFile, PIPELINE_FILE];
  return { ...sealed, seen: Object.fromEntries(names.map((file) => [file, printOf(workspace, file)])) };
}

function criteriaOf({ specFile }: PipelineSpec, workspace: string): number {
  return criteriaIn(textOf(workspace, specFile) ?? "").length;
}

function printOf(workspace: string, file: string): string {
  const text = textOf(workspace, file);
  if (text === undefined) return "none";
  return createHash("sha256").update(whatCounts(file, text)).digest("hex").slice(0, 16);
}

/** It is read from the journal, so it is looked at before it is used. */
export function sealedIn(value: Json | undefined): Sealed {
  const { files, seen, criteria } = objectIn(value);
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
  };
}

function objectIn(value: Json | undefined): Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
