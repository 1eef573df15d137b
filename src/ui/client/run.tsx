import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RunPage } from "../api.js";
import { Actions, AnswerForm, SteerForm } from "./actions.jsx";
import { ChecksGrid, Columns, Legend, Timeline } from "./charts.jsx";
import { DiffView } from "./diff.jsx";
import { Iteration } from "./iteration.jsx";
import { LanesView } from "./lanes.jsx";
import { activeWords, resultWords } from "./overview.jsx";
import { Empty, Loading, Section, Sign } from "./parts.jsx";
import { RecordsView } from "./records.jsx";
import { go } from "./route.js";
import { ask, overview, Refusal } from "./store.js";
import { StoriesView } from "./stories.jsx";
import { Stream, watchEntries } from "./stream.jsx";
import { TerminalView } from "./terminal.jsx";

interface Shown {
  id: string;
  page?: RunPage;
  error?: string;
}

const shown = signal<Shown | undefined>(undefined);

async function load(id: string): Promise<void> {
  try {
    const page = await ask<RunPage>(`/api/runs/${id}`);
    if (shown.peek()?.id === id) shown.value = { id, page };
  } catch (error) {
    if (error instanceof Refusal && shown.peek()?.id === id) shown.value = { id, error: error.message };
  }
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

export function RunPageView({ id, tab, part }: { id: string; tab: string; part: string }) {
  useEffect(() => {
    shown.value = { id };
    void load(id);
    const stop = watchEntries(id, ({ type }) => {
      if (type !== "agent.event") soon();
    });
    return () => {
      stop();
      shown.value = undefined;
    };
  }, [id]);
  const known = shown.value;
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
            href={`/runs/${id}${name === "" ? "" : `/${name}`}`}
            {...(name === tab && { "aria-current": "page" })}
          >
            {title}
          </a>
        ))}
      </nav>
      <Tab page={page} tab={tab} part={part} />
    </article>
  );
}

function Tab({ page, tab, part }: { page: RunPage; tab: string; part: string }) {
  if (tab === "stream") return <Stream page={page} iteration={Number(part) || undefined} />;
  if (tab === "diff") return <DiffView page={page} part={part} />;
  if (tab === "lanes") return <LanesView page={page} />;
  if (tab === "terminal") return <TerminalView page={page} />;
  if (tab === "records") return <RecordsView page={page} part={part} />;
  if (tab === "stories" || tab === "states") return <StoriesView page={page} tab={tab} />;
  return <Summary page={page} part={tab === "iteration" ? Number(part) : undefined} />;
}

/** On the other tabs the figures leave room for what is looked at. */
function Head({ page, isShort }: { page: RunPage; isShort: boolean }) {
  const { row, title, look, message, totals } = page;
  return (
    <header class="head">
      <p class="note">
        <a href="/">All runs</a> / {row.project} / <code>{row.name}</code>{" "}
        {row.worker !== null && <span class="tag">worker</span>}
      </p>
      <h1>
        <Sign look={look} /> <span>{row.isLiving ? resultWords(row) : title}</span>
      </h1>
      <p class="task">{row.task}</p>
      {message !== null && row.question === null && <p class="why">{message}</p>}
      {row.isLiving && (
        <p class="doing">
          {row.line || "…"} <small>{activeWords(row)}</small>
        </p>
      )}
      {page.unreadable > 0 && (
        <p class="why">{page.unreadable} lines of its journal cannot be read; they are left out.</p>
      )}
      {row.question !== null && (
        <div class="question">
          <p class="asks">{row.question.text}</p>
          {!overview.value?.readOnly && (
            <AnswerForm run={row.id} question={row.question} onDone={reloadRun} />
          )}
        </div>
      )}
      <dl class="totals" hidden={isShort}>
        {totals.map(([name, value]) => {
          const [, amount = value, more = ""] = /^(\S+) ?(.*)$/.exec(value) ?? [];
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {amount} <small>{more}</small>
              </dd>
            </div>
          );
        })}
        {row.costUsd === null && !totals.some(([name]) => name === "cost") && (
          <div>
            <dt>cost</dt>
            <dd class="unknown">unknown</dd>
          </div>
        )}
      </dl>
      <Actions page={page} onDone={reloadRun} />
    </header>
  );
}

function Summary({ page, part }: { page: RunPage; part: number | undefined }) {
  const { row, iterations, facts, files, steering } = page;
  const pick = (iteration: number): void => go(`/runs/${row.id}/iteration/${iteration}`);
  const canSteer = page.actions.includes("steer") && !overview.value?.readOnly;
  return (
    <div class="columns">
      <div>
        {iterations.length > 0 && page.lanes.length === 0 && (
          <Section title="Timeline">
            <Timeline iterations={iterations} onPick={pick} />
            <Legend iterations={iterations} />
          </Section>
        )}
        {page.checks.length > 0 && page.lanes.length === 0 && (
          <Section title="Checks">
            <ChecksGrid page={page} />
          </Section>
        )}
        <Section title="Iterations">
          {iterations.length === 0 ? (
            <Empty>No iteration was started yet.</Empty>
          ) : (
            iterations
              .toReversed()
              .map((one) => (
                <Iteration
                  key={`${one.lane} ${one.iteration}`}
                  run={row.id}
                  one={one}
                  isOpen={part === undefined ? one === iterations.at(-1) : one.iteration === part}
                />
              ))
          )}
        </Section>
      </div>
      <aside>
        {(canSteer || steering.length > 0) && (
          <Section title="Steering">
            {steering.map((text) => (
              <p key={text} class="steering">
                {text}
              </p>
            ))}
            {canSteer && <SteerForm run={row.id} isLiving={row.isLiving} onDone={reloadRun} />}
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
          </Section>
        )}
        <Columns iterations={iterations} />
      </aside>
    </div>
  );
}
