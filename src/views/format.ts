import { styleText } from "node:util";
import type { AgentEvent, TodoEvent, TodoItem, ToolEndEvent, ToolStartEvent } from "../events.js";
import { harmless } from "./harmless.js";
import { wrap } from "./wrap.js";

export interface FormatOptions {
  useEmoji: boolean;
  useColor: boolean;
  /** `[HH:MM:SS]` before each line. */
  showTimestamp: boolean;
  /** How much of a tool's output is shown. */
  maxOutputLines: number;
  maxOutputChars: number;
  /** Columns of the terminal: calls and output of tools are cut there, and not wrapped. */
  width?: number | undefined;
  /** Sessions, thoughts and other things that are of no use most of the time. */
  showProgress: boolean;
}

const EMOJI = {
  ok: "✅",
  error: "❌",
  tool: "⏺",
  todo: "📋",
  pending: "⏸️",
  active: "🔄",
  progress: "📊",
  warning: "⚠️",
  alarm: "🚨",
  output: "⎿",
  from: "←",
  to: "→",
  pass: "✓",
  fail: "✗",
};

const MARKERS: typeof EMOJI = {
  ok: "[OK]",
  error: "[ERR]",
  tool: "*",
  todo: "[TODO]",
  pending: "[ ]",
  active: "[>]",
  progress: "[..]",
  warning: "[WARN]",
  alarm: "[!!]",
  output: "|",
  from: "<-",
  to: "->",
  pass: "P",
  fail: "F",
};

type Color = Parameters<typeof styleText>[0];

/** Turns what an agent says into lines. Remembers only what a line still to come needs. */
export function createFormatter(options: FormatOptions) {
  const mark = options.useEmoji ? EMOJI : MARKERS;
  const paint = (color: Color, text: string): string =>
    options.useColor ? styleText(color, text, { validateStream: false }) : text;
  const tools = toolLines(options, mark, paint);
  let unfinished = "";

  /** What is held back of a line that is still being written. */
  const flush = (): string[] => {
    const line = unfinished;
    unfinished = "";
    return line === "" ? [] : [harmless(line)];
  };

  const piece = (text: string): string[] => {
    const lines = (unfinished + text).split("\n");
    unfinished = lines.pop() ?? "";
    return lines.map(harmless);
  };

  const whole = (event: AgentEvent): string[] => {
    switch (event.type) {
      case "text":
        return event.text.trim() === "" ? [] : harmless(event.text).replace(/\n+$/, "").split("\n");
      case "tool_start":
        return tools.start(event);
      case "tool_end":
        return tools.end(event);
      case "todo":
        return tools.todo(event);
      case "error":
        return [paint("yellow", `${mark.warning} ${harmless(event.message)}`)];
      case "rate_limit":
        if (event.status === "allowed") return [];
        return [paint("yellow", `${mark.warning} Usage limit: ${harmless(event.status)}`)];
      case "progress":
        return options.showProgress && event.message !== "" ? [paint("dim", harmless(event.message))] : [];
      case "unknown":
        return options.showProgress ? [paint("dim", harmless(event.line))] : [];
      case "result":
        return [];
    }
  };

  return {
    mark,
    paint,
    flush,
    /** A line of ralph's own in the width of the terminal, with what does not fit indented below. */
    paragraph: (text: string, color?: Color): string[] =>
      wrap(text, options.width === undefined ? undefined : options.width - PARAGRAPH_MARGIN).map(
        (line, index) => {
          const shown = color === undefined ? line : paint(color, line);
          return index === 0 ? shown : `  ${shown}`;
        },
      ),
    /** The last lines of an output, where most programs say what went wrong. */
    ending: (output: string): string[] => indented(endOf(output, options), options, mark, paint),
    event: (event: AgentEvent): string[] =>
      event.type === "text" && event.delta ? piece(event.text) : [...flush(), ...whole(event)],
    stamp: (line: string, ts: string): string =>
      options.showTimestamp ? `${paint("dim", `[${clockTime(ts)}]`)} ${line}` : line,
  };
}

/** An indent, and an emoji that takes two columns. */
const PARAGRAPH_MARGIN = 3;

type Paint = (color: Color, text: string) => string;

/** Calls of tools and what came of them, matched by their ids. */
function toolLines(options: FormatOptions, mark: typeof EMOJI, paint: Paint) {
  const names = new Map<string, string>();
  const shownAsList = new Set<string>();
  return {
    start({ id, name, input }: ToolStartEvent): string[] {
      const called = harmless(name);
      names.set(id, called);
      const shown = fitted(harmless(input), options.width, called.length + CALL_CHARS);
      return [`${paint("cyan", mark.tool)} ${paint("bold", called)}(${shown})`];
    },
    end({ id, output, isError, lines, chars }: ToolEndEvent): string[] {
      if (shownAsList.delete(id)) return [];
      const name = names.get(id) ?? "tool";
      names.delete(id);
      const size = `(${lines} ${lines === 1 ? "line" : "lines"}, ${chars} chars)`;
      const what = isError ? paint("red", `${mark.error} Error`) : paint("green", `${mark.ok} Result`);
      const excerpt = indented(excerptOf(output, options), options, mark, paint);
      return [`${what} ${mark.from} ${name} ${paint("dim", size)}`, ...excerpt];
    },
    todo({ id, items }: TodoEvent): string[] {
      if (id !== undefined) shownAsList.add(id);
      return todoList(items, mark);
    },
  };
}

/** What stands around the input of a call, and before a line of output. */
const CALL_CHARS = 4;
const INDENT_CHARS = 5;

function fitted(line: string, width: number | undefined, taken: number): string {
  const room = Math.max((width ?? Number.POSITIVE_INFINITY) - taken, 20);
  return line.length <= room ? line : `${line.slice(0, room - 1)}…`;
}

function indented(lines: string[], { width }: FormatOptions, mark: typeof EMOJI, paint: Paint): string[] {
  return lines.map((line, index) =>
    paint("dim", `  ${index === 0 ? mark.output : " "}  ${fitted(line, width, INDENT_CHARS)}`),
  );
}

function endOf(output: string, { maxOutputChars, maxOutputLines }: FormatOptions): string[] {
  const lines = harmless(output.slice(-maxOutputChars))
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.slice(-maxOutputLines);
}

function excerptOf(output: string, { maxOutputChars, maxOutputLines }: FormatOptions): string[] {
  const shown = harmless(output.slice(0, maxOutputChars))
    .replace(/\n+$/, "")
    .split("\n")
    .slice(0, maxOutputLines);
  return shown.join("").trim() === "" ? [] : shown;
}

function todoList(items: TodoItem[], mark: typeof EMOJI): string[] {
  const done = items.filter(({ status }) => status === "completed").length;
  const percent = items.length === 0 ? 0 : Math.round((done / items.length) * 100);
  const line = ({ text, status }: TodoItem): string => {
    if (status === "in_progress") return `  ${mark.active} ${harmless(text)} ${mark.from} ACTIVE`;
    return `  ${status === "completed" ? mark.ok : mark.pending} ${harmless(text)}`;
  };
  const progress = `  ${mark.progress} Progress: ${done}/${items.length} (${percent}%)`;
  return [`${mark.todo} Todo List`, ...items.map(line), progress];
}

export type Formatter = ReturnType<typeof createFormatter>;

function clockTime(ts: string): string {
  return new Date(ts).toTimeString().slice(0, 8);
}
