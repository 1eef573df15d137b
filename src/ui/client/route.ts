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
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (
      link === null ||
      !isPlain ||
      link.target !== "" ||
      link.origin !== location.origin ||
      link.hasAttribute("download")
    )
      return;
    event.preventDefault();
    go(link.pathname);
  });
}
