import { formatDuration } from "../../../duration.js";
import type { Report } from "../../../records/report.js";
import type { StoryReport } from "../../../records/stories.js";
import { formatCost } from "../../figures.js";
import { html, type Markup } from "./markup.js";
import { beginning } from "./said.js";

/** What each story took, and how often it was reviewed. */
export function stories({ stories: listed }: Report): Markup | null {
  if (listed.length === 0) return null;
  return html`<section aria-labelledby="stories">
    <h2 id="stories">Stories</h2>
    <div class="scroll tall" role="group" aria-labelledby="stories" tabindex="0"><table class="files">
      <thead><tr>
        <th scope="col">Story</th><th scope="col">State</th><th scope="col" class="number">Reviews</th>
        <th scope="col" class="number">Iterations</th><th scope="col" class="number">Cost</th>
        <th scope="col" class="number">Time</th>
      </tr></thead>
      <tbody>${listed.map(row)}</tbody>
    </table></div>
  </section>`;
}

function row({ story, title, state, reviews, atCap, iterations, costUsd, durationMs }: StoryReport): Markup {
  return html`<tr>
    <th scope="row"><code>${beginning(story)}</code> ${beginning(title)}</th>
    <td>${state ?? ""}${atCap ? html` <small>at the cap</small>` : null}</td>
    <td class="number">${reviews}</td>
    <td class="number">${iterations}</td>
    <td class="number">${costUsd === null ? null : formatCost(costUsd)}</td>
    <td class="number">${formatDuration(durationMs)}</td>
  </tr>`;
}
