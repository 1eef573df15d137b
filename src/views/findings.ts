import { CATEGORIES, type GuardVerdict } from "../guard/finding.js";
import type { DoctorFinding } from "../setup/doctor/context.js";
import { type Formatter, plural } from "./figures.js";
import { harmless, harmlessLine } from "./harmless.js";
import { hanging, pad, widthOf } from "./layout.js";

/** The findings of `ralph doctor` and `ralph guard`, for people. */

const COLORS = { ok: "green", warning: "yellow", problem: "red" } as const;
const NAME_COLUMNS = 13;
const TITLES: Record<string, string> = { github: "GitHub" };

export function createDoctorLines({ mark, paint }: Formatter, columns: number) {
  const marks = { ok: mark.ok, warning: mark.warning, problem: mark.error };
  const markWidth = Math.max(...Object.values(marks).map((one) => widthOf(one)));
  const indent = " ".repeat(2 + markWidth + 1 + NAME_COLUMNS);

  const lines = ({ name, status, message, fix, installed }: DoctorFinding): string[] => {
    const isAbsent = status === "ok" && installed === false;
    const sign = pad(isAbsent ? "-" : marks[status], markWidth);
    const start = `  ${paint(isAbsent ? "dim" : COLORS[status], sign)} ${harmless(name).padEnd(NAME_COLUMNS)}`;
    const todo = fix === undefined ? [] : hanging(`${indent}${mark.to.padEnd(3)}`, harmless(fix), columns);
    return [
      ...hanging(start, harmless(message), columns).map((line) => (isAbsent ? paint("dim", line) : line)),
      ...todo.map((line) => paint("cyan", line)),
    ];
  };

  return {
    group: (group: string, findings: DoctorFinding[]): string[] => [
      paint("bold", TITLES[group] ?? group.charAt(0).toUpperCase() + group.slice(1)),
      ...findings.flatMap(lines),
      "",
    ],
    closing(findings: DoctorFinding[]): string {
      const count = (status: DoctorFinding["status"]): number =>
        findings.filter((one) => one.status === status).length;
      const worst = (["problem", "warning"] as const).find((status) => count(status) > 0) ?? "ok";
      const words = `${plural(count("problem"), "problem")}, ${plural(count("warning"), "warning")}.`;
      return paint(COLORS[worst], `${marks[worst]} ${words.replace(/^0/, "No").replace(" 0 ", " no ")}`);
    },
  };
}

export function guardLines(
  { allowed, refusals, warnings }: GuardVerdict,
  { mark, paint }: Formatter,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const verdict = allowed ? `${mark.ok} The guard allows it.` : `${mark.error} The guard refuses it.`;
  return [
    paint(allowed ? "green" : "red", verdict),
    ...[...refusals, ...warnings].flatMap(({ category, level, reason, command }) => [
      `  ${paint("bold", `${CATEGORIES[category]}${level === "warn" ? ", a warning" : ""}`)}`,
      ...hanging("    ", harmlessLine(reason), columns),
      ...(command === "" ? [] : hanging("    ", harmlessLine(`in: ${command}`), columns)),
    ]),
  ];
}
