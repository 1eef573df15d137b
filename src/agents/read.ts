import { z } from "zod";
import { orElse } from "../errors.js";
import type {
  AgentEvent,
  ProgressEvent,
  ResultEvent,
  TokenUsage,
  ToolEndEvent,
  ToolStartEvent,
} from "../events.js";

/** Tool output in events is for people and the journal; the raw stream on disk has all of it. */
const MAX_OUTPUT_CHARS = 1000;
const MAX_INPUT_CHARS = 200;
const MAX_UNKNOWN_CHARS = 500;

/** Telling fields of a tool's input, best first. */
const INPUT_FIELDS = "command cmd file_path path pattern query url description prompt".split(" ");

/** A field that may be missing; one in a form that ralph does not know counts as missing. */
function loose<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.optional().catch(undefined);
}

const text = loose(z.string());
/** Counts, costs, moments: a negative one, or one that no sum can hold, counts as missing. */
const number = loose(z.number().nonnegative().max(Number.MAX_SAFE_INTEGER));

function all<Name extends string, T>(names: Name[], value: T): Record<Name, T> {
  return Object.fromEntries(names.map((name) => [name, value])) as Record<Name, T>;
}

export const maybe = {
  of: loose,
  text,
  number,
  flag: loose(z.boolean()),
  /** Null or a number of any kind, such as an exit code. */
  code: z.number().nullish().catch(undefined),
  texts: <Name extends string>(...names: Name[]) => all(names, text),
  numbers: <Name extends string>(...names: Name[]) => all(names, number),
  object: <Shape extends z.ZodRawShape>(shape: Shape) => loose(z.object(shape)),
  list: <T>(schema: z.ZodType<T>) => loose(z.array(schema)),
};

type Defined<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** Without the fields that the agent did not tell. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

export function session(id: string | undefined): ProgressEvent {
  return { type: "progress", message: `session ${id ?? ""}`.trim() };
}

type Read = (line: unknown) => AgentEvent[] | undefined;

/** One type of line: its fields, and the events in it. */
export function on<Shape extends z.ZodRawShape>(
  shape: Shape,
  eventsOf: (line: z.infer<z.ZodObject<Shape>>) => AgentEvent[],
): Read {
  const schema = z.object(shape);
  return (line) => {
    const parsed = schema.safeParse(line);
    return parsed.success ? eventsOf(parsed.data) : undefined;
  };
}

/** Turns a line into its events, by the `type` in it; anything unforeseen becomes `unknown`. */
export function lineParser(types: Record<string, Read>): (line: string) => AgentEvent[] {
  const reads = new Map(Object.entries(types));
  return (text) => {
    if (text.trim() === "") return [];
    let events: AgentEvent[] | undefined;
    try {
      const line = JSON.parse(text) as { type?: unknown } | null;
      events = reads.get(line?.type as string)?.(line);
    } catch {
      // It is no JSON.
    }
    return events ?? [{ type: "unknown", line: text.slice(0, MAX_UNKNOWN_CHARS) }];
  };
}

export function toolStart(id: string, name: string, input: unknown): ToolStartEvent {
  const summary = (telling(input) ?? asJson(input)).slice(0, MAX_INPUT_CHARS).replace(/\s+/g, " ");
  return { type: "tool_start", id, name, input: summary };
}

export function toolEnd(id: string, output: string, isError: boolean): ToolEndEvent {
  let lines = output === "" || output.endsWith("\n") ? 0 : 1;
  for (let at = output.indexOf("\n"); at !== -1; at = output.indexOf("\n", at + 1)) lines += 1;
  const shown = output.slice(0, MAX_OUTPUT_CHARS);
  return { type: "tool_end", id, isError, output: shown, lines, chars: output.length };
}

/** A value nested deep enough cannot be written as JSON. */
function asJson(value: unknown): string {
  return orElse(() => JSON.stringify(value) ?? "", "");
}

function telling(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return undefined;
  const fields = input as Record<string, unknown>;
  const name = INPUT_FIELDS.find((field) => typeof fields[field] === "string");
  return name === undefined ? undefined : (fields[name] as string);
}

/** Messages in the form of the Anthropic API, which Claude Code and Amp share. */

const Block = z.object({
  type: z.string(),
  ...maybe.texts("text", "id", "name", "tool_use_id"),
  input: z.unknown().optional(),
  content: z.unknown().optional(),
  is_error: maybe.flag,
});
type Block = z.infer<typeof Block>;

/** A block in an unknown form must not lose the others. */
const UNREADABLE: Block = { type: "unreadable" } as Block;

const Usage = z.object({
  ...maybe.numbers("input_tokens", "output_tokens"),
  ...maybe.numbers("cache_read_input_tokens", "cache_creation_input_tokens"),
});
export const usage = maybe.of(Usage);

export const Message = z.object({
  id: maybe.text,
  content: z.union([z.string(), z.array(Block.catch(UNREADABLE))]).catch([]),
  usage,
});
export type Message = z.infer<typeof Message>;

/** A line with a message. `parent_tool_use_id` (`isSidechain` in transcripts) marks a subagent's lines. */
export const spoken = {
  message: Message,
  parent_tool_use_id: z.string().nullish().catch(undefined),
  isSidechain: maybe.flag,
};
type SpokenLine = z.infer<z.ZodObject<typeof spoken>>;

/** How both report their end. */
export const ending = { ...maybe.texts("subtype", "result"), is_error: maybe.flag, usage };

/** An API error has the subtype `success` with `is_error`: the subtype alone proves nothing. */
export function resultEvent(
  line: z.infer<z.ZodObject<typeof ending>>,
  error: string | undefined,
): ResultEvent {
  const failed = line.is_error === true || (line.subtype ?? "success") !== "success";
  return {
    type: "result",
    ...defined({ text: line.result, usage: line.usage && tokens(line.usage) }),
    ...(failed && { error: error || line.subtype || "error" }),
  };
}

/** Tokens read from the cache or written to it count as read. */
export function tokens(usage: z.infer<typeof Usage>): TokenUsage {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  const inputTokens = (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens;
  return { inputTokens, outputTokens: usage.output_tokens ?? 0, cacheReadTokens, cacheWriteTokens };
}

/** The blocks of a line, and the mark on events of a subagent. */
function blocksOf({ message: { content }, parent_tool_use_id, isSidechain }: SpokenLine) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as Block] : content;
  const bySubagent = typeof parent_tool_use_id === "string" || isSidechain === true;
  return { blocks, mark: bySubagent && ({ subagent: true } as const) };
}

const Todo = z.object({
  content: z.string(),
  status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
});
const Todos = z.object({ todos: z.array(Todo) });

export function assistantEvents(line: SpokenLine): AgentEvent[] {
  const { blocks, mark } = blocksOf(line);
  return blocks.flatMap(({ type, text, id, name = "tool", input }): AgentEvent[] => {
    if (type === "text" && text !== undefined) return [{ type: "text", text, ...mark }];
    if (type !== "tool_use" || id === undefined) return [];
    const { data } = mark ? {} : Todos.safeParse(input);
    if (data === undefined) return [{ ...toolStart(id, name, input), ...mark }];
    return [
      { type: "todo", id, items: data.todos.map(({ content, status }) => ({ text: content, status })) },
    ];
  });
}

/** Tool results; plain text means that somebody else spoke: the prompt, or a hook. */
export function userEvents(line: SpokenLine): AgentEvent[] {
  const { blocks, mark } = blocksOf(line);
  return blocks.flatMap(({ type, text, tool_use_id: id, content, is_error = false }): AgentEvent[] => {
    if (type === "tool_result" && id !== undefined)
      return [{ ...toolEnd(id, plainText(content), is_error), ...mark }];
    return text === undefined || mark
      ? []
      : [{ type: "progress", message: text.slice(0, 200), newTurn: true }];
  });
}

/** The content of a tool result is a string or a list of blocks. */
function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = z.array(z.object({ type: z.string(), text: maybe.text })).safeParse(content);
  if (!blocks.success) return content === undefined || content === null ? "" : asJson(content);
  return blocks.data.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}
