import { signal } from "@preact/signals";
import { h, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatDuration } from "../../duration.js";
import * as parts from "../../views/report/parts.js";
import type { Detail, Look, PageIteration } from "../../views/report/shapes.js";
import type { RunPage } from "../api.js";
import { Loading, money, Printed } from "./parts.jsx";
import { ask, pathOf, queryOf } from "./store.js";

/** The parts that the HTML report has, too (views/report/parts.ts), as elements of preact. */

const make: parts.Make<VNode> = (tag, attributes, ...children) => h(tag, attributes, ...children);

/** How something came out: told apart by sign and word; colour only helps. */
export function Sign({ look }: { look: Look }) {
  return parts.sign(make, look);
}

export function Timeline({ run, iterations }: { run: string; iterations: PageIteration[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
    <section class="scroll" tabIndex={0} aria-label={labelOf("timeline", iterations[0]?.lane)}>
      {parts.timeline(make, iterations, (one) => pathOf(run, "iteration", one))}
      {parts.legend(make, iterations)}
    </section>
  );
}

/** Those of several lanes stand on one page. */
function labelOf(what: string, lane: string | null = null): string {
  return lane === null ? what : `${what}, ${lane}`;
}

export function Columns({ iterations }: { iterations: PageIteration[] }) {
  return parts.columns(make, iterations);
}

/** Older columns than so many are left to the report. */
const MOST_COLUMNS = 200;

/** A row per check, a column per iteration of the lane. */
export function ChecksGrid({ page, lane }: { page: RunPage; lane: string | null }) {
  const shown = page.iterations.flatMap((one, index) => (one.lane === lane ? [index] : []));
  const columns = shown.slice(-MOST_COLUMNS);
  const rows = page.checks.map(({ cells, ...row }) => ({
    ...row,
    cells: columns.flatMap((index) => cells[index] ?? []),
  }));
  const ran = rows.filter(({ cells }) => cells.some(({ look }) => look !== "not-run"));
  if (ran.length === 0) return null;
  const iterations = columns.flatMap((index) => page.iterations[index] ?? []);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys */}
      <section class="scroll fading" tabIndex={0} aria-label={labelOf("checks of each iteration", lane)}>
        {parts.grid(make, ran, iterations)}
      </section>
      {shown.length > columns.length && (
        <p class="note">
          The last {columns.length} of {shown.length} iterations.
        </p>
      )}
    </>
  );
}

function Inside({ detail }: { detail: Detail }) {
  const printed = (text: string): VNode | null => (text === "" ? null : <Printed text={text} />);
  return <>{parts.inside(make, detail, printed)}</>;
}

export function Totals({ rows }: { rows: [name: string, value: string][] }) {
  return parts.totals(make, rows);
}

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
