import type { RunPage, StateCard, StoryCard } from "../api.js";
import { LandingQueue } from "./lanes.jsx";
import { pathOf } from "./route.js";
import { Sign } from "./shared.jsx";
import { money, plural } from "./words.js";

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
