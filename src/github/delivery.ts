import { existsSync } from "node:fs";
import { z } from "zod";
import { formatDuration } from "../duration.js";
import { readJson, writeAtomic } from "../records/files.js";
import type { CheckReport } from "../records/iteration.js";
import { finishedIterations, type Report } from "../records/report.js";
import { wordsFor } from "../records/result.js";
import type { RunFolder } from "../records/runs.js";
import type { IssueLink } from "../records/spec.js";
import { fenced as fencedAs } from "../verify/excerpt.js";
import { endingOf, formatCost } from "../views/figures.js";
import { brief } from "../views/harmless.js";
import { titleOf } from "../views/report/facts.js";
import { cell, code, fenced } from "../views/report/markdown.js";

/** What became of a run on the forge: `github.json` beside its records. */
export type Delivery = z.infer<typeof Delivery>;
export type Following = z.infer<typeof Following>;
export type Round = z.infer<typeof Round>;

const Round = z.object({
  /** The run that works on it; null: it has not begun. */
  run: z.string().nullable(),
  /** What is to be answered: its id, and the thread that it stands in. */
  about: z.array(z.object({ id: z.string(), what: z.string(), thread: z.number().nullable() })),
  /** The same words for the same failures. */
  failure: z.string(),
  /** The task of its run, as it was asked. */
  task: z.string(),
  /** What the branch was when it began. */
  from: z.string(),
  state: z.enum(["working", "pushed", "answered"]),
  /** What came of it, as it is answered; null: nothing that is to be answered. */
  outcome: z.string().nullable(),
});

const Following = z.object({
  maxRounds: z.number(),
  maxCostUsd: z.number().nullable(),
  /** null: it goes on, also after a crash. */
  ended: z.string().nullable(),
  rounds: z.array(Round),
  /** What was answered or passed over, by its id. */
  handled: z.array(z.string()),
});

const Delivery = z.object({
  v: z.literal(1),
  host: z.string(),
  owner: z.string(),
  name: z.string(),
  branch: z.string(),
  base: z.string(),
  /** null: it is about to be opened. */
  number: z.number().nullable(),
  url: z.string().nullable(),
  /** The tip of the branch as ralph pushed it last, or took it over. */
  tip: z.string().nullable(),
  follow: Following.optional(),
});

/** undefined: nothing of it is on a forge. */
export function deliveryOf(run: RunFolder): Delivery | undefined {
  if (!existsSync(run.github)) return undefined;
  return Delivery.safeParse(readJson(run.github)).data;
}

export function keepDelivery(run: RunFolder, delivery: Delivery): Delivery {
  writeAtomic(run.github, `${JSON.stringify(delivery, null, 2)}\n`);
  return delivery;
}

/** What a pull request says of the run that made it. */
export interface Facts {
  report: Report;
  /** The commit that is delivered. */
  tip: string;
  branch: string;
  issue: IssueLink | undefined;
  /** As `ralph verify` reads it, and its signature, if it has one. */
  receipt: string | undefined;
  signature: string | undefined;
  /** The commit that the receipt is about, and whether the one that is delivered has the same files. */
  verified: { commit: string | undefined; isLatest: boolean } | undefined;
  /** Runs that `ralph follow` added. */
  rounds: Report[];
}

const BEGIN = "<!-- ralph:begin -->";
const END = "<!-- ralph:end -->";

const TITLE_CHARS = 100;

export function pullTitle({ report, issue }: Pick<Facts, "report" | "issue">): string {
  return issue?.title ?? (brief(report.task.replace(/^#+\s*/, ""), TITLE_CHARS) || report.name || report.run);
}

/** Only this part of the text is ralph's: around it people may write what they like. */
export function pullBody(facts: Facts): string {
  const { report, issue } = facts;
  const parts = [
    report.success ? "" : `> **Not finished.** ${cell(titleOf(report))}${reasonOf(report)}`,
    asked(facts),
    verified(facts),
    spent(facts),
    again(facts),
    issue === undefined ? "" : `Closes #${issue.number}`,
  ].filter((part) => part !== "");
  return [BEGIN, ...parts, END].join("\n\n");
}

/** undefined: somebody has taken ralph's part out, and it stays out. */
export function withBody(now: string, body: string): string | undefined {
  const [from, to] = [now.indexOf(BEGIN), now.lastIndexOf(END)];
  return from === -1 || to < from ? undefined : `${now.slice(0, from)}${body}${now.slice(to + END.length)}`;
}

function reasonOf({ message, question }: Report): string {
  const why = question?.text ?? message;
  return why ? `: ${cell(brief(why, 300))}` : "";
}

const ASKED_CHARS = 4000;

function asked({ report, issue }: Facts): string {
  if (issue !== undefined) return `## What was asked\n\nIssue #${issue.number}: ${cell(issue.title)}`;
  const task = report.task.length > ASKED_CHARS ? `${report.task.slice(0, ASKED_CHARS)}\n[...]` : report.task;
  return `## What was asked\n\n${fenced(task)}`;
}

function verified({ report, tip, rounds, verified: proof }: Facts): string {
  const last = [report, ...rounds].findLast(({ success }) => success) ?? report;
  const checks = last.iterations.at(-1)?.checks ?? [];
  const head = "## What was verified";
  if (checks.length === 0) return `${head}\n\nNo check ran: the agent alone decided that it was done.`;
  const rows = checks.map((check) => {
    const before = [last, report]
      .flatMap(({ baseline }) => baseline)
      .find(({ command }) => command === check.command);
    const words = before === undefined ? "" : before.before ? "passed before, too" : (wordsFor(before) ?? "");
    const witness = words === "fixed" ? "failed before, passes now" : words;
    return `| ${code(check.command)} | ${resultOf(check)} | ${formatDuration(check.durationMs)} | ${cell(witness)} |`;
  });
  const commit = proof?.isLatest ? tip : proof?.commit;
  const files = commit === undefined ? "" : `, on the files of commit ${commit.slice(0, 12)}`;
  const later =
    proof?.isLatest === false ? "\n\n> **The branch has later commits, which ralph has not verified.**" : "";
  return [
    `${head}\n\nralph ran these checks itself${files}:${later}\n`,
    "| check | result | time | witness |",
    "|---|---|--:|---|",
    ...rows,
  ].join("\n");
}

function resultOf(check: CheckReport): string {
  if (check.skipped !== null) return `not run (${cell(check.skipped)})`;
  return `${check.passed ? "✅" : "❌"} ${cell(endingOf(check))}`;
}

function spent({ report, rounds }: Facts): string {
  const all = [report, ...rounds];
  const known = all.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const isEstimated = all.some(({ costEstimated, costUsd }) => costEstimated || costUsd === null);
  const cost = known.length === 0 ? "unknown: the agent does not tell" : formatCost(sum(known), isEstimated);
  const iterations = sum(all.map(finishedIterations));
  const time = formatDuration(sum(all.map(({ durationMs }) => durationMs)));
  const more = rounds.length === 0 ? "" : `, ${rounds.length} of them after review`;
  return [
    "| | |",
    "|---|---|",
    `| run | ${cell(report.name ?? report.run)} (${cell(report.run)}) |`,
    `| agent | ${cell(report.agent)} |`,
    `| iterations | ${iterations} in ${all.length} runs${more} |`.replace(" in 1 runs", ""),
    `| cost | ${cost} |`,
    `| time | ${time} |`,
  ].join("\n");
}

function sum(numbers: number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function again({ report, branch, receipt, signature }: Facts): string {
  const checks = report.iterations.at(-1)?.checks ?? [];
  const commands = checks.filter(({ hidden }) => !hidden).map(({ command }) => command);
  const byHand = fenced([`git fetch origin ${branch} && git checkout FETCH_HEAD`, ...commands].join("\n"));
  const head = "## Check it again";
  if (receipt === undefined) return commands.length === 0 ? "" : `${head}\n\n${byHand}`;
  const signed = signature === undefined ? "" : ", its signature as receipt.json.sig";
  // Nothing in them may change: both are read again, byte for byte.
  const files = [
    fencedAs(receipt, "json"),
    ...(signature === undefined ? [] : [fencedAs(signature, "text")]),
  ];
  return [
    `${head}\n\nSave the receipt as receipt.json${signed}, then in a clone: \`ralph verify receipt.json\`. By hand:`,
    byHand,
    `<details><summary>Receipt</summary>\n\n${files.join("\n\n")}\n\n</details>`,
  ].join("\n\n");
}
