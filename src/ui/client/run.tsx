import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { PageIteration } from "../../views/report/shapes.js";
import type { RunPage } from "../api.js";
import { Actions, Asked, act, SayForm } from "./actions.jsx";
import { LanesView, StatesView, StoriesView } from "./board.jsx";
import { DiffView } from "./diff.jsx";
import { lostSince } from "./live.js";
import { activeWords, lookOfRow } from "./overview.jsx";
import { Empty, Loading, plural, Section } from "./parts.jsx";
import { RecordsView } from "./records.jsx";
import { ChecksGrid, Columns, Iteration, loadDetail, Sign, Timeline, Totals } from "./shared.jsx";
import { ask, overview, type Place, pathOf, Refusal } from "./store.js";
import { Stream, watchEntries } from "./stream.jsx";
import { TerminalView } from "./terminal.jsx";

interface ShownRun {
  id: string;
  page?: RunPage;
  error?: string;
}

const shown = signal<ShownRun | undefined>(undefined);

async function load(id: string, place: Place = {}): Promise<void> {
  try {
    const page = await ask<RunPage>(`/api/runs/${id}`);
    const open = openIn(page, place);
    if (open !== undefined && shown.peek()?.page === undefined) await loadDetail(id, open);
    if (shown.peek()?.id === id) shown.value = { id, page };
  } catch (error) {
    if (error instanceof Refusal && shown.peek()?.id === id) shown.value = { id, error: error.message };
  }
}

/** The iteration that is unfolded at first: the one that was asked for, or the last. */
function openIn({ iterations }: RunPage, { iteration, lane = null }: Place): PageIteration | undefined {
  const found = iterations.find((one) => one.iteration === iteration && one.lane === lane);
  return found ?? (lane === null ? iterations.at(-1) : undefined);
}

/** Asks again for what is shown. */
export function reloadRun(): void {
  const known = shown.peek();
  if (known !== undefined) void load(known.id);
}

/** What ralph itself writes changes the figures; what an agent says does not. */
let isSoon = false;

function soon(): void {
  if (isSoon) return;
  isSoon = true;
  setTimeout(() => {
    isSoon = false;
    reloadRun();
  }, RELOAD_MS);
}

const RELOAD_MS = 120;

const TABS = [
  ["", "Summary"],
  ["stream", "Stream"],
  ["diff", "Diff"],
  ["records", "Records"],
] as const;

export function RunPageView({ id, tab, place }: { id: string; tab: string; place: Place }) {
  useEffect(() => {
    shown.value = { id };
    void load(id, place);
    const stop = watchEntries(id, ({ type }) => {
      if (type !== "agent.event") soon();
    });
    return () => {
      stop();
      shown.value = undefined;
    };
  }, [id]);
  const known = shown.value;
  const isShown = known?.page !== undefined;
  // A phone has no room for all tabs.
  useEffect(() => {
    const here = document.querySelector(".tabs [aria-current]");
    here?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab, isShown]);
  if (known?.error !== undefined)
    return (
      <Empty>
        <h1>This run cannot be shown</h1>
        <p>{known.error}</p>
        <a href="/">All runs</a>
      </Empty>
    );
  const page = known?.page;
  if (page === undefined) return <Loading lines={10} />;
  const tabs = [
    ...TABS,
    ...(page.lanes.length > 0 ? [["lanes", "Lanes"]] : []),
    ...(page.stories.length > 0 ? [["stories", "Stories"]] : []),
    ...(page.states.length > 0 ? [["states", "States"]] : []),
    ...(page.row.worker !== null && page.row.isLiving ? [["terminal", "Terminal"]] : []),
  ] as [name: string, title: string][];
  return (
    <article class="run">
      <Head page={page} isShort={tab !== "" && tab !== "iteration"} />
      <nav class="tabs" aria-label="parts of the run">
        {tabs.map(([name, title]) => (
          <a
            key={name}
            href={pathOf(id, name)}
            {...(name === (tab === "iteration" ? "" : tab) && { "aria-current": "page" })}
          >
            {title}
          </a>
        ))}
      </nav>
      <Tab page={page} tab={tab} place={place} />
    </article>
  );
}

function Tab({ page, tab, place }: { page: RunPage; tab: string; place: Place }) {
  if (tab === "stream") return <Stream page={page} place={place} />;
  if (tab === "diff") return <DiffView page={page} place={place} />;
  if (tab === "records") return <RecordsView page={page} place={place} />;
  if (tab === "lanes") return <LanesView page={page} />;
  if (tab === "stories") return <StoriesView page={page} />;
  if (tab === "states") return <StatesView page={page} />;
  if (tab === "terminal") return <TerminalView page={page} />;
  return <Summary page={page} place={place} />;
}

/** Of a run that works, what the server last said is only true as long as it can be heard. */
function titleOf({ row, title }: RunPage): string {
  if (!row.isLiving) return title;
  if (lostSince.value !== undefined) return "Cannot tell: there is no word from ralph ui";
  return row.result === "pausing" ? "Pausing when this iteration has ended" : title;
}

/** On the other tabs the figures leave room for what is looked at. */
function Head({ page, isShort }: { page: RunPage; isShort: boolean }) {
  const { row, message } = page;
  const look = row.isLiving ? lookOfRow(row) : page.look;
  // The page counts the working time between two answers of the server.
  const totals = page.totals.map(([name, value]): [string, string] =>
    name === "time" && row.isLiving ? [name, value.replace(/^\S+/, activeWords(row))] : [name, value],
  );
  if (row.costUsd === null && !totals.some(([name]) => name === "cost")) totals.push(["cost", "unknown"]);
  return (
    <header class="head">
      <p class="note">
        <a href="/">All runs</a> / {row.project} / <code>{row.name}</code>{" "}
        {row.worker !== null && <span class="tag">worker</span>}
      </p>
      <h1>
        <Sign look={look} /> <span>{titleOf(page)}</span>
      </h1>
      <p class="task">{row.task}</p>
      {message !== null && row.question === null && <p class={isShort ? "why short" : "why"}>{message}</p>}
      {row.isLiving && <p class="doing">{row.line || "…"}</p>}
      {page.unreadable > 0 && (
        <p class="why">{plural(page.unreadable, "line")} of its journal cannot be read, and left out here.</p>
      )}
      <Asked row={row} onDone={reloadRun} />
      {!isShort && <Totals rows={totals} />}
      <Actions page={page} onDone={reloadRun} />
    </header>
  );
}

/** So many iterations are listed at first. */
const MOST_LISTED = 50;

function Summary({ page, place }: { page: RunPage; place: Place }) {
  const { row, iterations, facts, files, steering } = page;
  const [isWhole, setWhole] = useState(false);
  const canSteer = page.actions.includes("steer") && !overview.value?.readOnly;
  const open = openIn(page, place);
  const listed = iterations.filter(
    (one, index) => isWhole || one === open || iterations.length - index <= MOST_LISTED,
  );
  return (
    <div class="columns">
      <div>
        {page.lanes.length > 0 ? (
          <LanesView page={page} />
        ) : (
          <>
            {iterations.length > 0 && (
              <Section title="Timeline">
                <Timeline run={row.id} iterations={iterations} />
              </Section>
            )}
            {page.checks.length > 0 && (
              <Section title="Checks">
                <ChecksGrid page={page} lane={null} />
              </Section>
            )}
            <Section title="Iterations">
              {iterations.length === 0 && <Empty>No iteration was started yet.</Empty>}
              {listed.toReversed().map((one) => (
                <Iteration key={one.iteration} run={row.id} one={one} isOpen={one === open} />
              ))}
              {listed.length < iterations.length && (
                <button type="button" class="more" onClick={() => setWhole(true)}>
                  Show the other {iterations.length - listed.length}
                </button>
              )}
            </Section>
          </>
        )}
      </div>
      <aside>
        {(canSteer || steering.length > 0) && (
          <Section title="Steering">
            {steering.map((text) => (
              <p key={text} class="steering">
                {text}
              </p>
            ))}
            {canSteer && (
              <SayForm
                label="words for the next iteration"
                placeholder={
                  row.isLiving ? "Add a text to the next prompt, once" : "Text for when it continues"
                }
                onSend={(text) => act(row.id, { action: "steer", text }).finally(reloadRun)}
              >
                <button type="submit">Steer</button>
              </SayForm>
            )}
          </Section>
        )}
        <Section title="Facts">
          <dl class="facts">
            {facts.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </Section>
        {files.length > 0 && (
          <Section title="Files changed" side={String(files.length)}>
            <ul class="files">
              {files.slice(0, 100).map(({ path, change, added, removed }) => (
                <li key={path}>
                  <span class={change}>{change.slice(0, 1).toUpperCase()}</span> <code>{path}</code>{" "}
                  <small>{added === null ? "" : `+${added} −${removed}`}</small>
                </li>
              ))}
            </ul>
            {files.length > 100 && (
              <p class="note">
                and {files.length - 100} more, in the <a href={pathOf(row.id, "diff")}>diff</a>
              </p>
            )}
          </Section>
        )}
        {page.lanes.length === 0 && <Columns iterations={iterations} />}
      </aside>
    </div>
  );
}
