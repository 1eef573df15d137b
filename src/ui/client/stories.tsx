import type { RunPage, StoryCard } from "../api.js";
import { Empty, Sign } from "./parts.jsx";
import { money } from "./words.js";

const COLUMNS: [state: string, title: string][] = [
  ["todo", "To do"],
  ["needs_review", "Waits for review"],
  ["changes_requested", "Changes requested"],
  ["approved", "Approved"],
  ["passed", "Passed"],
];

/** Stories by where their reviews stand, or a pipeline as its states. */
export function StoriesView({ page, tab }: { page: RunPage; tab: string }) {
  if (tab === "states") return <States page={page} />;
  const columns = COLUMNS.map(([state, title]) => ({
    title,
    stories: page.stories.filter((story) => story.state === state),
  }));
  return (
    <div class="board">
      {columns
        .filter(({ stories, title }) => stories.length > 0 || title !== "Passed")
        .map(({ title, stories }) => (
          <section key={title} aria-label={title}>
            <h2>
              {title} <small>{stories.length}</small>
            </h2>
            {stories.map((story) => (
              <Card key={story.story} story={story} />
            ))}
          </section>
        ))}
    </div>
  );
}

function Card({ story }: { story: StoryCard }) {
  const { reviews, atCap, iterations, costUsd, dependsOn } = story;
  return (
    <article class="card">
      <b>{story.story}</b> {story.title}
      <p class="note">
        {iterations} iterations · {reviews} reviews{atCap ? " (cap)" : ""} · {money(costUsd)}
        {dependsOn.length > 0 && ` · after ${dependsOn.join(", ")}`}
      </p>
    </article>
  );
}

function States({ page }: { page: RunPage }) {
  if (page.states.length === 0) return <Empty>No state was left yet.</Empty>;
  return (
    <ol class="states">
      {page.states.map(({ from, to, iteration }) => (
        <li key={`${iteration} ${from}`}>
          <Sign look={to === "GUTTER" ? "failed" : "passed"} /> <b>{from}</b> → <b>{to}</b>{" "}
          <small>iteration {iteration}</small>
        </li>
      ))}
    </ol>
  );
}
