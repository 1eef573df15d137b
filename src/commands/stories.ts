import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CheckFlags, checkTimeoutFrom, givenChecks, projectChecks } from "../recipes/checks.js";
import { readTextFile } from "../recipes/prompt.js";
import { addStory, importStories } from "../recipes/stories/add.js";
import { archiveStories } from "../recipes/stories/archive.js";
import {
  existingStories,
  type FolderFlags,
  isUntouched,
  PARTS,
  refuseAtWork,
  type StoriesFolder,
  storiesFolder,
  writeTemplates,
} from "../recipes/stories/folder.js";
import { readTurn, type StoriesAt, type StoriesSpec } from "../recipes/stories/run.js";
import { putBackUnverified, readyToStart, runsOf, spentOn, tasksIn } from "../recipes/stories/start.js";
import {
  boardOf,
  iterationsLeft,
  openStories,
  REVIEWER,
  type ReviewFlags,
  type ReviewRules,
  reviewRules,
  storyFiles,
} from "../recipes/stories/state.js";
import type { TaskList } from "../recipes/stories/tasks.js";
import { stopFindings } from "../recipes/stories/turn.js";
import { makeFolders, writeFresh } from "../records/files.js";
import { ralphHome } from "../records/home.js";
import { lockHolder } from "../records/lock.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { hasAnswer } from "../records/words.js";
import { programsBefore } from "../run/ground.js";
import { hiddenChecksOf } from "../run/hidden.js";
import { readSpec } from "../run/spec.js";
import { limitsFrom, limitsOf, STORIES_ITERATIONS, saysSomething } from "../settings/limits.js";
import { loadSettings } from "../settings/load.js";
import { boardLines, standingLines, standingOfLanes } from "../views/board.js";
import { plural } from "../views/figures.js";
import { harmless, harmlessLine } from "../views/harmless.js";
import { nextStep } from "../views/summary.js";
import { git } from "../workspace/git.js";
import { newPrograms } from "../workspace/git-programs.js";
import { type ParallelFlags, parallelFrom, storyLanes } from "./lanes.js";
import { failure, formatterFor, note, type PrintFlags, printAll, printAs, say, warn } from "./output.js";
import { type StartFlags, startRun } from "./start-run.js";

interface WriteFlags extends FolderFlags {
  force?: boolean;
}

/** `ralph stories init`: the folder of the stories, from the templates. */
export async function init({ name, force, ...flags }: WriteFlags & { name?: string }): Promise<number> {
  const folder = storiesFolder(flags);
  const { project, dir } = folder;
  const isFine =
    /^[A-Za-z0-9_][\w./-]*$/.test(name ?? "x") && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(name ?? "");
  const what = `--name ${JSON.stringify(name)}: expected a name that a branch can end with`;
  if (!isFine) throw failure("flag_invalid", what, "letters, digits, -, _, . and /, such as checkout-flow");
  refuseAtWork(folder);
  const files = storyFiles(dir);
  const isWritten = (part: (typeof PARTS)[number]): boolean =>
    existsSync(join(project, files[part])) && !isUntouched(folder, part);
  const mine = force ? [] : PARTS.filter(isWritten);
  const lost = mine.filter((part) => part !== "prompt");
  if (lost.length > 0) {
    const away = lost.includes("tasks") ? "; ralph stories archive moves them away first" : "";
    const names = lost.map((part) => files[part]).join(", ");
    throw failure("file_exists", `${names} already there`, `--force overwrites${away}`);
  }
  const written = writeTemplates(folder, { name, replace: PARTS.filter((part) => !mine.includes(part)) });
  // ralph moves no branch of the user's: a branch of that name is that of a worktree.
  const onBranch = name && ` (on the current branch; with --worktree ${name}: on ralph/${name})`;
  return say(`${created(written)}
Next steps:
  1. Write ${dir}/prd.md, and add stories: ralph stories add "TITLE" --criteria "TEXT";
     or let an agent ask you: ralph stories plan
  2. Commit them: git add -A && git commit -m "Plan"
  3. Check them: ralph stories verify
  4. Start the agent: ralph stories run${onBranch ?? ""}`);
}

function created(files: string[]): string {
  return files.map((file) => `created ${file}\n`).join("");
}

/** `ralph stories add TITLE`: one more story at the end of the list. */
export async function add(title: string, { criteria = [], ...flags }: FolderFlags & { criteria?: string[] }) {
  const folder = storiesFolder(flags);
  saysSomething("TITLE", title);
  for (const text of criteria) saysSomething("--criteria", text);
  refuseAtWork(folder);
  const written = writeTemplates(folder);
  const id = addStory(folder, title.trim(), criteria.length === 0 ? [title.trim()] : criteria);
  const only =
    criteria.length === 0 ? "\nIts title is its only criterion; --criteria TEXT gives others." : "";
  return say(`${created(written)}Added ${id} to ${storyFiles(folder.dir).tasks}${only}
Next: add more, or git add -A && git commit -m "Plan", then ralph stories run`);
}

interface ImportFlags {
  github?: boolean;
  label?: string;
  milestone?: string;
  trustAuthor?: boolean;
}

/** `ralph stories import FILE`: the stories of a prd.json that knows no reviews, or of a Markdown checklist. */
export async function importFile(
  file: string | undefined,
  { force, github, label, milestone, trustAuthor, ...flags }: WriteFlags & ImportFlags,
): Promise<number> {
  const folder = storiesFolder(flags);
  const { project, dir } = folder;
  const name = storyFiles(dir).tasks;
  if ((file === undefined) !== (github === true))
    throw failure("flag_invalid", "give either FILE or --github", "ralph stories import TODO.md");
  if (file !== undefined && (label ?? milestone ?? trustAuthor) !== undefined)
    throw failure("flag_invalid", "--label, --milestone and --trust-author need --github");
  const asked = { label, milestone, trustAuthor: trustAuthor === true, tell: note };
  const issues = file ?? (await (await import("../github/issue-text.js")).storiesOnGitHub(project, asked));
  const { tasks, passed } =
    typeof issues === "string" ? importStories(issues) : importStories(issues.name, issues.text);
  refuseAtWork(folder);
  if (existsSync(join(project, name)) && !isUntouched(folder, "tasks") && !force)
    throw failure(
      "file_exists",
      `${name} is already there`,
      "--force overwrites it; ralph stories archive moves it away first",
    );
  makeFolders(join(project, dir));
  writeFresh(join(project, name), `${JSON.stringify(tasks, null, 2)}\n`);
  const written = [name, ...writeTemplates(folder)];
  const ids = harmlessLine(passed.join(", "));
  const reviews = ids && ` Already done, but not reviewed: ${ids}. ralph starts with their reviews.`;
  return say(`${created(written)}
Imported ${plural(tasks.userStories.length, "story", "stories")}.${reviews}
Next: git add -A && git commit -m "Plan", ralph stories verify, ralph stories run`);
}

/** `ralph stories archive`: puts a loop away and starts anew. */
export async function archive({ label, ...flags }: FolderFlags & { label?: string }): Promise<number> {
  const stories = existingStories(flags);
  if (label !== undefined) saysSomething("--label", label);
  refuseAtWork(stories);
  // Agents of the last run may have left hooks behind.
  const last = runsOf(ralphHome(), stories, "anywhere").at(-1);
  const before = last && programsBefore(last);
  const findNew = before && (() => newPrograms(stories.project, before));
  const { folder, tasks, notCommitted, note: more } = await archiveStories(stories, label, findNew);
  const done = tasks.userStories.filter(({ passes }) => passes).length;
  say(`Archived ${done} of ${tasks.userStories.length} completed stories in ${folder}`);
  say(`${stories.dir}/ is ready for the next loop: ralph stories plan`);
  if (more !== undefined) note(`committed${more}`);
  if (notCommitted !== undefined) warn(`it is not committed: ${harmlessLine(notCommitted)}`);
  return notCommitted === undefined ? 0 : 1;
}

type RunFlags = StartFlags & FolderFlags & ReviewFlags & CheckFlags & ParallelFlags;

/** `ralph stories run`: one story at a time, each with its reviews, until all are approved. */
export async function run(flags: RunFlags): Promise<number> {
  const parallel = parallelFrom(flags);
  const folder = existingStories(flags);
  const { project, dir } = folder;
  const loaded = await loadSettings(project, flags.config);
  const limits = limitsFrom(flags, limitsOf(loaded.settings, { maxIterations: STORIES_ITERATIONS }));
  const { rules, reviewer } = reviewRules(flags, loaded.settings);
  const last = runsOf(ralphHome(), folder, "workspace").at(-1);
  const unverified = last === undefined ? [] : await putBackUnverified(folder, last);
  const tasks = tasksIn(dir, project, rules);
  const { prd } = storyFiles(dir);
  const isApart = (parallel ?? flags.worktree) !== undefined;
  await requirePrompt(folder, isApart);
  const { dirty, warnings } = await readyToStart(folder, isApart);
  const open = openStories(tasks, rules).length;
  if (open === 0) {
    // No run starts, so no event exists: with --json, stdout stays empty.
    const done = `all stories are done (${tasks.userStories.length})`;
    const text = `Nothing to do: ${done}.\nralph stories archive moves them away.`;
    return flags.json ? note(text) : say(text);
  }
  if (unverified.length > 0)
    warnings.unshift(
      `run ${last?.id} was cut off before ralph could verify the approval of ${unverified.join(", ")}, so ralph took it back`,
    );
  if (!existsSync(join(project, prd)))
    warnings.push(`${prd} does not exist, and the prompt asks agents to read it`);
  const needed = iterationsLeft(tasks, rules);
  const work = `${plural(open, "story", "stories")}, about ${plural(needed, "iteration")}`;
  const short = needed > limits.maxIterations ? " (that may be too few)" : "";
  const branch = isApart ? [] : await branchNote(project, tasks.branchName);
  const recipe: StoriesSpec = {
    ...{ kind: "stories", dir, ...rules, hasReviewer: reviewer !== undefined, dirty },
    checks: projectChecks(flags, loaded.settings),
    moreChecks: givenChecks(flags),
    checkTimeoutMs: checkTimeoutFrom(flags),
  };
  const hidden = hiddenChecksOf({ ...flags, hiddenChecks: flags.hiddenCheck }, loaded).length;
  const lanes = parallel && (await storyLanes(project, parallel, flags, recipe, tasks, hidden));
  return startRun(flags, loaded, {
    ...{ recipe, limits, ...(lanes && { lanes }) },
    origin: project,
    stream: loaded.settings.streamAgentOutput,
    title: tasks.branchName.replace(/^ralph\//, "") || tasks.project,
    ...(reviewer !== undefined && { agents: { [REVIEWER]: { agent: reviewer, agentFlags: [] } } }),
    warnings,
    notes: [`${work}; --max-iterations is ${limits.maxIterations}${short}`, ...branch],
  });
}

/** People need to write only the list. A worktree has its own prompt template where one is committed. */
async function requirePrompt(folder: StoriesFolder, isApart: boolean): Promise<void> {
  const { project, dir } = folder;
  const { prompt } = storyFiles(dir);
  if (!existsSync(join(project, prompt))) {
    if (isApart && (await git(project, ["cat-file", "-e", `HEAD:./${prompt}`])).ok) return;
    note(`created ${writeTemplates(folder).join(", ")}`);
    const hint = 'git add -A && git commit -m "Plan"';
    if (isApart) throw failure("tasks_uncommitted", "a worktree holds only what is committed", hint);
  }
  readTextFile("prompt template", prompt, project);
}

/** tasks.json may name another branch than the one that the agents work on. */
async function branchNote(project: string, named: string): Promise<string[]> {
  const { ok, stdout } = await git(project, ["symbolic-ref", "--short", "HEAD"]);
  const [, name] = /^ralph\/(.+)$/.exec(named) ?? [];
  if (!ok || name === undefined || stdout.trim() === named) return [];
  return [`agents work on branch ${stdout.trim()}; with --worktree ${name} they work on ${named}`];
}

/** `ralph stories status`: the stories, their states, and the next step. */
export async function status(flags: FolderFlags & PrintFlags & { stats?: boolean }): Promise<number> {
  const folder = existingStories(flags);
  const isFresh = isUntouched(folder, "tasks");
  const tasks = isFresh ? NO_STORIES : tasksIn(folder.dir, folder.project);
  const home = ralphHome();
  const runs = runsOf(home, folder, "anywhere");
  const run = lockHolder(home, { workspace: folder.project })?.run ?? null;
  const spent = flags.stats ? await spentOn(runs, tasks) : undefined;
  const rules = storiesSpecOf(runs.at(-1)) ?? (await rulesFor(folder.project, {}));
  const board = boardOf(tasks, rules, run, spent);
  const latest = run === null ? runs.at(-1) : runFolder(home, run);
  const { lanes, landings, reason, finished } = latest?.state() ?? {};
  const shown = lanes && standingOfLanes(lanes);
  const landed = shown?.filter(({ standing }) => standing === "landed").length ?? 0;
  const { columns } = process.stdout;
  const next = latest && nextStep(latest.name(), { ...(reason && finished) }, hasAnswer(latest));
  const where = `Landed:  ${plural(landed, "story", "stories")}, not in this folder yet: ${next}`;
  const here = landed === 0 || run !== null || landings !== undefined ? [] : [where];
  return printAs(flags, { ...board, ...(shown && { lanes: shown }) }, () =>
    isFresh
      ? [`No stories yet. Write ${storyFiles(folder.dir).tasks}, or let an agent ask you: ralph stories plan`]
      : [...boardLines(board, formatterFor(flags), columns), ...standingLines(shown ?? [], columns), ...here],
  );
}

const NO_STORIES: TaskList = { project: "", branchName: "", description: "", userStories: [] };

function storiesSpecOf(run: RunFolder | undefined): StoriesSpec | undefined {
  const recipe = run && readSpec(run).recipe;
  return recipe?.kind === "stories" ? recipe : undefined;
}

async function rulesFor(project: string, flags: ReviewFlags): Promise<ReviewRules> {
  return reviewRules(flags, (await loadSettings(project)).settings).rules;
}

/** `ralph stories verify`: the checks that an agent has to pass before it may stop, by hand. */
export async function verify(flags: FolderFlags & PrintFlags & ReviewFlags): Promise<number> {
  const { project: workspace, dir } = existingStories(flags);
  const home = ralphHome();
  const holder = lockHolder(home, { workspace });
  const run = holder && runFolder(home, holder.run);
  const known = run && readTurn(run.path);
  // While a run is active, its rules apply, as they do to its agents.
  const spec = storiesSpecOf(run) ?? {
    ...({ kind: "stories", dir, hasReviewer: false, dirty: [] } as const),
    ...(await rulesFor(workspace, flags)),
  };
  const stories: StoriesAt = { spec, files: storyFiles(dir), workspace, inRepository: true };
  // In a pause the stories are the user's.
  const turn = known?.rest === undefined ? known : undefined;
  const { tasks, findings } = await stopFindings(stories, turn, []);
  const { mark } = formatterFor(flags);
  if (findings.length === 0) {
    const count = plural(tasks?.userStories.length ?? 0, "story", "stories");
    return say(`${mark.pass} ${stories.files.tasks}: ${count}, all valid and committed`);
  }
  const lines = findings.map(({ check, message }) => {
    // The instructions for agents are of no use to people.
    const text = check === 3 ? (message.split("\n")[0] ?? "") : message;
    return `${harmless(`${mark.fail} ${text}`).replaceAll("\n", "\n  ")}\n`;
  });
  return printAll(lines.join(""), 1);
}
