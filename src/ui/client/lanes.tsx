import type { LaneCard, RunPage } from "../api.js";
import { Iteration } from "./iteration.jsx";
import { pathOf } from "./route.js";
import { ChecksGrid, Sign, Timeline } from "./shared.jsx";
import { money, plural } from "./words.js";

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
export function LandingQueue({ page }: { page: RunPage }) {
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
