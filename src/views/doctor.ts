import type { Finding, Status } from "../setup/doctor/finding.js";
import type { Formatter } from "./format.js";
import { harmless } from "./harmless.js";
import { wrap } from "./wrap.js";

/** What `ralph doctor` found, as people read it. */
export function createDoctorLines(format: Formatter, columns: number) {
  const marks = { ok: format.mark.ok, warning: format.mark.warning, problem: format.mark.error };
  const markWidth = Math.max(...Object.values(marks).map(cells));
  const indent = " ".repeat(2 + markWidth + 1 + NAME_CELLS);
  const room = Math.max(columns - indent.length, MIN_ROOM);

  const lines = ({ name, status, message, fix, installed }: Finding): string[] => {
    const isAbsent = status === "ok" && installed === false;
    const mark = isAbsent ? "-" : marks[status];
    const color = isAbsent ? "dim" : COLORS[status];
    const start = `  ${format.paint(color, mark)}${" ".repeat(markWidth - cells(mark) + 1)}`;
    const [first = "", ...more] = wrap(harmless(message), room);
    const [todo = "", ...rest] = fix === undefined ? [] : wrap(harmless(fix), room - ARROW_CELLS);
    const arrow = `${format.mark.to} `.padEnd(ARROW_CELLS);
    return [
      `${start}${harmless(name).padEnd(NAME_CELLS - 1)} ${isAbsent ? format.paint("dim", first) : first}`,
      ...more.map((line) => `${indent}${line}`),
      ...(todo === "" ? [] : [`${indent}${format.paint("cyan", `${arrow}${todo}`)}`]),
      ...rest.map((line) => `${indent}${" ".repeat(ARROW_CELLS)}${format.paint("cyan", line)}`),
    ];
  };

  return {
    group: (group: string, findings: Finding[]): string[] => [
      format.paint("bold", group.charAt(0).toUpperCase() + group.slice(1)),
      ...findings.flatMap(lines),
      "",
    ],
    closing(findings: Finding[]): string {
      const worst = ORDER.find((status) => findings.some((finding) => finding.status === status)) ?? "ok";
      return format.paint(COLORS[worst], `${marks[worst]} ${countedWords(findings)}`);
    },
  };
}

const COLORS = { ok: "green", warning: "yellow", problem: "red" } as const;
const ORDER: Status[] = ["problem", "warning"];
const NAME_CELLS = 13;
const ARROW_CELLS = 3;
const MIN_ROOM = 30;

/** Pictures are two columns wide, whatever their length. */
function cells(mark: string): number {
  return /^[\x20-\x7e]*$/.test(mark) ? mark.length : 2;
}

function countedWords(findings: Finding[]): string {
  const count = (status: Status, word: string): string => {
    const found = findings.filter((finding) => finding.status === status).length;
    return `${found === 0 ? "no" : found} ${word}${found === 1 ? "" : "s"}`;
  };
  const words = `${count("problem", "problem")}, ${count("warning", "warning")}.`;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
