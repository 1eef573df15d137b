import { z } from "zod";
import type { AgentEvent, ResultEvent, TokenUsage } from "../events.js";
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
