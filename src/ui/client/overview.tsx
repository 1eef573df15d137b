import { useLayoutEffect } from "preact/hooks";
import { formatDuration } from "../../duration.js";
import type { Look } from "../../views/report/shapes.js";
import { GROUPS, type Group, type RunRow } from "../api.js";
import { Asked } from "./actions.jsx";
import { lostSince } from "./live.js";
import { age, Empty, Loading, money } from "./parts.jsx";
import { Sign } from "./shared.jsx";
import { loadOverview, most, now, overview, pathOf, project, search } from "./store.js";

const TITLES: Record<Group, string> = {
  "needs you": "Needs you",
  working: "Working",
  waiting: "Waiting for a usage limit",
  failed: "Stopped or failed",
  done: "Done",
};

/** Every run of this machine; runs that need a person come first. */
export function OverviewPage() {
  const known = overview.value;
  useKeptFocus();
  if (known === undefined) return <Loading lines={8} />;
  const isFiltered = search.value !== "" || project.value !== "";
  const all = Object.values(known.counts).reduce((sum, count) => sum + count, 0);
  if (all === 0) return isFiltered ? <NothingFound /> : <Beginning />;
  return (
    <div class="overview">
      <h1 class="hidden">All runs</h1>
      {GROUPS.map((group) => (
        <GroupOfRuns
          key={group}
          group={group}
          rows={known.rows.filter((row) => row.group === group)}
          total={known.counts[group]}
        />
      ))}
    </div>
  );
}

/** A row that moves to another group keeps the focus: `j` goes on from there. */
function useKeptFocus(): void {
  const at = document.activeElement?.closest("[data-row]")?.getAttribute("href");
  useLayoutEffect(() => {
    if (at != null && document.activeElement === document.body)
      document.querySelector<HTMLElement>(`[data-row][href="${CSS.escape(at)}"]`)?.focus();
  });
}

function NothingFound() {
  return (
    <Empty>
      <p>No run matches.</p>
      <button
        type="button"
        onClick={() => {
          search.value = "";
          project.value = "";
          void loadOverview();
        }}
      >
        Show all runs
      </button>
    </Empty>
  );
}

function Beginning() {
  return (
    <Empty>
      <h1>No runs yet</h1>
      <p>Start one in a terminal, in the folder of a project. It appears here by itself.</p>
      <pre>{'ralph loop "Fix the failing test" --check "npm test"'}</pre>
      <p>
        Or watch one without an agent, a key or a network: <code>ralph demo --keep</code>
      </p>
    </Empty>
  );
}

function GroupOfRuns({ group, rows, total }: { group: Group; rows: RunRow[]; total: number }) {
  if (total === 0) return null;
  return (
    <section class="group" aria-label={TITLES[group]}>
      <h2>
        {TITLES[group]} <small>{total}</small>
      </h2>
      <ul class="runs">
        {rows.map((row) => (
          <li key={row.id}>
            <Row row={row} />
            <Asked row={row} />
            {row.question === null && isAsking(row) && <p class="said">{row.line}</p>}
            {row.lanes.length > 0 && <LanesOf row={row} />}
          </li>
        ))}
      </ul>
      {rows.length < total && (
        <button
          type="button"
          class="more"
          onClick={() => {
            most.value += 200;
            void loadOverview();
          }}
        >
          Show more of the other {total - rows.length}
        </button>
      )}
    </section>
  );
}

/** How a run stands; without word from the server nobody can tell of a living one. */
function resultWords({ isLiving, result }: RunRow): string {
  return isLiving && lostSince.value !== undefined ? "cannot tell" : result;
}

export function lookOfRow({ isLiving, group, result }: RunRow): Look {
  if (result === "unknown" || (isLiving && lostSince.value !== undefined)) return "unknown";
  if (group === "done") return "passed";
  if (group === "waiting" || result === "paused") return "held";
  if (group === "working") return "at-work";
  if (result === "cut off" || result === "interrupted") return "cut-off";
  return group === "needs you" ? "agent-failed" : "failed";
}

/** Time at work: of a run that works it goes on. */
export function activeWords({ isLiving, result, activeMs, lastAt }: RunRow): string {
  const since =
    isLiving && result === "running" && lastAt !== null ? Math.max(0, now.value - Date.parse(lastAt)) : 0;
  return formatDuration(activeMs + since);
}

/** Shows in full, below its row, what a run needs from a person. */
function isAsking({ group, line }: RunRow): boolean {
  return group === "needs you" && line !== "";
}

function Row({ row }: { row: RunRow }) {
  const { id, name, recipe, agent, task, line, iteration, maxIterations, costUsd, startedAt } = row;
  return (
    <a class="run-row" href={`/runs/${id}`} data-row>
      <Sign look={lookOfRow(row)} />
      <span class="what">
        <b>{name}</b> <span class="task">{task}</span>
      </span>
      <span class="standing">
        <span class="result">{resultWords(row)}</span>
        <span class="doing">{isAsking(row) ? "" : line}</span>
        <span class="where">
          {row.project}
          <span> · {recipe}</span>
          <span> · {agent}</span>
          {row.worker !== null && <span> · worker</span>}
        </span>
      </span>
      <span class="number iterations" title="iterations">
        {iteration}
        {maxIterations > 0 && <small>/{maxIterations}</small>}
      </span>
      <span class="number time" title="time at work">
        {activeWords(row)}
      </span>
      <span class="number cost" title={costUsd === null ? "its agent does not tell what it costs" : "cost"}>
        {costUsd === null ? <small>unknown</small> : money(costUsd)}
      </span>
      <span
        class="number age"
        title={startedAt === null ? "" : `started ${new Date(startedAt).toLocaleString()}`}
      >
        {age(startedAt, now.value)}
      </span>
    </a>
  );
}

/** More of them are on its page. */
const MOST_LANES = 12;

function LanesOf({ row: { id, lanes } }: { row: RunRow }) {
  return (
    <p class="said lane-list">
      {lanes.slice(0, MOST_LANES).map(({ lane, standing, look }) => (
        <a key={lane} href={pathOf(id, "stream", { lane })}>
          <Sign look={look} /> {lane} <small>{standing}</small>
        </a>
      ))}
      {lanes.length > MOST_LANES && <a href={pathOf(id, "lanes")}>and {lanes.length - MOST_LANES} more</a>}
    </p>
  );
}
