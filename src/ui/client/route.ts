import { signal } from "@preact/signals";

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
