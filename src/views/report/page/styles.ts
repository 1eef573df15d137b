import { html } from "./markup.js";

/** Colours, type and the frame of the page. Lengths that come from a run are SVG attributes, not styles. */
export const STYLES = html`
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --text: #22262b; --soft: #5c636d; --line: #e3e0d9;
  --passed: #1b7048; --failed: #b02f28; --agent-failed: #8a5300; --cut-off: #5a6370; --at-work: #2b5fa8;
  --passed-cell: #dcf0e4; --failed-cell: #b9463d; --failed-sign: #ffffff; --column: #6f87a6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171a; --card: #1c1f23; --text: #e4e4e0; --soft: #a0a7b1; --line: #31353b;
    --passed: #62c795; --failed: #f08a7f; --agent-failed: #e3b15c; --cut-off: #a3acb8; --at-work: #8ab6f2;
    --passed-cell: #1c3a2b; --failed-cell: #8f3d36; --failed-sign: #ffffff; --column: #7c93b3;
  }
}
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--text); -webkit-text-size-adjust: 100%; }
body {
  max-width: 62rem; margin: 0 auto; padding: clamp(1.25rem, 5vw, 4rem) clamp(1rem, 4vw, 2.5rem);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
code, pre, .message, .words, .why { unicode-bidi: isolate; }
pre { unicode-bidi: plaintext; }
h1 { display: flex; gap: .6em; align-items: flex-start; margin: .35rem 0 .75rem; font-size: clamp(1.5rem, 4.5vw, 2.25rem); line-height: 1.2; letter-spacing: -.015em; font-weight: 650; text-wrap: balance; }
h2 { margin: 0 0 .9rem; font-size: 1.125rem; font-weight: 650; }
h3 { margin: 1.25rem 0 .4rem; font-size: .8125rem; font-weight: 600; color: var(--soft); }
section { margin-top: 3.25rem; }
p { margin: 0 0 .5rem; }
a { color: inherit; text-underline-offset: .2em; text-decoration-color: var(--soft); }
:focus-visible { outline: 2px solid var(--at-work); outline-offset: 2px; }
small { font-size: .8125rem; color: var(--soft); font-weight: 400; }
.run, .note, footer { color: var(--soft); font-size: .875rem; }
.message { max-width: 42rem; white-space: pre-line; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.sign { flex: none; display: inline-block; width: 1.4em; height: 1.4em; border-radius: 50%; text-align: center; font: 700 .75rem/1.4 system-ui, sans-serif; color: var(--paper); background: var(--text); }
.sign.passed { background: var(--passed); } .sign.failed { background: var(--failed); }
.sign.agent-failed { background: var(--agent-failed); border-radius: .3em; }
.sign.cut-off { background: var(--cut-off); border-radius: .3em; } .sign.at-work { background: var(--at-work); }
h1 .sign { font-size: .8em; }
dl { margin: 0; } dd { margin: 0; } dt { color: var(--soft); font-size: .8125rem; }
.facts { display: grid; gap: .15rem; margin-top: 1.25rem; }
.facts div { display: grid; grid-template-columns: 6.5rem 1fr; align-items: baseline; }
.totals { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.25rem, 1fr)); gap: 1.1rem 1.5rem; margin-top: 2rem; padding-top: 1.4rem; border-top: 1px solid var(--line); }
.totals:empty { display: none; }
.totals small { display: block; letter-spacing: 0; } .facts dd { font-size: .9375rem; }
.totals dd { font-size: 1.5rem; line-height: 1.35; font-weight: 600; letter-spacing: -.01em; }
footer { margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--line); }
details { border-top: 1px solid var(--line); } details:last-of-type { border-bottom: 1px solid var(--line); }
summary { position: relative; display: flex; flex-wrap: wrap; gap: .1rem .6rem; align-items: center; padding: .6rem 1.75rem .6rem .25rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::after { content: "+"; position: absolute; right: .4rem; color: var(--soft); } details[open] > summary::after { content: "−"; }
summary b { font-weight: 600; } .why, .took { color: var(--soft); font-size: .875rem; } .took { margin-left: auto; }
.inside { padding: 0 .25rem 1.5rem; scroll-margin-top: 3.5rem; }
pre { max-height: 32rem; margin: .4rem 0; padding: .85rem 1rem; overflow: auto; white-space: pre-wrap; line-height: 1.5; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; }
ul { margin: 0; padding: 0; list-style: none; } li { padding: .2rem 0; }
@media print {
  :root { --paper: #ffffff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  summary::after { content: none !important; }
  .sign { print-color-adjust: exact; }
  pre, .scroll { max-height: none !important; overflow: visible !important; }
  section { margin-top: 1.5rem; } tr, figure, summary { break-inside: avoid; } h2, h3, summary { break-after: avoid; }
}

/* The timeline, the columns, the grid of checks and the lists. */
.scroll + .note { margin-top: .6rem; }
.scroll { position: relative; overflow: auto; } .scroll.tall { max-height: 34rem; }
table { border-collapse: collapse; font-size: .875rem; }
th { font-weight: 400; text-align: left; } .number { text-align: right; white-space: nowrap; }
.scroll.tall thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); }
thead th { color: var(--soft); font-size: .8125rem; padding-bottom: .3rem; }
rect.agent { fill: var(--column); } rect.rest { fill: var(--column); opacity: .45; }
.passed rect.agent, .passed rect.rest { fill: var(--passed); } .failed rect.agent, .failed rect.rest { fill: var(--failed); }
.agent-failed rect.agent, .agent-failed rect.rest { fill: var(--agent-failed); } .cut-off rect.agent, .cut-off rect.rest { fill: var(--cut-off); }
.at-work rect.agent, .at-work rect.rest { fill: var(--at-work); } rect.ink { fill: var(--paper); opacity: .4; }
.timeline svg { display: block; width: 100%; height: 4.25rem; overflow: visible; } .timeline.many { min-width: 44rem; } .timeline a:hover rect { opacity: .8; }
line { stroke: var(--soft); stroke-width: 2; stroke-dasharray: 2 5; }
.clock { display: flex; justify-content: space-between; margin: .15rem 0 0; padding-top: .25rem; border-top: 1px solid var(--line); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin-top: .5rem; } .legend svg { width: 1.6rem; height: .7rem; margin-right: .25rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(12.5rem, 100%), 1fr)); gap: 1.75rem 2.5rem; }
figure { margin: 0; min-width: 0; } figure svg { display: block; width: 100%; height: 7rem; overflow: visible; margin-top: .5rem; }
figcaption { font-size: .875rem; font-weight: 600; } figcaption span { display: block; font-weight: 400; color: var(--soft); }
text { fill: var(--soft); font-size: .75rem; text-anchor: middle; }
.fading { mask-image: linear-gradient(to right, #000 calc(100% - 2rem), transparent); }
.grid { width: max-content; padding-right: 2rem; border-collapse: separate; border-spacing: 2px; }
.grid thead th { padding: 0; text-align: center; font-size: .6875rem; }
.grid tbody th { position: sticky; left: 0; z-index: 1; min-width: 6rem; max-width: min(17rem, 40vw); padding: .2rem .9rem .2rem 0; background: var(--paper); line-height: 1.35; }
.grid tbody th code { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; } .grid small { display: block; font-size: .75rem; }
.grid td { padding: 0; vertical-align: middle; text-align: center; }
.cell { display: block; width: 1.6rem; height: 1.6rem; border-radius: .25rem; line-height: 1.6rem; }
.passed > .cell { color: var(--passed); background: var(--passed-cell); } .failed > .cell { color: var(--failed-sign); background: var(--failed-cell); font-weight: 700; }
.wide .cell { width: 1.05rem; height: 1.4rem; line-height: 1.4rem; font-size: .75rem; }
.wide thead th:not(:nth-child(2), :nth-child(5n + 1)) { font-size: 0; }
.not-run > .cell { border: 1px dashed var(--line); }
.files { width: 100%; } .files th, .files td { padding: .25rem .75rem .25rem 0; vertical-align: baseline; border-bottom: 1px solid var(--line); }
.files .added { color: var(--passed); } .files .deleted { color: var(--failed); } .files .number { padding-right: .25rem; }
.files .number span { margin-left: .4rem; }
@media print {
  .fading { mask-image: none; } .grid { padding-right: 0; }
  .cell { print-color-adjust: exact; } .wide { display: block; width: auto; } .wide thead { display: none; }
  .wide tbody, .wide tr, .wide tbody th { display: block; max-width: none; } .wide tbody td { display: inline-block; }
}
`;
