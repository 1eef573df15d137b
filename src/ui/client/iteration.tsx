import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Detail, PageIteration } from "../../views/report/shapes.js";
import { Loading } from "./parts.jsx";
import { pathOf, queryOf } from "./route.js";
import { Inside, Sign } from "./shared.jsx";
import { ask } from "./store.js";
import { formatDuration, money } from "./words.js";

/** What is behind iterations that somebody has unfolded. */
const details = signal<Record<string, Detail>>({});

const keyOf = (run: string, { iteration, lane }: PageIteration): string => `${run} ${iteration} ${lane}`;

/** A page is shown with what is unfolded at first: nothing moves when it comes. */
export async function loadDetail(run: string, one: PageIteration): Promise<void> {
  const { iteration, lane } = one;
  const found = ask<Detail>(`/api/runs/${run}/iterations/${iteration}${queryOf({ lane })}`);
  const detail = await found.catch(() => undefined);
  if (detail !== undefined) details.value = { ...details.peek(), [keyOf(run, one)]: detail };
}

/** What was said and found in an iteration; it is asked for when somebody unfolds it. */
export function Iteration({ run, one, isOpen }: { run: string; one: PageIteration; isOpen: boolean }) {
  const [isUnfolded, setUnfolded] = useState(isOpen);
  useEffect(() => setUnfolded(isOpen), [isOpen]);
  useEffect(() => {
    if (isUnfolded) void loadDetail(run, one);
  }, [isUnfolded, run, one.iteration, one.lane, one.look, one.checks.length, one.tokens]);
  const detail = details.value[keyOf(run, one)];
  const passed = one.checks.filter((look) => look === "passed" || look === "same").length;
  return (
    <details open={isUnfolded} onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}>
      <summary data-row>
        <Sign look={one.look} /> <b>{one.iteration}</b>
        <span class="why">{[one.mode, one.about, one.why].filter(Boolean).join(" · ")}</span>
        <span class="took">
          {one.checks.length > 0 && `${passed}/${one.checks.length} checks · `}
          {formatDuration(one.agentMs + one.restMs)}
          {one.costUsd !== null && ` · ${money(one.costUsd)}`}
        </span>
      </summary>
      {isUnfolded && (
        <div class="inside">
          <p class="note">
            {one.spent} · <a href={pathOf(run, "stream", one)}>stream</a> ·{" "}
            <a href={pathOf(run, "diff", one)}>diff</a> ·{" "}
            <a href={pathOf(run, "records", one)}>prompt and records</a>
          </p>
          {detail === undefined ? <Loading lines={3} /> : <Inside detail={detail} />}
        </div>
      )}
    </details>
  );
}
