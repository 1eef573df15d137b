import { signal } from "@preact/signals";
import type { Group, Overview, RunRow } from "../api.js";

/** What the page knows. All of it came from the server, and can be asked for again. */

export const overview = signal<Overview | undefined>(undefined);
/** undefined: all is well. */
export const trouble = signal<string | undefined>(undefined);
export const search = signal("");
export const project = signal("");
/** How many rows of each group are asked for. */
export const most = signal(50);
/** A line that says what an action has done. */
export const notice = signal<{ text: string; isError: boolean } | undefined>(undefined);
/** Ticks each second, for times that go on. */
export const now = signal(Date.now());

export class Refusal extends Error {}

/** Throws with the server's own words. */
export async function ask<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return answered(await fetch(path, { ...(signal && { signal }), headers: { Accept: "application/json" } }));
}

export async function post(path: string, wish: unknown): Promise<string> {
  const body = JSON.stringify(wish);
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  return (await answered<{ said: string }>(response)).said;
}

async function answered<Answer>(response: Response): Promise<Answer> {
  if (response.status === 401) trouble.value = "This browser has no access: open the link of ralph ui again.";
  const said = (await response.json().catch(() => ({ error: response.statusText }))) as Answer & {
    error?: string;
  };
  if (!response.ok) throw new Refusal(said.error ?? "the server refused");
  return said;
}

export function tell(text: string, isError = false): void {
  notice.value = { text, isError };
}

let asked = 0;

export async function loadOverview(): Promise<void> {
  asked += 1;
  const own = asked;
  const query = new URLSearchParams({ q: search.value, project: project.value, most: String(most.value) });
  try {
    const found = await ask<Overview>(`/api/overview?${query}`);
    // What was typed since has a newer answer.
    if (own === asked) overview.value = found;
  } catch (error) {
    if (!(error instanceof Refusal)) trouble.value = "The server does not answer: is ralph ui still running?";
  }
}

/** Takes rows that have changed into the list; with a filter, the list is asked for again. */
export function takeRows(rows: RunRow[], gone: string[], counts: Record<Group, number>): void {
  const known = overview.value;
  if (known === undefined) return;
  if (search.value !== "" || project.value !== "") return void loadOverview();
  const changed = new Map(rows.map((row) => [row.id, row]));
  const kept = known.rows.filter(({ id }) => !gone.includes(id)).map((row) => changed.get(row.id) ?? row);
  const ids = new Set(kept.map(({ id }) => id));
  const all = [...rows.filter(({ id }) => !ids.has(id)), ...kept].sort((a, b) => (a.id < b.id ? 1 : -1));
  const projects = [...new Set([...known.projects, ...rows.map((row) => row.project)])]
    .filter(Boolean)
    .sort();
  overview.value = { ...known, rows: all, counts, projects };
}
