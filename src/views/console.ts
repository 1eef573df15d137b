import { formatDuration } from "../duration.js";
import type { AgentFinished, LoopEvent } from "../events.js";
import { loopOf } from "../records/lanes.js";
import { activeMsUntil, type RunState } from "../records/run-state.js";
import { type ConsoleFormat, type ConsoleFormatter, createConsoleFormatter } from "./agent-lines.js";
import { formatCost, joined } from "./figures.js";
import { harmless, harmlessLine } from "./harmless.js";
import { lanesStatus } from "./lane-lines.js";
import { linesOf } from "./lines.js";
import { summaryLines } from "./summary.js";
import { type ByEvent, print, shownBy, type View } from "./view.js";

interface ConsoleOptions {
  format: ConsoleFormat;
  showAgent: boolean;
  quiet: boolean;
  live: boolean;
  records: string;
  /** Whether the closing summary may say how to continue. */
  resumable: boolean;
  out: NodeJS.WriteStream;
}

/** The run as people read it: the product on stdout, notes on stderr. */
export function consoleView(options: ConsoleOptions): View {
  const formatters = new Map<string | undefined, ConsoleFormatter>();
  /** The output of parallel agents stays apart. */
  const formatFor = (lane: string | undefined): ConsoleFormatter => {
    const format = formatters.get(lane) ?? createConsoleFormatter(options.format);
    formatters.set(lane, format);
    return format;
  };
  const { useEmoji, terminal } = options.format;
  const status = options.live && terminal ? createStatusLine(useEmoji, terminal.layout.cut) : undefined;
  const tell = (text: string): void => {
    status?.clear();
    process.stderr.write(`${harmless(text)}\n`);
  };
  return {
    event(event, state) {
      const warning = shownBy(WARNINGS, event);
      if (warning !== undefined) tell(`ralph: warning: ${warning}`);
      status?.update(event, state);
      const { lane } = event;
      const format = formatFor(lane);
      format.about(lane ?? storyOf(event, state));
      const lines = options.quiet ? [] : linesOf(event, loopOf(state, event), format, options.showAgent);
      if (event.type === "run.finished" && lane === undefined) {
        status?.close();
        lines.push(...summaryLines(event, options, state, format));
      }
      if (lines.length === 0) return undefined;
      status?.clear();
      return print(options.out, lines.map((line) => `${format.stamp(line, event.ts)}\n`).join(""));
    },
    note: tell,
    close: () => status?.close(),
  };
}

/** The story that the lines of an event are about. */
function storyOf(event: LoopEvent, { iteration }: Readonly<RunState>): string | undefined {
  if (!("iteration" in event) || event.iteration === 0 || NAMING.includes(event.type)) return undefined;
  return ("story" in event ? event.story : undefined) ?? iteration?.about ?? undefined;
}

/** Their lines name the story by themselves. */
const NAMING = ["iteration.started", "state.changed"];

const incomplete = ({ log, logError }: Pick<AgentFinished, "log" | "logError">): string | undefined =>
  logError === undefined ? undefined : `${log} is incomplete: ${logError}`;

const WARNINGS: ByEvent<[], string | undefined> = {
  "scm.finished": ({ passed, task, message }) =>
    passed ? undefined : `scm ${task} failed: ${harmless(message)}`,
  "agent.finished": incomplete,
  "check.finished": incomplete,
};

/** The same view with a `[ralph]` line on stderr for every step. */
export function verboseView(view: View): View {
  return {
    ...view,
    event(event, state) {
      for (const line of shownBy(STEPS, event, state) ?? []) view.note(`[ralph] ${harmlessLine(line)}`);
      return view.event(event, state);
    },
  };
}

const escaped = (text: string): string => text.replace(/\n/g, "\\n");

const STEPS: ByEvent<[state: Readonly<RunState>], string[]> = {
  "run.started": ({ run, workspace }) => [`Run ${run} in ${workspace}`],
  "run.resumed": ({ iterations }) => [`Resuming after iteration ${iterations}`],
  "iteration.started": ({ iteration }, { limits }) => [
    `Iteration ${iteration}/${limits?.maxIterations ?? 0} starting`,
  ],
  "agent.started": ({ command, prompt }) => [
    `Agent command: ${command.join(" ")}`,
    `Prompt: ${escaped(prompt)}`,
  ],
  "agent.finished": (event) => [`Agent exited with ${exitOf(event)}`],
  "check.started": ({ command }) => [`Running check: ${command}`],
  "check.finished": (event) => [`Check exited with ${exitOf(event)}`],
  "scm.finished": ({ task, passed, durationMs }) => [
    `SCM ${task}: ${passed ? "ok" : "failed"} (${formatDuration(durationMs)})`,
  ],
  "limit.waiting": ({ agent, until, message }) => [
    `Usage limit of ${agent}: waiting until ${until} (${message})`,
  ],
  violation: ({ what }) => [`Violation: ${escaped(what)}`],
  "locks.removed": ({ files }) => [`Removed locks of a dead git: ${escaped(files.join(", "))}`],
  "iteration.finished": ({ reason, durationMs }) => [
    `Completion check: ${reason} (iteration took ${formatDuration(durationMs)})`,
  ],
};

function exitOf({ exitCode, signal, durationMs }: Pick<AgentFinished, "exitCode" | "signal" | "durationMs">) {
  return `${signal === null ? `code ${exitCode}` : `signal ${signal}`} (${formatDuration(durationMs)})`;
}

interface Activity {
  text: string;
  until?: string;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const PLAIN_FRAMES = ["|", "/", "-", "\\"];
const REDRAW_MS = 200;
const CLEAR = "\r\u001b[K";

function createStatusLine(useEmoji: boolean, cut: (text: string, columns: number) => string) {
  const terminal = process.stderr;
  const frames = useEmoji ? FRAMES : PLAIN_FRAMES;
  let activity: Activity = { text: "starting" };
  let current: Readonly<RunState> | undefined;
  let frame = 0;
  const draw = (): void => {
    frame = (frame + 1) % frames.length;
    const text = current === undefined ? activity.text : statusText(current, activity, Date.now());
    terminal.write(`${CLEAR}${cut(`${frames[frame]} ${text}`, (terminal.columns || 80) - 1)}`);
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  /** Clears the line before other output; the next redraw brings it back. */
  const clear = (): void => void terminal.write(CLEAR);
  return {
    clear,
    update(event: LoopEvent, state: Readonly<RunState>): void {
      current = state;
      activity = shownBy(ACTIVITIES, event, state) ?? activity;
    },
    close(): void {
      clearInterval(timer);
      clear();
    },
  };
}

const asking = (_: LoopEvent, { retries, iteration }: Readonly<RunState>): Activity => ({
  text: retries === undefined ? "asking the agent" : (iteration?.mode ?? ""),
});

/** The activity that an event starts; other events change nothing. */
const ACTIVITIES: ByEvent<[state: Readonly<RunState>], Activity | undefined> = {
  "run.paused": () => ({ text: "paused" }),
  "iteration.started": asking,
  "agent.started": asking,
  "agent.event"({ event }) {
    if (event.type === "tool_start") return { text: `${event.name}(${event.input})` };
    return event.type === "tool_end" || event.type === "text" ? { text: "thinking" } : undefined;
  },
  "limit.waiting": ({ agent, until }) => ({ text: `usage limit of ${agent}`, until }),
  "check.started": ({ name, command }) => ({ text: `check ${name ?? command}` }),
  "backoff.started": ({ seconds }) => ({ text: `waiting ${seconds}s before the next try` }),
};

export function statusText(state: Readonly<RunState>, { text, until }: Activity, now: number): string {
  const { iteration, limits, asked, costUsd, lanes } = state;
  if (lanes !== undefined) return harmless(lanesStatus(state, lanes, now)).replace(/\s+/g, " ");
  const line = joined(
    iteration && `iteration ${iteration.iteration}/${limits?.maxIterations ?? 0}`,
    iteration?.about,
    asked,
    formatDuration(activeMsUntil(now, state, true)),
    costUsd !== null && formatCost(costUsd),
    until && `${formatDuration(Math.max(0, Date.parse(until) - now))} left`,
    text,
  );
  return harmless(line).replace(/\s+/g, " ");
}
