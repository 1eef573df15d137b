import { z } from "zod";
import type { AgentEvent, TodoItem, TokenUsage } from "../events.js";
import { asJson, loose, optionalFlag, optionalNumber, optionalText, toolEnd, toolStart } from "./read.js";

/** Messages in the form of the Anthropic API, which Claude Code and Amp share. */

const Block = z.object({
  type: z.string(),
  text: optionalText,
  id: optionalText,
  name: optionalText,
  input: z.unknown().optional(),
  tool_use_id: optionalText,
  content: z.unknown().optional(),
  is_error: optionalFlag,
});
type Block = z.infer<typeof Block>;

/** A block in a form that nobody knows is passed over; the others are not lost with it. */
const UNREADABLE: Block = { type: "unreadable" } as Block;

export const Usage = z.object({
  input_tokens: optionalNumber,
  output_tokens: optionalNumber,
  cache_read_input_tokens: optionalNumber,
  cache_creation_input_tokens: optionalNumber,
});

/** Set for what a subagent says or does. */
export const parentId = z.string().nullish().catch(undefined);

export const Message = z.object({
  id: optionalText,
  content: z.union([z.string(), z.array(Block.catch(UNREADABLE))]).catch([]),
  usage: loose(Usage),
});
export type Message = z.infer<typeof Message>;

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

export function assistantEvents({ content }: Message, isSubagent: boolean): AgentEvent[] {
  if (typeof content === "string") return [words(content, isSubagent)];
  return content.flatMap((block) => assistantBlock(block, isSubagent));
}

/** Tool results; plain text means that somebody else spoke: the prompt, or a hook. */
export function userEvents({ content }: Message, isSubagent: boolean): AgentEvent[] {
  if (typeof content === "string") return isSubagent ? [] : [newTurn(content)];
  return content.flatMap((block) => {
    if (block.type === "tool_result" && block.tool_use_id !== undefined) {
      const ended = toolEnd(block.tool_use_id, plainText(block.content), block.is_error ?? false);
      return [isSubagent ? { ...ended, subagent: true } : ended];
    }
    return block.text === undefined || isSubagent ? [] : [newTurn(block.text)];
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

function newTurn(text: string): AgentEvent {
  return { type: "progress", message: text.slice(0, 200), newTurn: true };
}

function todoItems(input: unknown): TodoItem[] | undefined {
  const parsed = Todos.safeParse(input);
  if (!parsed.success) return undefined;
  return parsed.data.todos.map(({ content, status }) => ({ text: content, status }));
}

/** The content of a tool result is a string or a list of blocks. */
function plainText(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks = z.array(z.object({ type: z.string(), text: optionalText })).safeParse(content);
  if (!blocks.success) return content === undefined || content === null ? "" : asJson(content);
  return blocks.data.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}
