import { z } from "zod";
import type { AgentEvent, ResultEvent, TodoItem, TokenUsage } from "../events.js";
import { asJson, defined, maybe, toolEnd, toolStart } from "./read.js";

/** Messages in the form of the Anthropic API, which Claude Code and Amp share. */

const Block = z.object({
  type: z.string(),
  ...maybe.texts("text", "id", "name", "tool_use_id"),
  input: z.unknown().optional(),
  content: z.unknown().optional(),
  is_error: maybe.flag,
});
type Block = z.infer<typeof Block>;

/** A block in a form that nobody knows is passed over; the others are not lost with it. */
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

/** A line with a message. `parent_tool_use_id` is set for what a subagent says or does, in transcripts `isSidechain`. */
export const spoken = {
  message: Message,
  parent_tool_use_id: z.string().nullish().catch(undefined),
  isSidechain: maybe.flag,
};
const Spoken = z.object(spoken);
type Spoken = z.infer<typeof Spoken>;

/** What both say at their end. */
export const ending = { ...maybe.texts("subtype", "result"), is_error: maybe.flag, usage };
const Ending = z.object(ending);

/** An API error comes as subtype `success` with `is_error`: the subtype alone proves nothing. */
export function resultEvent(line: z.infer<typeof Ending>, error: string | undefined): ResultEvent {
  const failed = line.is_error === true || (line.subtype ?? "success") !== "success";
  return {
    type: "result",
    ...defined({ text: line.result, usage: line.usage && tokens(line.usage) }),
    ...(failed && { error: error || line.subtype || "error" }),
  };
}

const Todos = z.object({
  todos: z.array(
    z.object({
      content: z.string(),
      status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
    }),
  ),
});

/** What it read from the cache, and wrote into it, it has read, too. */
export function tokens(usage: z.infer<typeof Usage>): TokenUsage {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function isSubagent({ parent_tool_use_id, isSidechain }: Spoken): boolean {
  return typeof parent_tool_use_id === "string" || isSidechain === true;
}

export function assistantEvents(line: Spoken): AgentEvent[] {
  const { content } = line.message;
  if (typeof content === "string") return [words(content, isSubagent(line))];
  return content.flatMap((block) => assistantBlock(block, isSubagent(line)));
}

/** Tool results; plain text means that somebody else spoke: the prompt, or a hook. */
export function userEvents(line: Spoken): AgentEvent[] {
  const { content } = line.message;
  const bySubagent = isSubagent(line);
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as Block] : content;
  return blocks.flatMap((block): AgentEvent[] => {
    if (block.type === "tool_result" && block.tool_use_id !== undefined) {
      const ended = toolEnd(block.tool_use_id, plainText(block.content), block.is_error ?? false);
      return [bySubagent ? { ...ended, subagent: true } : ended];
    }
    if (block.text === undefined || bySubagent) return [];
    return [{ type: "progress", message: block.text.slice(0, 200), newTurn: true }];
  });
}

function assistantBlock(block: Block, isSubagent: boolean): AgentEvent[] {
  if (block.type === "text" && block.text !== undefined) return [words(block.text, isSubagent)];
  if (block.type !== "tool_use" || block.id === undefined) return [];
  const started = toolStart(block.id, block.name ?? "tool", block.input);
  if (isSubagent) return [{ ...started, subagent: true }];
  const todo = todoItems(block.input);
  return [todo === undefined ? started : { type: "todo", id: block.id, items: todo }];
}

function words(text: string, isSubagent: boolean): AgentEvent {
  return isSubagent ? { type: "text", text, subagent: true } : { type: "text", text };
}

function todoItems(input: unknown): TodoItem[] | undefined {
  const parsed = Todos.safeParse(input);
  if (!parsed.success) return undefined;
  return parsed.data.todos.map(({ content, status }) => ({ text: content, status }));
}

/** The content of a tool result is a string or a list of blocks. */
function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = z.array(z.object({ type: z.string(), text: maybe.text })).safeParse(content);
  if (!blocks.success) return content === undefined || content === null ? "" : asJson(content);
  return blocks.data.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}
