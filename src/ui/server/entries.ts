import { formatDuration } from "../../duration.js";
import type { AgentEvent, LoopEvent } from "../../events.js";
import { titleOfReason } from "../../stop-reasons.js";
import { costCell, endingOf, formatTokens, joined, plural, skippedWords } from "../../views/figures.js";
import { brief, firstLine, harmless } from "../../views/harmless.js";
import type { Entry } from "../api.js";

/** What an event tells, for the stream of a run. A function of the event alone: who comes late sees the same. */

type EntryWords = Omit<Entry, "line" | "next" | "ts" | "iteration">;
type EventFor<Type extends LoopEvent["type"]> = Extract<LoopEvent, { type: Type }>;

/** undefined: it tells nothing that people look for. */
export function entryOf(event: LoopEvent, { line = 0, next = 0 } = {}): Entry | undefined {
  const told = (TOLD[event.type] as ((event: LoopEvent) => EntryWords | undefined) | undefined)?.(event);
  const iteration = "iteration" in event && typeof event.iteration === "number" ? event.iteration : 0;
  const lane = "lane" in event && typeof event.lane === "string" ? { lane: event.lane } : {};
  return told && { line, next, ts: event.ts, iteration, ...lane, ...told };
}

const note = (text: string, look?: Entry["look"], more?: string): EntryWords => ({
  kind: "note",
  text,
  ...(look && { look }),
  ...(more && { more: more.slice(0, MORE_CHARS) }),
});

/** More than that is in the records. */
const MORE_CHARS = 16_000;

const TOLD: { [Type in LoopEvent["type"]]?: (event: EventFor<Type>) => EntryWords | undefined } = {
  "run.started": ({ agent, recipe }) => note(`${recipe} run with ${agent}`),
  "run.resumed": ({ iterations }) => note(`resumed after ${plural(iterations, "iteration")}`),
  "run.paused": () => note("paused"),
  "baseline.finished": ({ checks }) =>
    note(
      `baseline: ${checks.filter(({ before }) => before).length} of ${plural(checks.length, "check")} pass`,
    ),
  "run.finished": ({ reason, success, message = "" }) => ({
    ...{ kind: "end", text: titleOfReason(reason), look: success ? "passed" : "failed" },
    ...(message !== "" && { more: message }),
  }),
  "landing.started": ({ into, stories = [] }) => note(joined(...stories, `landing in ${into}`)),
  "landing.landed": ({ into, new: commit, stories = [], unverified }) =>
    note(
      joined(...stories, `landed in ${into}`, commit.slice(0, 9), unverified && "nothing verified it"),
      "passed",
    ),
  "landing.refused": ({ into, message, stories = [] }) =>
    note(joined(...stories, `not landed in ${into}: ${message}`), "failed"),
  "iteration.started": ({ iteration, mode, about, steering }) => ({
    kind: "iteration",
    text: joined(`Iteration ${iteration}`, mode, about),
    ...(steering !== undefined && { more: `Steering: ${steering}` }),
  }),
  "agent.started": ({ agent, attempt, role, insteadOf }) =>
    note(
      joined(
        `${agent} works`,
        role,
        insteadOf && `in place of ${insteadOf}`,
        attempt > 1 && `attempt ${attempt}`,
      ),
    ),
  "agent.event": ({ event }) => said(event),
  "agent.finished": (event) => {
    const { agent, ...told } = { agent: "agent", ...event };
    const spent = [told.costUsd !== null && costCell(told.costUsd, told.costEstimated), formatTokens(told)];
    const words = joined(`${agent} ended`, formatDuration(event.durationMs), ...spent);
    return event.error === null
      ? note(words)
      : note(`${words}: ${brief(event.error)}`, "failed", event.error);
  },
  "check.started": () => undefined,
  "check.finished": ({ command, name = command, ...check }) => {
    const look = check.skipped === undefined ? (check.passed ? "passed" : "failed") : "not-run";
    const how = check.skipped === undefined ? endingOf({ ...check }) : skippedWords(check.skipped);
    const text = joined(brief(name), check.passed ? "passed" : how, formatDuration(check.durationMs));
    return { kind: "check", text, look, ...(look === "failed" && { more: check.output.slice(-MORE_CHARS) }) };
  },
  "scm.finished": ({ task, passed, message }) =>
    note(joined(`${task}${passed ? "" : " failed"}`, brief(message)), passed ? undefined : "failed", message),
  "gate.finished": ({ state, passed, output }) =>
    note(`gate ${state}: ${passed ? "passed" : "failed"}`, passed ? "passed" : "failed", output),
  "state.changed": ({ from, to, story, title, feedback }) =>
    note(joined(story, `${from} → ${to}`, title && brief(title)), undefined, feedback),
  "lane.started": ({ title, branch }) => note(joined("begins", title, branch)),
  "lane.waiting": (event) => note(`waits for ${event.for}, which changed ${event.file}`, "at-work"),
  "lane.overlaps": (event) =>
    event.files.length === 0
      ? note(`no longer conflicts with ${event.with}`)
      : note(`would conflict with ${event.with} in ${event.files.join(", ")}`, "agent-failed"),
  "lane.returned": (event) =>
    note(`back to its agent, try ${event.try} of 2: ${event.reason}`, "agent-failed", event.message),
  "lane.blocked": ({ message }) => note("blocked: it cannot be landed", "failed", message),
  "landing.cleaned": ({ branch }) => note(`removed the branch ${branch}, which has landed`),
  violation: ({ what, file }) => note(`violation: ${firstLine(what)}`, "failed", joined(file, what)),
  "locks.removed": ({ files }) => note(`removed git locks: ${files.join(", ")}`),
  "backoff.started": ({ seconds, attempt, maxAttempts }) =>
    note(`waits ${seconds} s after failure ${attempt} of ${maxAttempts}`),
  "limit.waiting": ({ agent, until, message }) =>
    note(
      `usage limit of ${agent}: waits until ${until.slice(0, 16).replace("T", " ")} UTC`,
      "at-work",
      message,
    ),
  "iteration.finished": ({ iteration, passed, reason, durationMs }) => ({
    ...{ kind: "end", look: passed ? "passed" : "failed" },
    text: joined(`Iteration ${iteration} ${passed ? "passed" : "did not pass"}`, formatDuration(durationMs)),
    ...(reason !== "" && { more: reason }),
  }),
};

function said(event: AgentEvent): EntryWords | undefined {
  switch (event.type) {
    case "text": {
      const { text, delta, message, subagent } = event;
      if (text === "" || (text.trim() === "" && !delta)) return undefined;
      return {
        kind: "text",
        text,
        ...(delta && { delta }),
        ...(message && { message }),
        ...(subagent && { subagent }),
      };
    }
    case "tool_start": {
      const { id, name, input, subagent } = event;
      return { kind: "tool", id, text: name, more: harmless(input), ...(subagent && { subagent }) };
    }
    case "tool_end": {
      const { id, isError, output, lines } = event;
      const look = isError ? "failed" : "passed";
      return { kind: "output", id, look, text: plural(lines, "line"), more: output.slice(0, MORE_CHARS) };
    }
    case "todo": {
      const done = event.items.filter(({ status }) => status === "completed").length;
      const signs = { completed: "✓", in_progress: "›", pending: "·" };
      const more = event.items.map(({ text, status }) => `${signs[status]} ${text}`).join("\n");
      return { kind: "todo", text: `${done} of ${event.items.length} done`, more };
    }
    case "rate_limit":
      return event.status === "allowed" ? undefined : note(`usage limit: ${event.status}`, "agent-failed");
    case "error":
      return note(event.message, "agent-failed");
    case "result":
      return event.error === undefined ? undefined : note(event.error, "agent-failed");
    default:
      return undefined;
  }
}

/** What a living run does now, in a line. */
export function doingOf(event: LoopEvent | undefined): string {
  if (event === undefined) return "";
  if (event.type === "check.started") return `checks: ${brief(event.name ?? event.command)}`;
  const entry = entryOf(event);
  if (entry?.kind === "tool") return brief(joined(entry.text, firstLine(entry.more ?? "")));
  return brief(entry?.text.trim() ?? "");
}
