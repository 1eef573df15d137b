import type { ComponentChildren, TargetedSubmitEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Action, RunPage, RunRow } from "../api.js";
import { Dialog } from "./parts.jsx";
import { loadOverview, overview, post, tell } from "./store.js";

/** Asks for something and says what came of it. Returns whether it was done. */
export async function act(run: string, wish: object): Promise<boolean> {
  try {
    tell(await post(`/api/runs/${run}`, wish));
    void loadOverview();
    return true;
  } catch (error) {
    tell((error as Error).message, true);
    void loadOverview();
    return false;
  }
}

/** A field for words; the buttons below it send them, and so does Ctrl+Enter. */
export function SayForm({
  label,
  placeholder,
  isOptional = false,
  onSend,
  children,
}: {
  label: string;
  placeholder: string;
  isOptional?: boolean;
  /** Gets the value of the button, too, and resolves to whether the words were taken. */
  onSend: (text: string, button: string) => Promise<boolean>;
  children: ComponentChildren;
}) {
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const button = (event.submitter as HTMLButtonElement | null)?.value ?? "";
    setBusy(true);
    if (await onSend(String(new FormData(form).get("text")).trim(), button)) form.reset();
    setBusy(false);
  };
  return (
    <form onSubmit={submit}>
      <textarea
        name="text"
        rows={2}
        aria-label={label}
        placeholder={placeholder}
        required={!isOptional}
        onKeyDown={({ key, metaKey, ctrlKey, currentTarget: { form } }) => {
          if (key === "Enter" && (metaKey || ctrlKey)) form?.requestSubmit(form.querySelector("button"));
        }}
      />
      <fieldset class="buttons" disabled={isBusy}>
        {children}
      </fieldset>
    </form>
  );
}

/** What a run asks. An answer is for the question that stood there when it was begun: for another one it is refused. */
export function Asked({ row, onDone = () => {} }: { row: RunRow; onDone?: () => void }) {
  const { id, question } = row;
  const begunFor = useRef<string | undefined>(undefined);
  if (question === null) return null;
  const { text: asks, answered: replaces } = question;
  const send = async (text: string, button: string): Promise<boolean> => {
    const wish = { action: "answer", question: begunFor.current ?? question.id, text, replaces };
    const isDone = text === "" || (await act(id, wish));
    begunFor.current = undefined;
    if (isDone && button !== "only") await act(id, { action: "resume" });
    onDone();
    return isDone;
  };
  return (
    <div class="question" onInput={() => (begunFor.current ??= question.id)}>
      <p class="asks">{asks}</p>
      {replaces && <p class="note">Answered. ralph uses the answer when the run resumes.</p>}
      {overview.value?.readOnly === false && (
        <SayForm
          label="your answer"
          placeholder={replaces ? "Another answer" : "Your answer"}
          isOptional={replaces}
          onSend={send}
        >
          <button type="submit" class="first">
            {replaces ? "Resume" : "Answer and resume"}
          </button>
          <button type="submit" value="only">
            Answer only
          </button>
        </SayForm>
      )}
    </div>
  );
}

const WORDS: Partial<Record<Action, [label: string, title: string, text: string]>> = {
  pause: ["Pause", "", ""],
  resume: ["Resume", "", ""],
  raise: ["Raise a limit…", "Raise a limit", ""],
  kill: [
    "End…",
    "End this run?",
    "ralph ends the agent in the middle of its work. Its changes stay, and resume continues after the last iteration.",
  ],
  land: [
    "Land…",
    "Land its branch?",
    "ralph merges the branch where it came from, once the checks pass on the merge, and then removes the worktree.",
  ],
  pr: [
    "Open a pull request…",
    "Open a pull request?",
    "ralph pushes the branch, and everybody who can see the repository can see it.",
  ],
};

/** What can be done with a run now. What cannot be undone is asked about first. */
export function Actions({ page, onDone }: { page: RunPage; onDone: () => void }) {
  const [open, setOpen] = useState<Action | undefined>(undefined);
  if (overview.value?.readOnly !== false) return null;
  const run = page.row.id;
  const start = async (wish: object): Promise<void> => {
    setOpen(undefined);
    await act(run, wish);
    onDone();
  };
  // A question has its own button to continue the run.
  const isShown = (action: Action): boolean => action !== "resume" || page.row.question === null;
  const shown = page.actions.filter((action) => WORDS[action] !== undefined && isShown(action));
  const [, title = "", text = ""] = (open && WORDS[open]) ?? [];
  return (
    <div class="actions">
      {shown.map((action) => (
        <button
          key={action}
          type="button"
          class={action === "kill" ? "danger" : action === "resume" ? "first" : ""}
          onClick={() =>
            action === "pause" || action === "resume" ? void start({ action }) : setOpen(action)
          }
        >
          {WORDS[action]?.[0]}
        </button>
      ))}
      {open === "raise" && (
        <RaiseDialog page={page} onClose={() => setOpen(undefined)} onDone={(wish) => void start(wish)} />
      )}
      {open !== undefined && open !== "raise" && (
        <Dialog title={title} onClose={() => setOpen(undefined)}>
          <p>{text}</p>
          <div class="buttons">
            <button
              type="button"
              class={open === "kill" ? "danger" : "first"}
              onClick={() => void start({ action: open })}
            >
              {WORDS[open]?.[0].replace("…", "")}
            </button>
            <button type="button" onClick={() => setOpen(undefined)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

const FIELDS = [
  ["maxIterations", "Iterations", "1"],
  ["maxCost", "Cost, USD", "any"],
  ["maxTokens", "Tokens", "1"],
] as const;

function RaiseDialog({
  page,
  onClose,
  onDone,
}: {
  page: RunPage;
  onClose: () => void;
  onDone: (wish: object) => void;
}) {
  const { limits, row } = page;
  const now = {
    maxIterations: limits.maxIterations,
    maxCost: limits.maxCostUsd,
    maxTokens: limits.maxTokens,
  };
  return (
    <Dialog title="Raise a limit" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const numbers = FIELDS.map(([name]) => [name, Number(given.get(name))] as const).filter(
            ([name, value]) => value > 0 && value !== now[name],
          );
          const maxTime = String(given.get("maxTime") ?? "").trim();
          onDone({
            action: "raise",
            limits: { ...Object.fromEntries(numbers), ...(maxTime !== "" && { maxTime }) },
          });
        }}
      >
        {row.isLiving && <p>ralph ends the agent and continues at once with the new limits.</p>}
        <div class="fields">
          {FIELDS.map(([name, label, step]) => (
            <label key={name}>
              {label}
              <input
                name={name}
                type="number"
                min={step === "any" ? "0.01" : "1"}
                step={step}
                defaultValue={String(now[name] ?? "")}
                placeholder="none"
              />
            </label>
          ))}
          <label>
            Time
            <input
              name="maxTime"
              placeholder={
                limits.maxTimeMs === null
                  ? "none, such as 2h"
                  : `now ${Math.round(limits.maxTimeMs / 60_000)}m`
              }
              pattern="\d+(\.\d+)?(ms|s|m|h|d)?"
            />
          </label>
        </div>
        <div class="buttons">
          <button type="submit" class="first">
            Go on with these
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
