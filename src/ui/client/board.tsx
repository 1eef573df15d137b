import type { LaneCard, RunPage, StateCard, StoryCard } from "../api.js";
import { money, plural } from "./parts.jsx";
import { ChecksGrid, Iteration, Sign, Timeline } from "./shared.jsx";
import { pathOf } from "./store.js";

const COLUMNS: [state: string, title: string][] = [
  ["todo", "To do"],
  ["needs_review", "Waits for review"],
  ["changes_requested", "Changes requested"],
  ["approved", "Approved"],
  ["passed", "Passed"],
];

/** Stories by where their reviews stand, with the lane of each and the landing queue. */
export function StoriesView({ page }: { page: RunPage }) {
  const columns = COLUMNS.map(([state, title]) => ({
    title,
    stories: page.stories.filter((story) => story.state === state),
  }));
  return (
    <>
      <LandingQueue page={page} />
      <div class="board">
        {columns
          .filter(({ stories, title }) => stories.length > 0 || title !== "Passed")
          .map(({ title, stories }) => (
            <section key={title} aria-label={title}>
              <h2>
                {title} <small>{stories.length}</small>
              </h2>
              {stories.map((story) => (
                <Card key={story.story} page={page} story={story} />
              ))}
              {stories.length === 0 && <p class="note">none</p>}
            </section>
          ))}
      </div>
    </>
  );
}

/** Leads to the last iteration that was about the story, where there is one. */
function Card({ page, story: card }: { page: RunPage; story: StoryCard }) {
  const { story, title, reviews, atCap, iterations, costUsd, dependsOn } = card;
  const lane = page.lanes.find((one) => one.lane === story);
  const last = page.iterations.findLast((one) => one.about === story || one.lane === story);
  const inside = (
    <>
      <b>{story}</b> {title}
      <span class="note">
        {plural(iterations, "iteration")} · {plural(reviews, "review")}
        {atCap ? " (cap)" : ""} · {costUsd === null ? "cost unknown" : money(costUsd)}
        {dependsOn.length > 0 && ` · after ${dependsOn.join(", ")}`}
      </span>
      {lane !== undefined && (
        <span class="note">
          <Sign look={lane.look} /> {lane.standing}
        </span>
      )}
    </>
  );
  if (last === undefined) return <article class="card story">{inside}</article>;
  const tab = last.lane === null ? "iteration" : "stream";
  return (
    <a class="card story" href={pathOf(page.row.id, tab, last)} data-row>
      {inside}
    </a>
  );
}

/** A pipeline as its states, from the first to the last. */
export function StatesView({ page }: { page: RunPage }) {
  const isDone = page.states.at(-1)?.look === "passed";
  return (
    <ol class="states">
      {page.states.map((state) => (
        <State key={state.name} run={page.row.id} state={state} />
      ))}
      <li class="card">
        <Sign look={isDone ? "passed" : "not-run"} /> <b>COMPLETE</b>
      </li>
    </ol>
  );
}

function State({ run, state: { name, goal, gate, look, iterations } }: { run: string; state: StateCard }) {
  return (
    <li class={`card ${look}`}>
      <Sign look={look} /> <b>{name}</b>
      <p>{goal}</p>
      {gate !== "" && (
        <p class="note">
          gate <code>{gate}</code>
        </p>
      )}
      <p class="note">
        {iterations.length === 0
          ? "no iteration yet"
          : iterations.map((iteration) => (
              <a key={iteration} href={pathOf(run, "iteration", { iteration })} data-row>
                iteration {iteration}
              </a>
            ))}
      </p>
    </li>
  );
}

/** The lanes of a race or of parallel stories, side by side. */
export function LanesView({ page }: { page: RunPage }) {
  return (
    <>
      <LandingQueue page={page} />
      <div class="board lanes">
        {page.lanes.map((card) => (
          <Lane key={card.lane} page={page} card={card} />
        ))}
      </div>
    </>
  );
}

/** What is done and waits for its turn to land. */
function LandingQueue({ page }: { page: RunPage }) {
  const queue = page.lanes.filter(({ isQueued }) => isQueued);
  if (!page.row.isLiving || page.row.recipe !== "stories" || page.lanes.length === 0) return null;
  return (
    <p class="queue">
      <b>Landing queue</b>
      {queue.length === 0 && <span class="note">empty</span>}
      {queue.map(({ lane, standing }) => (
        <span key={lane} class="tag">
          {lane} {standing === "landing" && "lands now"}
        </span>
      ))}
    </p>
  );
}

function Lane({ page, card }: { page: RunPage; card: LaneCard }) {
  const { lane, title, standing, look, message, branch, costUsd, changedLines, overlaps } = card;
  const run = page.row.id;
  const own = page.iterations.filter((one) => one.lane === lane);
  const figures = [
    plural(own.length, "iteration"),
    costUsd === null ? "cost unknown" : money(costUsd),
    ...(changedLines === undefined ? [] : [plural(changedLines, "changed line")]),
  ];
  return (
    <section class="card" aria-label={lane}>
      <h2>
        <Sign look={look} /> {lane} <small>{standing}</small>
      </h2>
      {title !== undefined && <p>{title}</p>}
      {message !== undefined && <p class="why">{message}</p>}
      {overlaps.map((words) => (
        <p key={words} class="note">
          {words}
        </p>
      ))}
      <p class="note">
        {figures.join(" · ")} · <a href={pathOf(run, "diff", { lane })}>diff</a> ·{" "}
        <a href={pathOf(run, "stream", { lane })}>stream</a>
      </p>
      {branch !== "" && (
        <p class="note">
          <code>{branch}</code>
        </p>
      )}
      {own.length > 0 && <Timeline run={run} iterations={own} />}
      <ChecksGrid page={page} lane={lane} />
      {own.toReversed().map((one) => (
        <Iteration key={one.iteration} run={run} one={one} isOpen={false} />
      ))}
    </section>
  );
}
