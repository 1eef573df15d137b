import { formatDuration } from "../../duration.js";
import type { LoopRow } from "../../workers/worker.js";
import { costCell } from "../figures.js";
import type { Color, Formatter } from "../format.js";
import { broken, screenText, wrap } from "../layout.js";
import type { Live } from "./live.js";
import type { WatchState } from "./state.js";

export interface Canvas extends Formatter {
  room: number;
  cut(text: string, room?: number): string;
}

const QUESTION_LINES = 4;

/** The selected row: its state, its checks, its question, and the end of its output. */
export function paneLines(row: LoopRow, live: Live | undefined, height: number, canvas: Canvas): string[] {
  const own = live?.run === row.run ? live : undefined;
  const { paint, cut, mark, room } = canvas;
  const standing = [screenText(row.name), row.result, ...figures(row)].filter((word) => word !== "-");
  const about = [row.recipe, row.tags.join(", "), row.workspace]
    .map(screenText)
    .filter((word) => word !== "");
  const asks = row.question === null ? [] : wrap(`asks: ${screenText(row.question)} (a answers)`, room);
  const question = asks.flatMap((line) => broken(line, room)).slice(0, QUESTION_LINES);
  const head = [
    paint("bold", cut(standing.join(mark.dot))),
    paint("dim", cut(about.join(mark.dot))),
    ...checkLines(own, canvas),
    ...question.map((line) => paint("yellow", line)),
  ].slice(0, height);
  return [...head, ...endOf(own?.lines ?? [], 0, height - head.length, canvas)];
}

export function figures({ status, iteration, maxIterations, activeMs, costUsd }: LoopRow): string[] {
  if (status === "unknown") return ["-", "-", "-"];
  const time = formatDuration(Math.floor(activeMs / 1000) * 1000).replace(".0s", "s");
  return [maxIterations > 0 ? `${iteration}/${maxIterations}` : String(iteration), time, costCell(costUsd)];
}

function checkLines(live: Live | undefined, { paint, cut, mark }: Canvas): string[] {
  const checks = live?.checks.filter(({ skipped }) => skipped === null) ?? [];
  if (checks.length === 0) return [];
  const signs = checks.map(
    ({ passed, command }) => `${passed ? mark.pass : mark.fail} ${screenText(command)}`,
  );
  const color: Color = checks.every(({ passed }) => passed) ? "green" : "red";
  return [paint(color, cut(`checks: ${signs.join("  ")}`))];
}

/** The last lines that fit; `back`: without so many at the end. */
function endOf(lines: string[], back: number, height: number, { room }: Canvas): string[] {
  const shown: string[] = [];
  for (let at = lines.length - 1 - back; at >= 0 && shown.length < height; at -= 1)
    shown.unshift(...broken(lines[at] as string, room));
  return height <= 0 ? [] : shown.slice(-height);
}

/** The page that fills the screen: a log, a report or a diff. */
export function pageLines(
  { lines, at }: WatchState["mode"] & { kind: "page" },
  live: Live | undefined,
  height: number,
  canvas: Canvas,
): string[] {
  if (lines === undefined) return endOf(live?.lines ?? [], at, height, canvas);
  const shown: string[] = [];
  for (let index = at; index < lines.length && shown.length < height; index += 1) {
    const line = lines[index] as string;
    const color = DIFF_COLORS[line[0] ?? ""];
    shown.push(...broken(line, canvas.room).map((one) => (color ? canvas.paint(color, one) : one)));
  }
  return shown.slice(0, height);
}

const DIFF_COLORS: Record<string, Color> = { "+": "green", "-": "red", "@": "cyan" };
