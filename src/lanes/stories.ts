import { RalphError } from "../errors.js";
import type { LoopEventBody } from "../events.js";
import { openStories } from "../recipes/stories/state.js";
import type { Story } from "../recipes/stories/tasks.js";
import { laneOf } from "../records/lanes.js";
import type { Lane, RunState } from "../records/run-state.js";
import { git } from "../workspace/git.js";
import { commitOf, overlapOf, saidBy } from "../workspace/landing/merge.js";
import type { LaneStart, LaneStream, LaneWork } from "./lanes.js";
import { changesBetween, filesBetween, listFor, refresh, type Stories, type StoriesSetup } from "./list.js";
import { finishLanding, landNext, prepareReturned, recordsOf } from "./queue.js";

/** One lane for each story, and a queue that lands what they have finished, one after the other. */
export function storiesWork(setup: StoriesSetup, state: RunState): LaneWork {
  const stories = listFor(setup, state);
  const { repository, base, spec } = setup;
  return {
    async *prepare() {
      const { target } = stories;
      if ((await commitOf(repository, target)) === undefined) {
        const { ok, stderr } = await git(repository, ["update-ref", target, base, ""]);
        if (!ok)
          throw new RalphError(`cannot create the branch ${stories.branch}: ${saidBy(stderr)}`, {
            code: "branch_failed",
          });
      }
      await refresh(stories);
      for (const lane of Object.keys(state.lanes ?? {}))
        for await (const event of finishLanding(stories, lane)) yield [lane, event];
    },
    ready: () => ready(stories),
    begin: (lane) => prepareReturned(stories, lane),
    looked: (lane) => looked(stories, lane),
    succeeded: (lane) => landNext(stories, lane),
    isDone: () => stories.tasks !== undefined && openStories(stories.tasks, spec).length === 0,
    ending: () => ending(stories),
  };
}

/** Stories begin, the first one by priority first, when all that they depend on has landed. */
function ready(stories: Stories): ReturnType<LaneWork["ready"]> {
  const { tasks, spec, names, state, waits, tip } = stories;
  const open = tasks === undefined ? [] : openStories(tasks, spec);
  const isOpen = (id: string): boolean => open.some((story) => story.id === id);
  const free = open.filter(({ dependsOn = [] }) => !dependsOn.some(isOpen));
  const starts: LaneStart[] = [];
  const waiting: [string, LoopEventBody][] = [];
  for (const story of free.sort((a, b) => a.priority - b.priority)) {
    const lane = names.get(story.id) as string;
    const known = state.lanes?.[lane];
    const wait = known?.branch === undefined ? overlapOfText(stories, story) : undefined;
    if (wait === undefined) {
      const { title, id } = story;
      starts.push({ lane, title, story: id, ...stories.placeOf(lane), base: known?.base ?? tip });
    } else if (waits.get(lane) !== wait.for) waiting.push([lane, { type: "lane.waiting", ...wait }]);
    if (wait !== undefined) waits.set(lane, wait.for);
  }
  return { starts, waiting };
}

/** A story whose text names a file that a lane at work has changed would most likely conflict with it. */
function overlapOfText(stories: Stories, { title, acceptanceCriteria, description = "" }: Story) {
  const text = [title, description, ...acceptanceCriteria].join("\n");
  for (const lane of lanesAtWork(stories)) {
    const file = stories.heads.get(lane)?.files.find((name) => namesFile(text, name));
    if (file !== undefined) return { for: lane, file };
  }
  return undefined;
}

/** Lanes that have committed something which has not landed yet, and may. */
function lanesAtWork({ state, heads }: Stories): string[] {
  const isAtWork = ({ blocked, state: loop }: Lane): boolean =>
    blocked === undefined && (loop.status !== "finished" || loop.success);
  return [...heads.keys()].filter((lane) => isAtWork(laneOf(state, lane)));
}

/** Looks where the work of a lane and that of the others would conflict. */
async function* looked(stories: Stories, lane: string): LaneStream<void> {
  const { repository, heads, own, base } = stories;
  const { branch, base: since = base, overlaps = {} } = laneOf(stories.state, lane);
  const head = await commitOf(repository, `refs/heads/${branch}`);
  if (head === undefined || head === heads.get(lane)?.head) return;
  const isWork = (file: string): boolean => !Object.values(own).includes(file);
  heads.set(lane, { head, files: (await filesBetween(repository, since, head)).filter(isWork) });
  for (const other of lanesAtWork(stories).filter((one) => one !== lane)) {
    const { head: theirs = head, files: changed = [] } = heads.get(other) ?? {};
    const mayMeet = heads.get(lane)?.files.some((file) => changed.includes(file));
    const files = mayMeet ? (await overlapOf(repository, head, theirs)).filter(isWork) : [];
    if (files.join() !== (overlaps[other] ?? []).join()) yield { type: "lane.overlaps", with: other, files };
  }
}

async function ending(stories: Stories): ReturnType<LaneWork["ending"]> {
  const { repository, tasks, spec, base, tip, branch } = stories;
  const left = tasks === undefined ? 0 : openStories(tasks, spec).length;
  await stories.removeQueue();
  const files = await changesBetween(repository, base, tip);
  const all = tasks?.userStories.length ?? 0;
  // The last one that has landed was verified with all of the others.
  const last = Object.entries(stories.state.lanes ?? {}).find(([, { landed }]) => landed?.new === tip);
  return {
    ...(last && { proof: recordsOf(stories, last[0]) }),
    ...{ reason: "completed", branch, worktree: null, filesChanged: files.length, files },
    missing: `${all - left} of ${all} stories have landed on ${branch}`,
  };
}

/** Whether a text names the file, as a word of its own. */
export function namesFile(text: string, file: string): boolean {
  const quoted = file.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?:^|[^\\w./-])${quoted}(?![\\w/-]|\\.\\w)`).test(text);
}
