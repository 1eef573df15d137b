import { z } from "zod";
import type { AgentEvent, ToolEndEvent, ToolStartEvent } from "../events.js";

/** Tool output in events is for people and the journal; the raw stream on disk has all of it. */
const MAX_OUTPUT_CHARS = 1000;
const MAX_INPUT_CHARS = 200;
const MAX_UNKNOWN_CHARS = 500;

/** Telling fields of a tool's input, best first. */
const INPUT_FIELDS = [
  "command",
  "cmd",
  "file_path",
  "path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
];

/** A field that may be missing; one in a form that ralph does not know counts as missing. */
export function loose<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.optional().catch(undefined);
}

/** Counts, costs, moments: a negative one, or one that no sum can hold, counts as missing. */
export const optionalNumber = loose(z.number().nonnegative().max(Number.MAX_SAFE_INTEGER));
export const optionalText = loose(z.string());
export const optionalFlag = loose(z.boolean());

/** Turns a line into the events that `read` finds in it; anything unforeseen becomes `unknown`. */
export function lineParser<T>(schema: z.ZodType<T>, read: (value: T) => AgentEvent[]) {
  return (line: string): AgentEvent[] => {
    if (line.trim() === "") return [];
    const parsed = schema.safeParse(parseJson(line));
    return parsed.success ? read(parsed.data) : [unknown(line)];
  };
}

function unknown(line: string): AgentEvent {
  return { type: "unknown", line: line.slice(0, MAX_UNKNOWN_CHARS) };
}

export function toolStart(id: string, name: string, input: unknown): ToolStartEvent {
  return { type: "tool_start", id, name, input: summarize(input) };
}

export function toolEnd(id: string, output: string, isError: boolean): ToolEndEvent {
  return {
    type: "tool_end",
    id,
    isError,
    output: output.slice(0, MAX_OUTPUT_CHARS),
    lines: countLines(output),
    chars: output.length,
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function summarize(input: unknown): string {
  return (telling(input) ?? asJson(input)).slice(0, MAX_INPUT_CHARS).replace(/\s+/g, " ");
}

/** A value nested deep enough cannot be written as JSON. */
export function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

function telling(input: unknown): string | undefined {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return undefined;
  const fields = input as Record<string, unknown>;
  const name = INPUT_FIELDS.find((field) => typeof fields[field] === "string");
  return name === undefined ? undefined : (fields[name] as string);
}

function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
