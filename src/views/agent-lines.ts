import type { AgentEvent, TodoItem } from "../events.js";
import { excerptLines } from "../verify/excerpt.js";
import { type Color, createFormatter, type FormatOptions, type Formatter, plural } from "./figures.js";
import { harmless } from "./harmless.js";

export interface ConsoleFormat extends FormatOptions {
  /** `[HH:MM:SS]` before each line. */
  showTimestamp: boolean;
  maxOutputLines: number;
  maxOutputChars: number;
  /** Sessions, thoughts and other things that are of no use most of the time. */
  showProgress: boolean;
  /** The terminal, if there is one: its columns, and the functions that fit lines into them. */
  terminal?:
    | { columns: number; layout: Pick<typeof import("./layout.js"), "cut" | "wrap" | "hanging"> }
    | undefined;
}

export type ConsoleFormatter = ReturnType<typeof createConsoleFormatter>;

/** An indent, and emoji that some terminals draw wider. */
const PARAGRAPH_MARGIN = 3;
/** The characters around the input of a call, and before a line of output. */
const CALL_CHARS = 4;
const INDENT_CHARS = 5;
const LEAST_COLUMNS = 20;
/** The width of a tab depends on where it stands. */
const TAB = "    ";
const SUBJECT_CHARS = 20;
const EXCERPT_LINES = 8;

/** Turns an agent's events into lines. Keeps only what later lines need. */
export function createConsoleFormatter(options: ConsoleFormat) {
  const { terminal, maxOutputChars, maxOutputLines, showTimestamp } = options;
  const formatter = createFormatter(options);
  const { mark, paint } = formatter;
  /** What the lines are about, such as a story. */
  let subject = "";
  const room = (): number => (terminal?.columns ?? 0) - subject.length;
  const fitted = (line: string, taken: number): string =>
    terminal?.layout.cut(line.replaceAll("\t", TAB), Math.max(room() - taken, LEAST_COLUMNS)) ?? line;
  const indented = (lines: string[]): string[] =>
    lines.map((line, index) =>
      paint("dim", `  ${index === 0 ? mark.output : " "}  ${fitted(line, INDENT_CHARS)}`),
    );
  const show = agentLines(options, formatter, fitted, indented);
  let unfinished = "";
  /** Prints the unfinished line. */
  const flush = (): string[] => {
    const line = unfinished;
    unfinished = "";
    return line === "" ? [] : [harmless(line)];
  };
  return {
    ...formatter,
    flush,
    event(event: AgentEvent): string[] {
      if (event.type !== "text" || !event.delta)
        return [...flush(), ...(show[event.type] as (event: AgentEvent) => string[])(event)];
      const lines = (unfinished + event.text).split("\n");
      unfinished = lines.pop() ?? "";
      return lines.map(harmless);
    },
    /** A line of ralph's own in the width of the terminal, with what does not fit indented below. */
    paragraph(text: string, color?: Color): string[] {
      const line = text.trim().replace(/\s+/g, " ");
      const lines = terminal?.layout.wrap(line, Math.max(room() - PARAGRAPH_MARGIN, LEAST_COLUMNS)) ?? [line];
      const painted = (one: string): string => (color === undefined ? one : paint(color, one));
      return lines.map((one, index) => `${index === 0 ? "" : "  "}${painted(one)}`);
    },
    /** A text after its label; the rest is indented below. */
    hanging: (start: string, text: string): string[] =>
      terminal?.layout.hanging(start, text, terminal.columns - 1) ?? [`${start}${text}`],
    /** The lines of an output that name failures, and the last ones. */
    excerpt(output: string): string[] {
      const lines = excerptLines(harmless(output), Math.max(EXCERPT_LINES, maxOutputLines));
      return indented(lines.map((line) => line.slice(0, maxOutputChars)));
    },
    /** The lines that follow begin with it. */
    about(text: string | undefined): void {
      subject = text === undefined ? "" : `${harmless(text).replace(/\s+/g, " ").slice(0, SUBJECT_CHARS)} · `;
    },
    stamp(line: string, ts: string): string {
      const time = showTimestamp ? paint("dim", `[${new Date(ts).toTimeString().slice(0, 8)}] `) : "";
      return `${time}${line === "" ? "" : paint("dim", subject)}${line}`;
    },
  };
}

type AgentLines = { [Type in AgentEvent["type"]]: (event: AgentEvent & { type: Type }) => string[] };

function agentLines(
  { maxOutputChars, maxOutputLines, showProgress }: ConsoleFormat,
  { mark, paint }: Formatter,
  fitted: (line: string, taken: number) => string,
  indented: (lines: string[]) => string[],
): AgentLines {
  const names = new Map<string, string>();
  const shownAsList = new Set<string>();
  const warning = (text: string): string[] => [paint("yellow", `${mark.warning} ${harmless(text)}`)];
  const progress = (text: string): string[] =>
    showProgress && text !== "" ? [paint("dim", harmless(text))] : [];
  return {
    text: ({ text }) => (text.trim() === "" ? [] : harmless(text).replace(/\n+$/, "").split("\n")),
    tool_start(event) {
      const name = harmless(event.name);
      names.set(event.id, name);
      const input = fitted(harmless(event.input), name.length + CALL_CHARS);
      return [`${paint("cyan", mark.tool)} ${paint("bold", name)}(${input})`];
    },
    tool_end({ id, output, isError, lines, chars }) {
      if (shownAsList.delete(id)) return [];
      const name = names.get(id) ?? "tool";
      names.delete(id);
      const size = paint("dim", `(${plural(lines, "line")}, ${chars} chars)`);
      const what = isError ? paint("red", `${mark.error} Error`) : paint("green", `${mark.ok} Result`);
      const start = harmless(output.slice(0, maxOutputChars)).replace(/\n+$/, "");
      const shown = start.split("\n").slice(0, maxOutputLines);
      const excerpt = shown.join("").trim() === "" ? [] : indented(shown);
      return [`${what} ${mark.from} ${name} ${size}`, ...excerpt];
    },
    todo({ id, items }) {
      if (id !== undefined) shownAsList.add(id);
      return todoList(items, mark);
    },
    error: ({ message }) => warning(message),
    rate_limit: ({ status }) => (status === "allowed" ? [] : warning(`Usage limit: ${status}`)),
    progress: ({ message }) => progress(message),
    unknown: ({ line }) => progress(line),
    result: () => [],
  };
}

function todoList(items: TodoItem[], mark: Formatter["mark"]): string[] {
  const done = items.filter(({ status }) => status === "completed").length;
  const percent = items.length === 0 ? 0 : Math.round((done / items.length) * 100);
  const signs = { completed: mark.ok, in_progress: mark.active, pending: mark.pending };
  return [
    `${mark.todo} Todo List`,
    ...items.map(({ text, status }) => {
      const active = status === "in_progress" ? ` ${mark.from} ACTIVE` : "";
      return `  ${signs[status]} ${harmless(text)}${active}`;
    }),
    `  ${mark.progress} Progress: ${done}/${items.length} (${percent}%)`,
  ];
}
