import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { elapsed } from "../../elapsed.js";
import { orElse, RalphError } from "../../errors.js";
import type { LoopEventBody, ScmFinished } from "../../events.js";
import type { Answer, PlanContext, Recipe, Verdict, VerifyContext } from "../../loop/recipe.js";
import { writeAlone, writeFresh } from "../../records/files.js";
import { oneLine } from "../../verify/excerpt.js";
import { failureOf, likeness, likenessOf } from "../../verify/failure.js";
import { patchSince } from "../../workspace/changes.js";
import { textAt } from "../../workspace/content.js";
import { git } from "../../workspace/git.js";
import { trustNow } from "../../workspace/git-programs.js";
import { isOwnFolder, prepareRuntimeFolder, RUNTIME_FOLDER } from "../../workspace/runtime.js";
import { whyNotSigned } from "../../workspace/scm.js";
import { innerRefusal, stage } from "../../workspace/stage.js";
import { unfinished } from "../../workspace/start.js";
import { isAmong, uncommittedFiles } from "../../workspace/uncommitted.js";
import type { RecipeContext, RecipeRow } from "../row.js";
import { writeBefore } from "./gates/test-files.js";
import {
  asMemory,
  failed,
  firstPosition,
  heldUp,
  needsAgent,
  type PipelinePosition,
  passed,
  positionIn,
  resumed,
  stateText,
} from "./moves.js";
import { statePrompt } from "./prompt.js";
import { type GateContext, type GateRun, gatesBefore, runGate } from "./run-gate.js";
import { firstSealed, sealedAfter, sealedByHand, testsOf } from "./sealed.js";
import {
  BEFORE_FILE,
  COMPLETE,
  GUTTER,
  PIPELINE_FILES,
  type PipelineSpec,
  type PipelineState,
} from "./spec.js";

export const pipeline: RecipeRow<PipelineSpec> = {
  create: pipelineRecipe,
  checks: ({ states }) => states.map(({ command }) => command),
  // Other gates judge texts of before the implementation.
  proof: ({ states }) =>
    states
      .filter(({ runsTests }) => runsTests)
      .map(({ command, timeoutMs }) => ({ command, timeoutMs, failAction: "APPEND" as const })),
  commits: () => "agents",
  // A pipeline is the user's to change, and no agent's.
  protects: PIPELINE_FILES,
};

type PipelineContext = GateContext & Pick<RecipeContext, "base" | "hidden" | "newPrograms">;

/** Goes from state to state: the gate of each has to pass before the next one begins. */
export function pipelineRecipe(spec: PipelineSpec, context: PipelineContext): Recipe {
  const { workspace } = context;
  const max = spec.maxGateRetries;
  let position: PipelinePosition | undefined;

  return {
    name: "pipeline",
    verifies: true,

    async plan({ memory }: PlanContext) {
      const known = positionIn(memory);
      if (known === undefined) rememberBefore(spec, context);
      position = begun(spec, workspace, known);
      const state = stateOf(spec, position);
      writeStateFile(workspace, position);
      return {
        prompt: needsAgent(state, position) ? statePrompt(spec, workspace, state, position) : null,
        mode: state.name,
        retries: { count: position.retries, max },
        checks: [state.command],
      };
    },

    baseline(before: VerifyContext) {
      rememberBefore(spec, context);
      return gatesBefore(spec, context, before);
    },

    verify(answer: Answer, verify: VerifyContext) {
      if (position === undefined) throw new Error("an iteration is verified that was not planned");
      const state = stateOf(spec, position);
      return judged({ spec, context, state, before: position, verify }, answer);
    },
  };
}

interface PipelineTurn {
  spec: PipelineSpec;
  context: PipelineContext;
  state: PipelineState;
  before: PipelinePosition;
  verify: VerifyContext;
}

async function* judged(
  turn: PipelineTurn,
  { error, asked }: Answer,
): AsyncGenerator<LoopEventBody, Verdict | undefined> {
  const { spec, context, state, before, verify } = turn;
  const { maxGateRetries: max } = spec;
  const sealed = (isPassed: boolean) => sealedAfter(spec, context.workspace, state, before.sealed, isPassed);
  if (error !== null) {
    // An agent that failed has not made its try: the loop waits and asks the next one.
    const memory = asMemory({ ...before, sealed: sealed(false), error });
    return { passed: false, reason: error, claimedDone: false, memory };
  }
  const hasTests = before.tested.includes(state.command);
  const gate = yield* runGate({ spec, state, hasTests, sealed: before.sealed }, context, verify);
  if (gate === undefined) return undefined;
  const isNew = gate.hasTests && !hasTests;
  const known = isNew ? { ...before, tested: [...before.tested, state.command] } : before;
  const failure = failureOf({ check: state, event: gate.check });
  const failedNow = asked ? heldUp(known, failure) : failed(known, state, failure, max, new Date());
  const moved = gate.passed ? passed(known, state, new Date()) : failedNow;
  const after = { ...moved, sealed: sealed(gate.passed) };
  yield {
    ...{ type: "gate.finished", iteration: verify.iteration, state: state.name, passed: gate.passed },
    ...{ output: gate.line, retries: gate.passed ? before.retries : after.retries, maxRetries: max },
    ...(gate.warnings.length > 0 && { warnings: gate.warnings }),
  };
  if (!gate.passed) return yield* notPassed(turn, gate, after);
  const committed = await commitWork(turn);
  if (committed !== undefined) yield committed;
  if (committed?.passed !== false) {
    yield { type: "state.changed", iteration: verify.iteration, from: state.name, to: state.onPass };
    writeStateFile(context.workspace, after);
    const verdict = { passed: true, reason: "gate passed", claimedDone: false, memory: asMemory(after) };
    return state.onPass === COMPLETE ? { ...verdict, stop: "completed" } : verdict;
  }
  if (verify.kill.aborted) return undefined;
  // Work that git refuses to commit has not passed; the next prompt says why.
  const { message: output, exitCode } = committed;
  const line = `❌ the work could not be committed: ${oneLine(output, REFUSAL_CHARS)}`;
  const commit = { command: "git commit", how: `exit code ${exitCode}`, output };
  const refused = failed(known, state, commit, max, new Date());
  return yield* notPassed(turn, { ...gate, line, check: { ...gate.check, output } }, refused);
}

const REFUSAL_CHARS = 200;
const GIT_CHARS = 2000;

/** Commits what an agent has left uncommitted; what gates leave behind is not committed. undefined: there is nothing. */
async function commitWork(turn: PipelineTurn): Promise<ScmFinished | undefined> {
  const { state, before } = turn;
  const { dirty } = turn.spec;
  const { workspace, newPrograms } = turn.context;
  const { iteration, kill: stop } = turn.verify;
  if (!needsAgent(state, before) && !before.isMended) return undefined;
  const message = `${state.name}: gate passed`;
  const begun = elapsed();
  const finished = (exitCode: number | null, text: string): ScmFinished => {
    const durationMs = Math.round(elapsed() - begun);
    const result = { passed: exitCode === 0, exitCode, durationMs, message: text };
    return { type: "scm.finished", iteration, task: "commit", ...result };
  };
  const trust = await trustNow(newPrograms);
  const notNow = trust.refusal ?? (await unfinished(workspace));
  if (notNow !== undefined) return finished(1, notNow);
  // What was not committed before the run is the user's.
  const files = ((await uncommittedFiles(workspace)) ?? []).filter((file) => !isAmong(file, dirty));
  if (files.length === 0) return undefined;
  const paths = files.map((file) => `:(top,literal)${file}`);
  const added = await stage(workspace, paths, { stop });
  const inner = added.inner.filter((path) => !dirty.includes(`${path}/`));
  if (added.ok && inner.length > 0) return finished(1, innerRefusal(inner));
  const unsigned = await whyNotSigned(workspace, stop);
  if (unsigned !== undefined) return finished(1, unsigned);
  const commit = ["commit", "--quiet", "-m", message, "--", ...paths];
  const done = added.ok ? await git(workspace, commit, { stop, hooks: trust.hooks }) : added;
  const said = `${done.stdout}${done.stderr}`.trim().slice(-GIT_CHARS);
  return finished(done.exitCode, done.ok ? `${message}${trust.note}` : said);
}

/** Once more, or in the gutter: then a person has to look into it. */
async function* notPassed(
  turn: PipelineTurn,
  gate: GateRun,
  after: PipelinePosition,
): AsyncGenerator<LoopEventBody, Verdict> {
  const { context, verify } = turn;
  const { name } = turn.state;
  const verdict = { passed: false, claimedDone: false, memory: asMemory(after) };
  if (!after.inGutter) {
    writeStateFile(context.workspace, after);
    const failure = await likeness([name, gate.line, likenessOf(gate.check)]);
    return { ...verdict, reason: `gate failed: ${gate.line.replace(/^❌ /, "")}`, failure };
  }
  const saved = await saveGutter(turn, gate);
  yield { type: "state.changed", iteration: verify.iteration, from: name, to: GUTTER, saved };
  writeStateFile(context.workspace, after);
  return { ...verdict, reason: `max retries exhausted for state ${name}: ${gate.line}`, stop: "gutter" };
}

function begun(spec: PipelineSpec, workspace: string, before?: PipelinePosition): PipelinePosition {
  const now = new Date();
  if (before === undefined)
    return { ...firstPosition(spec.states, now), sealed: firstSealed(spec, workspace) };
  if (!before.inGutter) return before;
  return { ...resumed(before, now), sealed: sealedByHand(spec, workspace, before.sealed) };
}

/** Before the first agent works. A run that is resumed has it already. */
function rememberBefore({ states, prpFile }: PipelineSpec, { workspace, records }: PipelineContext): void {
  const path = join(records, BEFORE_FILE);
  if (!existsSync(path)) writeBefore(path, workspace, prpFile, states.map(testsOf));
}

function stateOf({ states }: PipelineSpec, { state }: PipelinePosition): PipelineState {
  const found = states.find(({ name }) => name === state);
  if (found !== undefined) return found;
  throw new RalphError(`the pipeline has no state ${state}`, { code: "pipeline_state_unknown" });
}

function writeStateFile(workspace: string, position: PipelinePosition): void {
  prepareRuntimeFolder(workspace);
  if (!isOwnFolder(workspace)) return;
  // An agent can have put a folder in its place; nothing depends on it.
  orElse(() => writeAlone(join(workspace, `${RUNTIME_FOLDER}/state.md`), stateText(position)), undefined);
}

/** Keeps what a person needs who has to look into it. Names what was written, from the workspace on. */
async function saveGutter(
  { context: { workspace, redact, base, hidden }, spec, state }: PipelineTurn,
  { check: { log, command, exitCode, signal }, line }: GateRun,
): Promise<string[]> {
  prepareRuntimeFolder(workspace);
  if (!isOwnFolder(workspace)) return [];
  const output = `${RUNTIME_FOLDER}/gutter-${state.name}.log`;
  const diff = `${RUNTIME_FOLDER}/gutter-diff.patch`;
  for (const file of [output, diff]) rmSync(join(workspace, file), { recursive: true, force: true });
  const silence = `$ ${command}\n${line}\nIt printed nothing (${signal ?? `exit code ${exitCode}`}).\n`;
  if (existsSync(log) && textAt(log)?.trim() !== "") copyFileSync(log, join(workspace, output));
  else writeFresh(join(workspace, output), redact(silence));
  const changes = await patchSince({ workspace, base, hidden: [...hidden, ...spec.dirty] });
  if (changes === undefined) return [output];
  writeFresh(join(workspace, diff), redact(changes));
  return [output, diff];
}
