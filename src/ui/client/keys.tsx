import { signal } from "@preact/signals";
import { Dialog } from "./parts.jsx";
import { go } from "./store.js";

/** Rows that `j` and `k` lead through: links and buttons that are marked so. Without any, they scroll. */
const ROWS = "[data-row]";

function move(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.checkVisibility());
  if (rows.length === 0) scrollBy(0, by * STEP);
  const at = rows.indexOf(document.activeElement?.closest<HTMLElement>(ROWS) as HTMLElement);
  const next =
    rows[at === -1 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const STEP = 80;

function focus(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus();
}

const KEYS: Record<string, () => void> = {
  j: () => move(1),
  k: () => move(-1),
  "/": () => {
    focus("#search");
    if (document.activeElement?.id === "search") return;
    // A phone has room for it on the page of all runs alone.
    go("/");
    setTimeout(() => focus("#search"));
  },
  "?": () => {
    isHelpShown.value = true;
  },
  u: () => go("/"),
  c: () => go("/costs"),
  a: () => focus("textarea"),
};

export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
    const isTyping =
      target instanceof Element && target.closest("input, textarea, select, dialog, .xterm") !== null;
    if (key === "Escape" && isTyping && target instanceof HTMLElement) return target.blur();
    if (isTyping) return;
    const tab = /^[1-9]$/.test(key)
      ? document.querySelectorAll<HTMLElement>(".tabs a")[Number(key) - 1]
      : undefined;
    const action = tab === undefined ? KEYS[key] : () => tab.click();
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

export const isHelpShown = signal(false);

const LEGEND = [
  ["j  k", "the next, the previous; else scroll"],
  ["enter", "open what is selected"],
  ["/", "search the runs"],
  ["1 … 9", "the tabs of a run"],
  ["a", "answer, or steer"],
  ["u", "back to all runs"],
  ["c", "what it costs"],
  ["esc", "close"],
  ["?", "these keys"],
] as const;

export function Help() {
  return (
    <Dialog title="Keys" onClose={() => (isHelpShown.value = false)}>
      <dl class="keys">
        {LEGEND.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </Dialog>
  );
}
