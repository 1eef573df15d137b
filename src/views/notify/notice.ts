import { sumOfCosts } from "../../cost.js";
import type { LoopEvent, RunFinished } from "../../events.js";
import type { NotifySettings } from "../../settings/schema.js";
import { titleOfReason } from "../../stop-reasons.js";
import { harmlessLine } from "../harmless.js";

type NoticeEvent = NonNullable<NotifySettings["on"]>[number];

/** What somebody who is not watching is told. */
export interface Notice {
  run: string;
  /** The worker's name, if the run is the loop of one. */
  name: string | null;
  event: NoticeEvent;
  reason: string;
  iterations: number;
  /** null: the agent reports no cost. */
  costUsd: number | null;
  /** One line for people. */
  message: string;
}

type Standing = Pick<Notice, "iterations" | "costUsd">;

/** Tells of each event whether it is worth a notice. */
export function createNotices(
  name: string | null,
  spentBefore: number | null = null,
): (event: LoopEvent) => Notice | undefined {
  const standing: Standing = { iterations: 0, costUsd: spentBefore };
  return (event) => {
    Object.assign(standing, standingAfter(event, standing));
    const worth = worthOf(event);
    if (worth === undefined) return undefined;
    const message = oneLine(worth.message);
    return { run: event.run, name, event: worth.event, reason: worth.reason, ...standing, message };
  };
}

function standingAfter(event: LoopEvent, { costUsd }: Standing): Partial<Standing> {
  switch (event.type) {
    case "run.resumed":
      return { iterations: event.iterations };
    case "agent.finished":
      return event.costUsd === null ? {} : { costUsd: sumOfCosts(costUsd, event.costUsd) };
    case "iteration.finished":
      return { iterations: event.iteration, costUsd: event.totals.costUsd };
    case "run.finished":
      return { iterations: event.iterations, costUsd: event.costUsd };
    default:
      return {};
  }
}

function worthOf(event: LoopEvent): Pick<Notice, "event" | "reason" | "message"> | undefined {
  if (event.type === "run.finished") {
    const { reason, message = titleOfReason(reason, event.exitCode) } = event;
    return { event: endOf(event), reason, message };
  }
  const type: string = event.type;
  return type === "limit.waiting"
    ? { event: "waiting", reason: "usage_limit", message: waitingText(event) }
    : undefined;
}

function endOf({ reason, exitCode }: RunFinished): NoticeEvent {
  if (exitCode === 0) return "finished";
  return reason === "blocked" ? "blocked" : "failed";
}

function waitingText(event: object): string {
  const until = "until" in event && typeof event.until === "string" ? ` until ${event.until}` : "";
  return `Waiting for a usage limit to end${until}`;
}

const MAX_CHARS = 500;

function oneLine(text: string): string {
  const line = harmlessLine(text).trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS - 1)}…`;
}
