import { styleText } from "node:util";

export interface FormatOptions {
  useEmoji: boolean;
  useColor: boolean;
}

/** Each sign, and its replacement without emoji. */
const MARKS = {
  ok: ["✅", "[OK]"],
  error: ["❌", "[ERR]"],
  tool: ["⏺", "*"],
  todo: ["📋", "[TODO]"],
  pending: ["⏸️", "[ ]"],
  active: ["🔄", "[>]"],
  progress: ["📊", "[..]"],
  warning: ["⚠️", "[WARN]"],
  alarm: ["🚨", "[!!]"],
  output: ["⎿", "|"],
  from: ["←", "<-"],
  to: ["→", "->"],
  pass: ["✓", "P"],
  fail: ["✗", "F"],
  selected: ["❯", ">"],
  more: ["…", "..."],
  dot: [" · ", ", "],
  rule: ["─", "-"],
  bar: ["│", "|"],
} satisfies Record<string, [emoji: string, plain: string]>;

export type Color = Parameters<typeof styleText>[0];

export interface Formatter {
  mark: Record<keyof typeof MARKS, string>;
  paint(color: Color, text: string): string;
}

export function createFormatter({ useEmoji, useColor }: FormatOptions): Formatter {
  const signs = Object.entries(MARKS).map(([name, [emoji, plain]]) => [name, useEmoji ? emoji : plain]);
  return {
    mark: Object.fromEntries(signs) as Formatter["mark"],
    paint: (color, text) => (useColor ? styleText(color, text, { validateStream: false }) : text),
  };
}
