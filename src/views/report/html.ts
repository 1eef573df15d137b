import { createHash } from "node:crypto";
import type { Report } from "../../records/report.js";
import { columns, timeline } from "./page/charts.js";
import { files, grid, iterations, stories } from "./page/details.js";
import { header } from "./page/header.js";
import { html, styleSheet } from "./page/markup.js";
import { titleOf } from "./words.js";

/** A run as one page that needs nothing else: no script, no font, no picture, no request. */
export function htmlReport(report: Report): string {
  const styles = styleSheet();
  // Nothing is allowed but the style sheet, known by its hash.
  const hash = createHash("sha256").update(styles.toString()).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="referrer" content="no-referrer">
  <title>${titleOf(report)} · ralph run ${report.run}</title>
  <style>${styles}</style>
</head>
<body>
  ${header(report)}
  <main>
    ${timeline(report)}
    ${columns(report)}
    ${stories(report)}
    ${grid(report)}
    ${files(report)}
    ${iterations(report)}
  </main>
  <footer><p>Made by ralph from the records of run <code>${report.run}</code>.</p></footer>
</body>
</html>
`;
  return page.toString();
}
