import { RalphError } from "../errors.js";
import { createRedactor } from "../records/redact.js";
import { type RunFolder, runFolder } from "../records/runs.js";
import { isSuccess } from "../stop-reasons.js";
import { brief, harmless } from "../views/harmless.js";
import { deliver } from "./deliver.js";
import { type Delivery, deliveryOf, type Following, keepDelivery, type Round } from "./delivery.js";
import type { Forge } from "./forge.js";
import { marked, markerOf } from "./markers.js";
import { pushBranch, tiedIn } from "./push.js";

/** How a round is worked on: an ordinary run in the worktree of the pull request. */
export interface Rounds {
  /** Makes the run of a round ready; it is written down before it starts. */
  prepare(task: string, maxCostUsd: number | null): Promise<{ run: string; start(): Promise<unknown> }>;
  /** Goes on with one that was cut off. */
  resume(run: RunFolder): Promise<unknown>;
  /** What the first run was asked. */
  task: string;
}

export interface FollowOptions {
  maxRounds?: number | undefined;
  maxCostUsd?: number | undefined;
  pollMs: number;
  stop: AbortSignal;
  tell(text: string): void;
}

/** What is followed, as it stands on the disk: it is read anew before each step. */
export interface Context extends FollowOptions, Rounds {
  run: RunFolder;
  forge: Forge;
  number: number;
  worktree: string;
  checkout: string;
  branch: string;
}

export function following({ run }: Pick<Context, "run">): Following {
  return deliveryOf(run)?.follow as Following;
}

export function change(run: RunFolder, changes: Partial<Following>): void {
  const delivery = deliveryOf(run) as Delivery;
  keepDelivery(run, { ...delivery, follow: { ...(delivery.follow as Following), ...changes } });
}

/** Of the last one. */
function changeRound({ run }: Context, changes: Partial<Round>): void {
  const { rounds } = following({ run });
  change(run, { rounds: [...rounds.slice(0, -1), { ...(rounds.at(-1) as Round), ...changes }] });
}

export function spentIn(context: Context): number {
  const runs = following(context).rounds.flatMap(({ run }) => run ?? []);
  const costs = runs.map((id) => runFolder(context.run.home, id).state()?.costUsd ?? 0);
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Brings the last round to its end, wherever it was cut off: worked on, pushed, answered. false: it was interrupted. */
export async function settle(context: Context, round: Round): Promise<boolean> {
  if (round.state === "working") {
    const worked = await work(context, round);
    if (worked === undefined) return false;
    const outcome = isSuccess(worked.state()?.reason) ? await push(context, round) : whyNot(worked);
    changeRound(context, { state: "pushed", outcome });
  }
  const { outcome, about } = following(context).rounds.at(-1) as Round;
  if (outcome !== null) {
    await answer(context, about, outcome);
    context.tell(`round ${following(context).rounds.length}: ${brief(outcome)}`);
    const { handled } = following(context);
    change(context.run, { handled: [...new Set([...handled, ...about.map(({ id }) => id)])] });
  }
  changeRound(context, { state: "answered" });
  await describe(context);
  return true;
}

/** Brings the text of the pull request up to date, unless somebody was quicker: the next look sees that. */
async function describe({ run, tell }: Context): Promise<void> {
  await deliver(run, {}, tell).catch((error: unknown) => {
    const passing = ["pull_merged", "pull_closed", "branch_moved", "forge_unreachable"];
    if (!(error instanceof RalphError && passing.includes(error.code))) throw error;
  });
}

/** undefined: it was interrupted, and goes on another time. */
async function work(context: Context, { run: known, task }: Round): Promise<RunFolder | undefined> {
  const { home } = context.run;
  const before = known === null ? undefined : runFolder(home, known);
  if (before?.state() === undefined) {
    const { maxCostUsd } = following(context);
    const left = maxCostUsd === null ? null : maxCostUsd - spentIn(context);
    const made = await context.prepare(task, left);
    changeRound(context, { run: made.run });
    await made.start();
  } else if (before.state()?.status !== "finished" || before.state()?.reason === "interrupted")
    await context.resume(before);
  const worked = runFolder(home, following(context).rounds.at(-1)?.run ?? "");
  const state = worked.state();
  return state?.status === "finished" && state.reason !== "interrupted" ? worked : undefined;
}

/** Returns what is to be answered; null: others pushed meanwhile, and it is to be done on top of that. */
async function push(context: Context, { from }: Round): Promise<string | null> {
  const { run, forge, checkout, worktree, branch, tell } = context;
  const tip = await tiedIn(worktree, branch, from);
  if (tip === from) return `The agent changed nothing. ${await lastWords(context)}`.trim();
  const pushed = await pushBranch(forge, checkout, { branch, tip, expected: from }, tell);
  if (pushed === "moved") return null;
  keepDelivery(run, { ...(deliveryOf(run) as Delivery), tip });
  return `Fixed in ${tip}.`;
}

const WORDS_CHARS = 1500;

/** What the agent said, as a quotation, without the words that end a run. */
async function lastWords(context: Context): Promise<string> {
  const id = following(context).rounds.at(-1)?.run ?? "";
  const { report } = await runFolder(context.run.home, id).report();
  const said = harmless(report.iterations.at(-1)?.finalMessage ?? "").slice(0, WORDS_CHARS);
  const lines = said.split("\n").filter((line) => !/^\W*COMPLETE\W*$|<(?:response|promise)>/.test(line));
  const words = lines.join("\n").trim();
  return words === "" ? "" : `The agent says:\n\n${words.replace(/^/gm, "> ")}`;
}

function whyNot(worked: RunFolder): string {
  const { reason, message, question } = worked.state() ?? {};
  if (question !== undefined) return `Not fixed: the agent asks\n\n> ${brief(question.text, WORDS_CHARS)}`;
  return `Not fixed: the run ended as ${reason}${message ? ` (${brief(message, WORDS_CHARS)})` : ""}.`;
}

/** In the thread of each line comment, and once in the conversation for all the rest; what is there is not said again. */
async function answer(
  { forge, number, run }: Context,
  about: Round["about"],
  outcome: string,
): Promise<void> {
  const redact = createRedactor(process.env);
  const there = [await forge.issues.comments(number), await forge.reviews.comments(number)].flat();
  const isSaid = (text: string): boolean => there.some(({ body }) => markerOf(body) === markerOf(text));
  for (const { id, thread } of about) {
    const text = marked(redact(outcome), `answer ${id} ${run.id}`);
    if (thread !== null && !isSaid(text)) await forge.reviews.reply(number, thread, text);
  }
  const others = about.filter(({ thread }) => thread === null);
  const list = others.map(({ what }) => `- ${what}`).join("\n");
  const text = marked(redact(`${list}\n\n${outcome}`), `answer ${others[0]?.id} ${run.id}`);
  if (others.length > 0 && !isSaid(text)) await forge.issues.comment(number, text);
}
