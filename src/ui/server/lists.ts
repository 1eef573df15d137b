import { GROUPS, type Group, type Overview, type RunRow } from "../api.js";

/** How many rows of a group are sent unless more are asked for. */
const SHOWN = 50;

export interface RowFilter {
  text: string;
  project: string;
  /** How many of each group. */
  most?: number;
}

export function countsOf(rows: RunRow[]): Record<Group, number> {
  const counts = Object.fromEntries(GROUPS.map((group) => [group, 0])) as Record<Group, number>;
  for (const { group } of rows) counts[group] += 1;
  return counts;
}

/** The newest rows of each group that are wanted. */
export function listOf(
  all: RunRow[],
  { text, project, most = SHOWN }: RowFilter,
): Pick<Overview, "rows" | "counts" | "projects"> {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(
    (row) => (project === "" || row.project === project) && words.every((word) => textOf(row).includes(word)),
  );
  const rows = GROUPS.flatMap((group) => found.filter((row) => row.group === group).slice(0, most));
  const projects = [...new Set(all.map((row) => row.project))].filter(Boolean).sort();
  return { rows, counts: countsOf(found), projects };
}

function textOf({ name, id, task, project, agent, recipe, result, question }: RunRow): string {
  return [name, id, task, project, agent, recipe, result, question?.text ?? ""].join("\n").toLowerCase();
}
