import type { Finding } from "./finding.js";
import type { Story } from "./tasks.js";

/** Stories that wait for something that is not there, or for themselves. */
export function dependencyFindings(stories: Story[]): Finding[] {
  const known = new Map(stories.map((story) => [story.id, story.dependsOn ?? []]));
  const unknown = stories.flatMap(({ id, dependsOn = [] }) =>
    dependsOn
      .filter((other) => !known.has(other))
      .map((other) => told(id, `dependsOn names ${other}, which is no story.`)),
  );
  const cycle = unknown.length > 0 ? undefined : findCycle(known);
  if (cycle === undefined) return unknown;
  return [told(cycle[0] ?? "", `dependsOn goes round in a circle: ${cycle.join(" → ")}.`)];
}

function told(story: string, what: string): Finding {
  return { check: 1, story, message: `Story ${story}: ${what}` };
}

/** Takes away what waits for nothing, again and again: what is left waits for itself. */
function findCycle(waits: Map<string, string[]>): string[] | undefined {
  const left = new Map(waits);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [id, others] of left) if (!others.some((other) => left.has(other))) left.delete(id);
  }
  const [start] = left.keys();
  if (start === undefined) return undefined;
  const path = [start];
  for (;;) {
    const next = (left.get(path.at(-1) ?? "") ?? []).find((other) => left.has(other)) ?? start;
    const seen = path.indexOf(next);
    path.push(next);
    if (seen !== -1) return path.slice(seen);
  }
}
