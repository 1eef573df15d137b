import type { Finding } from "./finding.js";
import type { Before, Snapshot } from "./snapshot.js";
import type { Mode, ReviewRules, Story } from "./tasks.js";

export interface Transition extends ReviewRules {
  /** null: nobody's turn, so that nothing may change. */
  mode: Mode | null;
  before: Snapshot;
  /** Verify commands that failed when they were last run. */
  failing?: string[];
}

type Field = "passes" | "reviewStatus" | "reviewCount";
const FIELDS: Field[] = ["passes", "reviewStatus", "reviewCount"];

/** A story whose review fields changed. */
export interface Move {
  story: Story;
  old: Before;
  changed: Field[];
}

export function moveOf(story: Story, old: Before): Move {
  return { story, old, changed: FIELDS.filter((field) => story[field] !== old[field]) };
}

export function isMove({ changed }: Move): boolean {
  return changed.length > 0;
}

/** `passes false → true`: the change that matters most. */
export function arrow({ story, old, changed }: Move): string {
  return changed.map((field) => `${field} ${old[field]} → ${story[field]}`).join(", ");
}

export function told({ story, changed }: Move, message: string): Finding {
  return { check: 2.5, story: story.id, field: changed[0] ?? "reviewStatus", message };
}
