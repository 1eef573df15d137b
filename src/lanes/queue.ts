import { join } from "node:path";
import type { LandingCheck, LoopEventBody } from "../events.js";
import { openStories } from "../recipes/stories/state.js";
import { readTasks, type Story } from "../recipes/stories/tasks.js";
import { writeAlone } from "../records/files.js";
import { laneOf } from "../records/lanes.js";
import type { Lane } from "../records/run-state.js";
import { asPassed, asProof, factsOf, type LandingResult, land } from "../workspace/landing/land.js";
import {
  commitOf,
  isPartOf,
  landingMessage,
  type MergedFiles,
  mergeBase,
  type Sides,
} from "../workspace/landing/merge.js";
import { unfinished } from "../workspace/start.js";
import type { LaneStream } from "./lanes.js";
import { filesBetween, refresh, type Stories, storyIn, textsIn } from "./list.js";
import {
  MOST_TRIES,
  mergedProgress,
  mergedTasks,
  mergeIntoLane,
  type Returned,
  reopened,
  takeOver,
  textFor,
  whyReturned,
} from "./returned.js";
import { told } from "./streams.js";

type Next = LaneStream<"again" | undefined>;
type QueueMove = NonNullable<Lane["landing"]>;
type Refusal = Exclude<LandingResult, { kind: "landed" | "nothing" | "interrupted" }>;

const PAUSE_MS = 200;

/** Lands the work of a lane when it is its turn. "again": its agent has to look at it once more. */
export async function* landNext(stories: Stories, lane: string): Next {
  const { turn, signals, clock, isPaused } = stories;
  const place = await turn.take();
  try {
    while (isPaused() && !signals.stop.aborted) await clock.sleep(PAUSE_MS, signals.stop);
    return signals.stop.aborted ? undefined : yield* landLane(stories, lane);
  } finally {
    turn.give(place);
  }
}

async function* landLane(stories: Stories, lane: string): Next {
  const { repository, state } = stories;
  const { branch } = laneOf(state, lane);
  const tip = await commitOf(repository, `refs/heads/${branch}`);
  const fails = (said: string) => refused(stories, lane, { kind: "failed", said }, tip ?? "");
  if (tip === undefined) return yield* fails(`its branch ${branch} is gone`);
  const { tasks } = readTasks((await textsIn(stories, tip))[stories.own.tasks]);
  const { id } = storyIn(stories, lane);
  if (tasks === undefined || openStories(tasks, { ...stories.spec, only: id }).length > 0)
    return yield* fails(`${branch} does not hold ${id} as done`);
  const prover = stories.prover(lane, numberOf(stories, lane));
  const result = yield* told<LoopEventBody, LandingResult>((tell) =>
    tryLanding(stories, lane, { tip, prover, tell }),
  );
  switch (result.kind) {
    case "landed":
      stories.texts.set(result.new, Promise.resolve(stories.merged));
      return yield* landed(stories, lane, result, result.checks.map(asProof), prover.proof(result.new));
    case "nothing":
      return yield* landed(stories, lane, { old: result.old, new: result.old, tip }, []);
    case "interrupted":
      return undefined;
    default:
      return yield* refused(stories, lane, result, tip);
  }
}

/** Which landing of the lane it is, from 1 on. */
function numberOf({ state }: Stories, lane: string): number {
  return (laneOf(state, lane).returned?.try ?? 0) + 1;
}

/** Folder of the records of the lane's latest landing. */
export function recordsOf(stories: Stories, lane: string): string {
  return join(stories.folderOf(lane), `landing-${numberOf(stories, lane)}`);
}

interface Try {
  tip: string;
  prover: ReturnType<Stories["prover"]>;
  tell(event: LoopEventBody): Promise<void>;
}

function tryLanding(stories: Stories, lane: string, { tip, prover, tell }: Try): Promise<LandingResult> {
  const { repository, target, branch: into, queue: worktree, run, state, signals } = stories;
  const { id, title } = storyIn(stories, lane);
  const earlier = Object.entries(state.lanes ?? {}).flatMap(([name, { landed }]) =>
    landed === undefined ? [] : [{ name: storyIn(stories, name).id, ...landed }],
  );
  return land({
    ...{ repository, target, tip, worktree, earlier, signal: signals.kill, since: laneOf(state, lane).base },
    message: landingMessage(`${id}: ${title}`, run),
    merged: async (sides) => {
      stories.merged = await merged(stories, lane, sides);
      return stories.merged;
    },
    ...prover,
    started: (move) =>
      tell({ type: "landing.started", into, stories: [id], ...move, checks: stories.checks }),
  });
}

/** What becomes of the files of the stories: they never conflict. */
async function merged(stories: Stories, lane: string, { base, target, tip }: Sides): Promise<MergedFiles> {
  const { tasks, progress } = stories.own;
  const sides = await Promise.all([base, target, tip].map((commit) => textsIn(stories, commit)));
  const [, theirs = "", ours = ""] = sides.map((texts) => texts[tasks]);
  const [begun = "", before = "", after = ""] = sides.map((texts) => texts[progress]);
  return {
    [tasks]: mergedTasks(theirs, ours, storyIn(stories, lane).id),
    [progress]: mergedProgress(begun, before, after),
  };
}

async function* landed(
  stories: Stories,
  lane: string,
  { old, new: commit, tip }: QueueMove,
  checks: LandingCheck[],
  proof: Partial<ReturnType<Try["prover"]["proof"]>> = {},
): LaneStream<undefined> {
  const { branch: into } = stories;
  const ids = [storyIn(stories, lane).id];
  const move = { into, old, new: commit, tip, stories: ids, checks, ...proof };
  yield { type: "landing.landed", ...move, ...(stories.checks.length === 0 && { unverified: true }) };
  await refresh(stories);
  // What waited for it begins with it: only now.
  stories.heads.delete(lane);
  yield* cleaned(stories, lane);
  return undefined;
}

/** What a crash cut off: the branch had moved and nobody had written that down, or the lane was not cleared up. */
export async function* finishLanding(stories: Stories, lane: string): LaneStream<void> {
  const { landed: isLanded, landing } = laneOf(stories.state, lane);
  if (isLanded !== undefined) yield* cleaned(stories, lane);
  else if (landing !== undefined && (await isPartOf(stories.repository, landing.new, stories.target)))
    yield* landed(
      stories,
      lane,
      landing,
      (landing.checks ?? []).map(asPassed),
      stories.prover(lane, numberOf(stories, lane)).proof(landing.new),
    );
}

/** Takes away what the lane worked in: all of it has landed. */
async function* cleaned({ state, remove }: Stories, lane: string): LaneStream<void> {
  const { worktree, branch = "", slot = 0 } = laneOf(state, lane);
  if (worktree === undefined) return;
  await remove({ worktree, branch }, slot);
  yield { type: "landing.cleaned", worktree, branch };
}

/** The agent of the lane gets another chance, or two; then a person has to look. */
async function* refused(stories: Stories, lane: string, result: Refusal, tip: string): Next {
  const { branch, state, run } = stories;
  const known = laneOf(state, lane);
  const story = storyIn(stories, lane);
  const { kind: reason } = result;
  const isAgents = forAgent(result);
  const message = isAgents ? whyReturned(result) : whyNot(result, branch);
  const files = "files" in result ? result.files : [];
  const about = { into: branch, tip, stories: [story.id], reason, message };
  yield { type: "landing.refused", ...about, ...factsOf(result) };
  const number = (known.returned?.try ?? 0) + 1;
  if (!isAgents || number > MOST_TRIES) {
    const how = takeOver(known, branch, state.name ?? run, isAgents ? result : undefined);
    yield { type: "lane.blocked", message: isAgents ? `${message} (${how})` : message };
    return undefined;
  }
  const text = textFor(result, branch, story, await landedIn(stories, known, files));
  writeAlone(join(stories.folderOf(lane), "returned.md"), text, 0o600);
  yield { type: "lane.returned", try: number, reason, message, target: stories.tip, tip };
  return "again";
}

function forAgent(result: Refusal): result is Returned {
  return result.kind === "conflict" || result.kind === "red" || result.kind === "lost";
}

/** Stories that have landed since the lane began, and have changed one of the files. */
async function landedIn(stories: Stories, { base = stories.base }: Lane, files: string[]): Promise<Story[]> {
  const { repository, state } = stories;
  const found: Story[] = [];
  for (const [name, { landed }] of Object.entries(state.lanes ?? {})) {
    if (landed === undefined || (await isPartOf(repository, landed.new, base))) continue;
    const changed = await filesBetween(repository, landed.old, landed.new);
    if (files.length === 0 || changed.some((file) => files.includes(file)))
      found.push(storyIn(stories, name));
  }
  return found;
}

/** Merges what has landed into a lane that got its work back, unless its agent has begun with that. */
export async function prepareReturned(stories: Stories, lane: string): Promise<void> {
  const { returned, worktree = "", state: loop } = laneOf(stories.state, lane);
  if (returned === undefined) return;
  const { repository, own } = stories;
  const { target } = returned;
  const hasBegun = (loop.iteration?.iteration ?? 0) > returned.at;
  // In a worktree that was made anew, the merge is not there any more.
  if (hasBegun && ((await isPartOf(worktree, target, "HEAD")) || (await unfinished(worktree)))) return;
  const tip = (await commitOf(worktree, "HEAD")) ?? target;
  const base = (await mergeBase(repository, target, tip)) ?? target;
  const texts = await merged(stories, lane, { base, target, tip });
  const tasks = reopened(texts[own.tasks] ?? "", storyIn(stories, lane).id);
  await mergeIntoLane(worktree, target, { ...texts, [own.tasks]: tasks });
}

/** Why nothing that an agent does would land it. */
function whyNot(result: Exclude<Refusal, Returned>, branch: string): string {
  if (result.kind === "flaky")
    return `flaky: ${result.first.command} gave different results on the same files`;
  return result.kind === "moved" ? `${branch} somebody else moved it, ${result.tries} times` : result.said;
}
