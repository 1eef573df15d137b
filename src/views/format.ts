import { styleText } from "node:util";

export interface FormatOptions {
  useEmoji: boolean;
  useColor: boolean;
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

export type Color = Parameters<typeof styleText>[0];

/** The signs and colours that every view of a terminal uses. */
export interface Formatter {
  mark: typeof EMOJI;
  paint(color: Color, text: string): string;
}

export function createFormatter({ useEmoji, useColor }: FormatOptions): Formatter {
  return {
    mark: useEmoji ? EMOJI : MARKERS,
    paint: (color, text) => (useColor ? styleText(color, text, { validateStream: false }) : text),
  };
}
