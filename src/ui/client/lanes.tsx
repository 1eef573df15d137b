import type { RunPage } from "../api.js";
import { Iteration } from "./iteration.jsx";
import { Sign } from "./parts.jsx";
import { money } from "./words.js";

/** The lanes of a race or of parallel stories, side by side. */
export function LanesView({ page }: { page: RunPage }) {
  return (
    <div class="board lanes">
      {page.lanes.map(({ lane, title, standing, look, message, branch, costUsd, changedLines, overlaps }) => {
        const own = page.iterations.filter((one) => one.lane === lane);
        return (
          <section key={lane} class="card" aria-label={lane}>
            <h2>
              <Sign look={look} /> {lane} <small>{standing}</small>
            </h2>
            {title !== undefined && <p>{title}</p>}
            {message !== undefined && <p class="note">{message}</p>}
            {overlaps.map((words) => (
              <p key={words} class="note">
                {words}
              </p>
            ))}
            <p class="note">
              {[
                `${own.length} iterations`,
                money(costUsd),
                changedLines !== undefined && `${changedLines} changed lines`,
              ]
                .filter(Boolean)
                .join(" · ")}
              {branch !== "" && (
                <>
                  {" · "}
                  <code>{branch}</code>
                </>
              )}
            </p>
            {own.toReversed().map((one) => (
              <Iteration key={one.iteration} run={page.row.id} one={one} isOpen={false} />
            ))}
          </section>
        );
      })}
    </div>
  );
}
