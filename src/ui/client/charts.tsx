import type { IterationPage, RunPage } from "../api.js";
import { Sign } from "./parts.jsx";
import { count, formatDuration, money } from "./words.js";

/** A wait drawn in full would leave no room for the work. */
const LONGEST_WAIT = 0.1;

/** The whole run on one axis of time, a bar per iteration; the paler part is the checks. */
export function Timeline({
  iterations,
  onPick,
}: {
  iterations: IterationPage[];
  onPick: (iteration: number) => void;
}) {
  const work = iterations.reduce((sum, { agentMs, restMs }) => sum + agentMs + restMs, 0);
  let total = 0;
  const bars = iterations.map((iteration) => {
    const wait = Math.min(iteration.waitMs, work * LONGEST_WAIT);
    const start = total + wait;
    total = start + iteration.agentMs + iteration.restMs;
    return { iteration, start };
  });
  const percent = (ms: number): string => `${total === 0 ? 0 : ((ms / total) * 100).toFixed(2)}%`;
  return (
    <div class={`timeline ${iterations.length > 40 ? "many" : "few"}`}>
      <svg role="img" aria-label={`${iterations.length} iterations, ${formatDuration(total)} of work`}>
        {bars.map(({ iteration: { iteration, look, agentMs, restMs }, start }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list below does the same for keys
          <g key={iteration} class={look} onClick={() => onPick(iteration)}>
            <title>{`iteration ${iteration}: ${look}, ${formatDuration(agentMs + restMs)}, of it ${formatDuration(agentMs)} the agent`}</title>
            <rect
              class="agent"
              x={percent(start)}
              width={percent(Math.max(agentMs, total / 400))}
              height="100%"
              rx="2"
            />
            <rect class="rest" x={percent(start + agentMs)} width={percent(restMs)} height="100%" rx="2" />
          </g>
        ))}
      </svg>
    </div>
  );
}

/** A row per check, a column per iteration. */
export function ChecksGrid({ page }: { page: RunPage }) {
  if (page.checks.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
    <section class="scroll" tabIndex={0} aria-label="checks of each iteration">
      <table class={`grid ${page.iterations.length > 25 ? "wide" : "narrow"}`}>
        <thead>
          <tr>
            <td />
            {page.iterations.map(({ iteration }) => (
              <th key={iteration} scope="col">
                {iteration}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {page.checks.map(({ command, became, cells }) => (
            <tr key={command}>
              <th scope="row">
                <code title={command}>{command}</code> {became !== "" && <small>{became}</small>}
              </th>
              {cells.map(({ look, words }, index) => (
                <td
                  key={page.iterations[index]?.iteration}
                  class={look}
                  title={`iteration ${page.iterations[index]?.iteration}: ${words}`}
                >
                  <span class="cell">
                    {look === "not-run" ? "" : look === "same" ? "=" : look === "passed" ? "✓" : "×"}
                  </span>
                  <span class="hidden">{words}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Time, cost and tokens of each iteration side by side. */
export function Columns({ iterations }: { iterations: IterationPage[] }) {
  if (iterations.length < 2) return null;
  return (
    <div class="charts">
      <Figure
        name="Time"
        iterations={iterations}
        value={({ agentMs, restMs }) => agentMs + restMs}
        words={formatDuration}
      />
      <Figure name="Cost" iterations={iterations} value={({ costUsd }) => costUsd ?? 0} words={money} />
      <Figure name="Tokens" iterations={iterations} value={({ tokens }) => tokens} words={count} />
    </div>
  );
}

interface FigureProps {
  name: string;
  iterations: IterationPage[];
  value: (iteration: IterationPage) => number;
  words: (value: number) => string;
}

function Figure({ name, iterations, value, words }: FigureProps) {
  const peak = Math.max(...iterations.map(value));
  if (peak === 0) return null;
  const slot = 100 / Math.max(iterations.length, 10);
  return (
    <figure>
      <figcaption>
        {name} <small>at most {words(peak)}</small>
      </figcaption>
      <svg role="img" aria-label={`${name} of each iteration`}>
        {iterations.map((iteration, index) => {
          const height = (value(iteration) / peak) * 100;
          return (
            <rect
              key={iteration.iteration}
              class="agent"
              x={`${(index + 0.1) * slot}%`}
              y={`${100 - height}%`}
              width={`${slot * 0.8}%`}
              height={`${height}%`}
            >
              <title>{`iteration ${iteration.iteration}: ${words(value(iteration))}`}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}

export function Legend({ iterations }: { iterations: IterationPage[] }) {
  const looks = [...new Set(iterations.map(({ look }) => look))];
  return (
    <ul class="legend note">
      {looks.map((look) => (
        <li key={look}>
          <Sign look={look} /> {iterations.filter((one) => one.look === look).length} {look.replace("-", " ")}
        </li>
      ))}
    </ul>
  );
}
