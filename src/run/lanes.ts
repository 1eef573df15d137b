import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { agentFor } from "../agents/index.js";
import { createHold } from "../ask/hold.js";
import type { LoopEvent } from "../events.js";
import { type LaneHost, type LaneStart, type LanesSetup, runLanes } from "../lanes/lanes.js";
import { ownFiles, type StoriesSetup } from "../lanes/list.js";
import { type RaceSetup, raceWork } from "../lanes/race.js";
import { takeOver, untilResolved } from "../lanes/returned.js";
import { storiesWork } from "../lanes/stories.js";
import { copyReceipt } from "../receipts/statement.js";
import type { StoriesSpec } from "../recipes/stories/run.js";
import { OWN_AGENT } from "../records/limited.js";
import type { RunState } from "../records/run-state.js";
import { iterationFolder, laneFolder } from "../records/runs.js";
import { pendingWords } from "../records/words.js";
import { checkNames } from "../verify/hidden.js";
import { textAt } from "../workspace/content.js";
import { repositoryRoot, withSettings } from "../workspace/git.js";
import { gitSettings } from "../workspace/git-programs.js";
import { removeOwnWorktree } from "../workspace/landing/checkout.js";
import { neededToCommit } from "../workspace/scm.js";
import { runTeardown } from "../workspace/worktree/create.js";
import { branchOf, LANES, locateWorktree } from "../workspace/worktree/worktree.js";
import { assemble, systemClock } from "./assemble.js";
import { proofOf, proverOf } from "./landing/checks.js";
import { makeReady, remove } from "./lane-worktree.js";
import type { Host, LanesSpec, RunContext, RunSpec } from "./spec.js";

/** Where the lanes of a run are. */
interface LaneSite {
  repository: string;
  /** The folder of their worktrees, and the one in which the queue makes its merges. */
  above: string;
  queue: string;
  /** The project, from the top of the repository on. */
  inside: string;
}

/** Builds the loops of a run with several lanes, with the real world as their effects. */
export async function assembleLanes(state: RunState, given: RunContext) {
  const { settings, warnings } = await neededToCommit(given.spec.workspace, given.host.signals.stop);
  for (const text of warnings) tell(`warning: ${text}`);
  const context = { ...given, env: withSettings(given.env, settings) };
  const { spec, host, folder, env, variables } = context;
  const { id, name, workspace: repository, limits, agent, keepBackground } = spec;
  const lanes = spec.lanes as LanesSpec;
  const { path: above } = await locateWorktree(repository, `${id}${LANES}`);
  const { path: queue } = await locateWorktree(repository, `${id}-queue`);
  const inside = relative(repositoryRoot(repository) ?? repository, repository);
  const site: LaneSite = { repository, above, queue, inside };
  const isPaused = (): boolean => existsSync(folder.pause);
  const ends = new Map<string, AbortController>();
  const endFor = (lane: string): AbortController => {
    const end = ends.get(lane) ?? new AbortController();
    ends.set(lane, end);
    return end;
  };
  const { credentials: names } = await agentFor(agent.words[0] ?? "");
  const visible = { ...env, ...variables[OWN_AGENT] };
  const options = {
    ...(name !== undefined && { name }),
    ...{ limits, workspace: repository, agent: agent.name },
    credentials: names.find((one) => visible[one]) ?? null,
    ...(keepBackground && { background: "keep" as const }),
  };
  const atEnds: (() => void)[] = [];
  const shared: Shared = { hold: createHold(), atEnd: (action) => void atEnds.push(action) };
  const folderOf = (lane: string): string => laneFolder(folder, lane).path;
  const racing = (race: RaceLanes) => ({
    ...raceIn(spec, site, race),
    folderOf,
    endOthers: (lane: string) => endOthers(endFor, race, lane),
  });
  const work =
    lanes.kind === "race"
      ? raceWork(racing(lanes), state)
      : storiesWork(await storiesIn(context, site, shared, { slot: lanes.parallel, isPaused }), state);
  const events = runLanes(
    {
      ...{ recipe: spec.recipe.kind, options, parallel: lanes.parallel, work, clock: systemClock, isPaused },
      ...{ signals: host.signals, limits: host.limits, ended: (lane) => endFor(lane).signal },
      open: laneOpener(context, state, site, lanes, shared),
      prove: (from) => {
        const receipt = from && copyReceipt(from, folder.path);
        return receipt ? { receipt } : { unproven: "there is no receipt: its lane has none" };
      },
    },
    state,
  );
  return {
    events,
    around: (event: LoopEvent): Iterable<LoopEvent> => [event],
    async close(): Promise<void> {
      await events.return(undefined as never);
      for (const action of atEnds) action();
    },
  };
}

function endOthers(endFor: (lane: string) => AbortController, lanes: RaceLanes, winner: string): void {
  for (const { name } of lanes.lanes) if (name !== winner) endFor(name).abort();
}

type RaceLanes = LanesSpec & { kind: "race" };

function placeIn({ above }: LaneSite, lane: string): Pick<LaneStart, "worktree" | "branch"> {
  const worktree = join(above, lane);
  return { worktree, branch: branchOf(worktree) };
}

/** What the lanes have in common. */
type Shared = Pick<NonNullable<RunContext["lane"]>, "hold" | "atEnd">;

function raceIn(
  { base = "" }: RunSpec,
  site: LaneSite,
  { lanes, all }: RaceLanes,
): Omit<RaceSetup, "endOthers" | "folderOf"> {
  const starts = lanes.map(({ name }) => ({ lane: name, ...placeIn(site, name), base }));
  return { repository: site.repository, base, lanes: starts, all };
}

async function storiesIn(
  context: RunContext,
  site: LaneSite,
  shared: Shared,
  { slot, isPaused }: { slot: number; isPaused: () => boolean },
): Promise<StoriesSetup> {
  const { spec, host, folder, settings, env, redact, hidden = [] } = context;
  const { repository, queue } = site;
  // As they were at the start of the run, without what agents have added since.
  const checks = await proofOf(spec);
  const { teardown: command } = settings;
  return {
    ...{ run: spec.id, repository, base: spec.base as string, spec: spec.recipe as StoriesSpec, queue },
    ...{ signals: host.signals, clock: systemClock, isPaused, checks: checkNames(checks, hidden) },
    placeOf: (lane) => placeIn(site, lane),
    folderOf: (lane) => laneFolder(folder, lane).path,
    prover: (lane, number) => {
      const { path, hidden: logs } = laneFolder(folder, lane);
      const [records, hiddenLogs] = [path, logs].map((one) => join(one, `landing-${number}`)) as [
        string,
        string,
      ];
      return proverOf({
        ...{ spec, settings, checks, hidden, records, hiddenLogs, env, redact, slot, lanes: shared },
        ...{ signals: host.signals, tell: () => host.alive?.() },
      });
    },
    async remove({ worktree, branch }, slot) {
      await runTeardown(join(worktree, site.inside), { command, slot, tell });
      await remove(repository, worktree, branch);
    },
    async removeQueue() {
      await runTeardown(join(queue, site.inside), { command, slot, tell });
      await removeOwnWorktree(repository, queue);
    },
  };
}

const tell = (text: string) => void process.stderr.write(`ralph: ${text}\n`);

/** Prepares a lane, and assembles its loop like that of a run in a worktree. */
function laneOpener(
  context: RunContext,
  state: RunState,
  site: LaneSite,
  lanes: LanesSpec,
  shared: Shared,
): LanesSetup["open"] {
  const { host, folder, env, spec } = context;
  const asking = Object.entries(state.lanes ?? {}).find(([, { state: loop }]) => loop.question)?.[0];
  const rules = spec.recipe as StoriesSpec;
  const warned = new Set<string>();
  /** All lanes lack the same. */
  const warn = (text: string): void => {
    if (!warned.has(text)) tell(`warning: ${text}`);
    warned.add(text);
  };
  return async (start, lane, { slot, signals, limits, begin }: LaneHost) => {
    const { worktree, base } = start;
    const records = laneFolder(folder, start.lane);
    const copied = await makeReady(context, start, { records: records.path, slot, stop: signals.stop, warn });
    await begin();
    const { spec: own, variables, limited } = ofLane(context, start, lanes);
    const returned = {
      ...{ path: worktree, story: start.story ?? "", own: ownFiles(site.repository, rules.dir ?? "") },
      ...{ rules, text: textAt(join(records.path, "returned.md")) ?? "" },
      takeOver: takeOver(lane, `ralph/${spec.id}`, state.name ?? spec.id),
    };
    const at = { workspace: join(worktree, site.inside), worktree, origin: site.repository };
    return assemble(lane.state, {
      ...{ ...context, variables, folder: records, gitSettings: await gitSettings(at.workspace) },
      // Several agents cannot share a terminal.
      host: { ...host, signals, limits, limited, terminal: undefined },
      spec: { ...own, ...at, base, copied, lanes: undefined },
      folderFor: (iteration) => iterationFolder(records, iteration),
      env: { ...env, RALPH_SLOT: String(slot) },
      lane: {
        ...shared,
        around: (recipe) => untilResolved(recipe, lane, returned),
        // An answer goes to the lane that asked.
        steering: () => (asking === undefined || asking === start.lane ? pendingWords(folder) : undefined),
      },
    });
  };
}

/** What the loop in a lane works on, and which agent it calls. */
function ofLane(
  { spec, variables, host: { limited } }: RunContext,
  { lane, story }: LaneStart,
  lanes: LanesSpec,
): Pick<RunContext, "spec" | "variables"> & Pick<Host, "limited"> {
  if (lanes.kind === "stories") {
    const recipe = { ...(spec.recipe as StoriesSpec), only: story, dirty: [] };
    return { spec: { ...spec, recipe }, variables, limited };
  }
  const { role } = lanes.lanes.find(({ name }) => name === lane) ?? { role: OWN_AGENT };
  const others = Object.entries(spec.agents ?? {}).filter(
    ([one]) => !lanes.lanes.some(({ role }) => role === one),
  );
  const agent = spec.agents?.[role] ?? spec.agent;
  return {
    spec: { ...spec, agent, agents: Object.fromEntries(others) },
    variables: { ...variables, [OWN_AGENT]: variables[role] ?? {} },
    limited:
      limited &&
      (() => {
        const { [role]: known, [OWN_AGENT]: _, ...others } = limited();
        return known === undefined ? others : { ...others, [OWN_AGENT]: known };
      }),
  };
}
