import { html } from "./markup.js";

/** The timeline, the columns, the grid of checks and the list of files. */
export const CHART_STYLES = html`
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
.files td span { margin-left: .4rem; }
@media print {
  .fading { mask-image: none; } .grid { padding-right: 0; }
  .cell { print-color-adjust: exact; } .wide { display: block; width: auto; } .wide thead { display: none; }
  .wide tbody, .wide tr, .wide tbody th { display: block; max-width: none; } .wide tbody td { display: inline-block; }
}
`;
