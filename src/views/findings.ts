import { plural } from "./figures.js";
import type { Formatter } from "./format.js";
import { harmless, harmlessLine } from "./harmless.js";
import { widthOf, wrap } from "./layout.js";

/** What `ralph doctor` and `ralph guard` found, as people read it. */

/** One thing that the doctor examined. */
export interface DoctorFinding {
  name: string;
  status: "ok" | "warning" | "problem";
  message: string;
  /** What to do about it. */
  fix?: string;
  /** false: it is not there, and need not be. */
  installed?: boolean;
}

const COLORS = { ok: "green", warning: "yellow", problem: "red" } as const;
const NAME_COLUMNS = 13;
const ARROW_COLUMNS = 3;
const LEAST_COLUMNS = 30;

export function createDoctorLines({ mark, paint }: Formatter, columns: number) {
  const marks = { ok: mark.ok, warning: mark.warning, problem: mark.error };
  const markWidth = Math.max(...Object.values(marks).map((one) => widthOf(one)));
  const indent = " ".repeat(2 + markWidth + 1 + NAME_COLUMNS);
  const room = Math.max(columns - indent.length, LEAST_COLUMNS);

  const lines = ({ name, status, message, fix, installed }: DoctorFinding): string[] => {
    const isAbsent = status === "ok" && installed === false;
    const sign = isAbsent ? "-" : marks[status];
    const space = " ".repeat(markWidth - widthOf(sign));
    const start = `  ${paint(isAbsent ? "dim" : COLORS[status], sign)}${space}`;
    const [first = "", ...more] = wrap(harmless(message), room);
    const todo = fix === undefined ? [] : wrap(harmless(fix), room - ARROW_COLUMNS);
    const [arrow, below] = [`${mark.to} `.padEnd(ARROW_COLUMNS), " ".repeat(ARROW_COLUMNS)];
    return [
      `${start} ${harmless(name).padEnd(NAME_COLUMNS - 1)} ${isAbsent ? paint("dim", first) : first}`,
      ...more.map((line) => `${indent}${line}`),
      ...todo.map((line, index) => `${indent}${paint("cyan", `${index === 0 ? arrow : below}${line}`)}`),
    ];
  };

  const counted = (findings: DoctorFinding[], status: DoctorFinding["status"]): string => {
    const count = findings.filter((finding) => finding.status === status).length;
    return count === 0 ? `no ${status}s` : plural(count, status);
  };

  return {
    group: (group: string, findings: DoctorFinding[]): string[] => [
      paint("bold", capitalized(group)),
      ...findings.flatMap(lines),
      "",
    ],
    closing(findings: DoctorFinding[]): string {
      const isThere = (status: DoctorFinding["status"]) => findings.some((one) => one.status === status);
      const worst = (["problem", "warning"] as const).find(isThere) ?? "ok";
      const words = capitalized(`${counted(findings, "problem")}, ${counted(findings, "warning")}.`);
      return paint(COLORS[worst], `${marks[worst]} ${words}`);
    },
  };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What the guard says about a part of a command. */
export interface GuardReason {
  title: string;
  reason: string;
  command: string;
}

/** Whether a command would run, and why not. */
export function guardLines(
  allowed: boolean,
  reasons: GuardReason[],
  { mark, paint }: Formatter,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const indented = (text: string): string[] => wrap(harmlessLine(text), columns - INDENT.length);
  return [
    allowed ? paint("green", `${mark.ok} It would run.`) : paint("red", `${mark.error} It would be refused.`),
    ...reasons.flatMap(({ title, reason, command }) => [
      `  ${paint("bold", title)}`,
      ...indented(reason).map((line) => `${INDENT}${line}`),
      ...(command === "" ? [] : indented(`in: ${command}`).map((line) => `${INDENT}${paint("dim", line)}`)),
    ]),
  ];
}

const INDENT = "    ";
