import { z } from "zod";
import { orElse } from "../errors.js";
import type { AgentEvent, ProgressEvent, ToolEndEvent, ToolStartEvent } from "../events.js";

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
export function asJson(value: unknown): string {
  return orElse(() => JSON.stringify(value) ?? "", "");
}

function telling(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return undefined;
  const fields = input as Record<string, unknown>;
  const name = INPUT_FIELDS.find((field) => typeof fields[field] === "string");
  return name === undefined ? undefined : (fields[name] as string);
}
