import { formatDuration } from "../../duration.js";
import { plural } from "../figures.js";
import { beginning, html, type Markup, section } from "./markup.js";

/** What a page shows of a receipt. */
export interface ShownReceipt {
  commit: string | undefined;
  tree: string;
  confirmed: number;
  signer: string | null;
  checks: {
    name: string;
    exitCode: number | null;
    durationMs: number;
    witness: string | null;
    flaky: string[];
    log: { sha256: string } | null;
  }[];
  /** All of it, as it is in its file. */
  text: string;
}

const DIGEST_CHARS = 12;

export function receiptPart(receipt: ShownReceipt, run: string): Markup {
  const { commit, tree, confirmed, signer, checks, text } = receipt;
  const rows = checks.map(({ name, exitCode, durationMs, witness, flaky, log }) => {
    const what = [witness, ...(flaky.length === 0 ? [] : [`flaky: ${flaky.join(", then ")}`])];
    return html`<tr><td class="number">${exitCode ?? "-"}</td><td class="number">${formatDuration(durationMs)}</td>
      <td>${what.filter(Boolean).join("; ") || "-"}</td>
      <td><code>${log === null ? "-" : log.sha256.slice(0, DIGEST_CHARS)}</code></td>
      <th scope="row"><code>${beginning(name)}</code></th></tr>`;
  });
  const again = confirmed === 0 ? null : html`, confirmed ${plural(confirmed, "time")}`;
  const signed = signer === null ? "not signed" : html`signed with <code>${signer}</code>`;
  const about = html`${commit === undefined ? "Tree" : "Commit"} <code>${commit ?? tree}</code>${again}, ${signed}.
    <code>ralph verify ${run}</code> runs the checks again.`;
  const whole = html`<details><summary>receipt.json</summary><div class="inside"><pre>${text}</pre></div></details>`;
  return section(
    "Receipt",
    html`<table class="files">
      <thead><tr><th scope="col" class="number">exit</th><th scope="col" class="number">time</th>
        <th scope="col">witness</th><th scope="col">sha256 of log</th><th scope="col">check</th></tr></thead>
      <tbody>${rows}</tbody>
    </table>`,
    { scrolls: "tall", below: html`<p class="note">${about}</p>${whole}` },
  );
}
