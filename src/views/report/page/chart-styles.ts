import { html } from "./markup.js";

/** The timeline, the columns, the grid of checks and the list of files. */
export const CHART_STYLES = html`
.scroll { position: relative; overflow: auto; } .scroll.tall { max-height: 34rem; }
table { border-collapse: collapse; font-size: .875rem; }
th { font-weight: 400; text-align: left; } .number { text-align: right; white-space: nowrap; }
.scroll.tall thead th { position: sticky; top: 0; z-index: 1; background: var(--paper); }
thead th { color: var(--soft); font-size: .8125rem; padding-bottom: .3rem; }
rect.agent { fill: var(--column); } rect.rest { fill: var(--column); opacity: .45; }
.timeline { width: 100%; } .timeline th, .timeline td { padding: .22rem .5rem; } 
.timeline tr > :first-child { padding-left: 0; text-align: right; width: 1px; } .timeline tr > :last-child { padding-right: .25rem; }
.timeline .outcome { white-space: nowrap; width: 1px; } .timeline .number { width: 1px; }
.timeline .bar { min-width: 6rem; } .bar svg { display: block; width: 100%; height: .8rem; }
.axis span:last-child { float: right; }
.passed rect { fill: var(--passed); } .failed rect { fill: var(--failed); } .agent-failed rect { fill: var(--agent-failed); }
.cut-off rect { fill: var(--cut-off); } .at-work rect { fill: var(--at-work); }
.legend { margin-top: .6rem; } .legend svg { width: 1.5rem; height: .65rem; margin-left: .75rem; } .legend svg:first-child { margin-left: 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); gap: 1.75rem 2.5rem; }
figure { margin: 0; min-width: 0; } figure svg { display: block; width: 100%; height: 7rem; margin-top: .5rem; }
figcaption { font-size: .875rem; font-weight: 600; } figcaption span { font-weight: 400; color: var(--soft); }
text { fill: var(--soft); font-size: .75rem; text-anchor: middle; }
.grid { border-collapse: separate; border-spacing: 2px; }
.grid thead th { padding: 0; text-align: center; font-size: .6875rem; }
.grid tbody th { position: sticky; left: 0; z-index: 1; min-width: 8rem; max-width: min(20rem, 45vw); padding: .15rem .9rem .15rem 0; background: var(--paper); }
.grid tbody th code { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; } .grid small { display: block; font-size: .75rem; }
.grid tbody td { min-width: 1.6rem; width: 1.6rem; height: 1.6rem; padding: 0; border-radius: .25rem; text-align: center; line-height: 1; }
td.passed { color: var(--passed); background: var(--passed-cell); } td.failed { color: var(--failed-sign); background: var(--failed-cell); font-weight: 700; }
td.not-run { border: 1px dashed var(--line); }
.files { width: 100%; } .files th, .files td { padding: .25rem .75rem .25rem 0; vertical-align: baseline; border-bottom: 1px solid var(--line); }
.files .added { color: var(--passed); } .files .deleted { color: var(--failed); } .files .number { padding-right: .25rem; }
.files td span { margin-left: .4rem; }
@media (max-width: 36rem) { .timeline .word { display: none; } .timeline th, .timeline td { padding-inline: .3rem; } }
@media print {
  .wide thead { display: none; } .wide tr, .wide tbody th { display: block; max-width: none; } .wide tbody td { display: inline-block; line-height: 1.6rem; }
}
`;
