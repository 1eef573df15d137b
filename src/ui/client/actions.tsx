import { useState } from "preact/hooks";
import type { Action, AskedQuestion, RunPage } from "../api.js";
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

/** The answer is for the question that stands above it: for another one the server refuses it. */
export function AnswerForm({
  run,
  question,
  onDone = () => {},
}: {
  run: string;
  question: AskedQuestion;
  onDone?: () => void;
}) {
  const [text, setText] = useState("");
  const [isBusy, setBusy] = useState(false);
  const submit = async (goesOn: boolean): Promise<void> => {
    setBusy(true);
    const wish = {
      action: "answer",
      question: question.id,
      text,
      ...(question.answered && { replaces: true }),
    };
    const isDone = text.trim() === "" ? question.answered : await act(run, wish);
    if (isDone && goesOn) await act(run, { action: "resume" });
    if (isDone) setText("");
    setBusy(false);
    onDone();
  };
  return (
    <form
      class="say"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(true);
      }}
    >
      <textarea
        rows={2}
        aria-label="your answer"
        placeholder={question.answered ? "Another answer" : "Your answer"}
        value={text}
        required={!question.answered}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey))
            event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="buttons">
        <button type="submit" class="first" disabled={isBusy}>
          {question.answered ? "Resume" : "Answer and resume"}
        </button>
        <button type="button" disabled={isBusy || text.trim() === ""} onClick={() => void submit(false)}>
          Answer only
        </button>
      </div>
    </form>
  );
}

export function SteerForm({ run, isLiving, onDone }: { run: string; isLiving: boolean; onDone: () => void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="say"
      onSubmit={async (event) => {
        event.preventDefault();
        if (await act(run, { action: "steer", text })) setText("");
        onDone();
      }}
    >
      <textarea
        rows={2}
        required
        aria-label="words for the next iteration"
        placeholder={isLiving ? "Add a text to the next prompt, once" : "Text for when it continues"}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div class="buttons">
        <button type="submit">Steer</button>
      </div>
    </form>
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
  // A question has a button of its own that goes on with the run.
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
