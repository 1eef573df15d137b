import type { FileChange } from "../../../events.js";
import type { Report } from "../../../records/report.js";
import { html, type Markup } from "./markup.js";

/** What the run changed, by path. */
export function files({ files: listed, filesChanged }: Report): Markup | null {
  if (listed.length === 0) return null;
  const more = (filesChanged ?? 0) - listed.length;
  return html`<section aria-labelledby="files">
    <h2 id="files">Files changed</h2>
    <div class="scroll tall" role="group" aria-labelledby="files" tabindex="0"><table class="files">
      <thead><tr>
        <th scope="col">Path</th><th scope="col">Change</th><th scope="col" class="number">Lines</th>
      </tr></thead>
      <tbody>${listed.map(row)}</tbody>
    </table></div>
    ${more > 0 ? html`<p class="note">and ${more} more that are not listed</p>` : null}
  </section>`;
}

function row({ path, change, added, removed }: FileChange): Markup {
  return html`<tr>
    <th scope="row"><code>${path}</code></th>
    <td class="${change}">${change}</td>
    <td class="number">${lines("+", "added", added)} ${lines("−", "deleted", removed)}</td>
  </tr>`;
}

function lines(sign: string, change: string, count: number | null): Markup | null {
  return count ? html`<span class="${change}">${sign}${count}</span>` : null;
}
