import { signal } from "@preact/signals";
import { Dialog } from "./parts.jsx";

export const isHelpShown = signal(false);

const KEYS = [
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
        {KEYS.map(([key, what]) => (
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
