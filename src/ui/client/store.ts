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

/** Where the page is: the path of its address. */
export const path = signal(location.pathname);

export function go(to: string): void {
  if (to !== location.pathname) history.pushState(null, "", to);
  path.value = location.pathname;
  scrollTo(0, 0);
}

/** Links within the dashboard change the page without loading it again. */
export function startRouting(): void {
  addEventListener("popstate", () => {
    path.value = location.pathname;
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    // Bars of a timeline are links, too.
    const to = link === null ? undefined : new URL(link.getAttribute("href") ?? "", location.href);
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (to === undefined || !isPlain || to.origin !== location.origin || to.hash !== "") return;
    event.preventDefault();
    go(to.pathname);
  });
}

/** A part of a run: an iteration, of one lane where the run has several, or a lane. */
export interface Place {
  iteration?: number | undefined;
  lane?: string | null | undefined;
}

/** `2`, `2@claude-1`, `@claude-1`. */
export function placeIn(part: string): Place {
  const [, number = "", lane] = /^(\d*)(?:@(.*))?$/.exec(decoded(part)) ?? [];
  return { iteration: number === "" ? undefined : Number(number), lane };
}

export function pathOf(run: string, tab: string, { iteration, lane }: Place = {}): string {
  const part = `${iteration ?? ""}${lane == null ? "" : `@${encodeURIComponent(lane)}`}`;
  return ["/runs", run, tab, part].filter(Boolean).join("/");
}

/** The same for the server. */
export function queryOf({ iteration, lane }: Place): string {
  const query = new URLSearchParams({
    ...(iteration !== undefined && { iteration: String(iteration) }),
    ...(lane != null && { lane }),
  });
  return `?${query}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
