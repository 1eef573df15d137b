import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { COST_KEYS, type CostKey, type CostRow, type CostSum, formatCount } from "../../costs.js";
import type { Costs } from "../api.js";
import { Empty, Loading, money, unknownWords } from "./parts.jsx";
import { Totals } from "./shared.jsx";
import { ask } from "./store.js";

const SPANS = [7, 30, 90, 365];

/** The same figures as `ralph costs`. */
export function CostsPage() {
  const [days, setDays] = useState(30);
  const [by, setBy] = useState<CostKey>("day");
  const [costs, setCosts] = useState<Costs | undefined>(undefined);
  useEffect(() => {
    void ask<Costs>(`/api/costs?since=${days}&by=${by}`).then(setCosts, () => {});
  }, [days, by]);
  return (
    <div class="costs">
      <h1>Costs</h1>
      <div class="choices">
        <Choice name="by" values={COST_KEYS} chosen={by} onChoose={setBy} />
        <Choice name="the last days" values={SPANS} chosen={days} onChoose={setDays} />
      </div>
      {costs === undefined ? (
        <Loading lines={8} />
      ) : costs.rows.length === 0 ? (
        <Empty>No agent was called in the last {days} days.</Empty>
      ) : (
        <Found costs={costs} />
      )}
    </div>
  );
}

function Choice<Value extends string | number>({
  name,
  values,
  chosen,
  onChoose,
}: {
  name: string;
  values: readonly Value[];
  chosen: Value;
  onChoose: (value: Value) => void;
}) {
  return (
    <fieldset>
      <legend>{name}</legend>
      {values.map((value) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} />{" "}
          {value}
        </label>
      ))}
    </fieldset>
  );
}

const tokensOf = ({ inputTokens, outputTokens }: CostSum): string =>
  `${formatCount(inputTokens)} in / ${formatCount(outputTokens)} out`;

function Found({ costs }: { costs: Costs }) {
  const { total, rows, by } = costs;
  const totals: [name: string, value: string][] = [
    ["cost", `${money(total.costUsd)} ${unknownWords(total)}`],
    ["runs", String(total.runs)],
    ["calls", String(total.calls)],
    ["tokens", tokensOf(total)],
  ];
  return (
    <>
      <Totals rows={totals} />
      {total.unknown > 0 && (
        <p class="note">{total.unknown} calls did not tell what they cost: that is unknown, and not 0.</p>
      )}
      {by === "day" && rows.length > 1 && <Chart rows={rows} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys */}
      <section class="scroll" tabIndex={0} aria-label={`costs by ${by}`}>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{by}</th>
              {["cost", "runs", "calls", "tokens"].map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(by === "day" ? rows.toReversed() : rows).map((row) => (
              <tr key={row.key}>
                <th scope="row">{row.key}</th>
                <td class="number">
                  {money(row.costUsd)}
                  {unknownWords(row) !== "" && <small>{unknownWords(row)}</small>}
                </td>
                <td class="number">{row.runs}</td>
                <td class="number">{row.calls}</td>
                <td class="number">{tokensOf(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

const HEIGHT = 180;

/** What is known of each day. */
function Chart({ rows }: { rows: CostRow[] }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const own = box.current;
    if (own === null) return;
    const style = getComputedStyle(own);
    const [soft, column, line] = ["--soft", "--column", "--line"].map((name) =>
      style.getPropertyValue(name).trim(),
    ) as [string, string, string];
    const axis = {
      stroke: soft,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      font: "12px system-ui",
    };
    const data: uPlot.AlignedData = [
      rows.map(({ key }) => Date.parse(`${key}T12:00:00`) / 1000),
      rows.map(({ costUsd }) => costUsd),
    ];
    const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
    const plot = new uPlot(
      {
        ...{ width: own.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false } },
        scales: { y: { range: (_, __, high) => [0, high || 1] } },
        axes: [axis, { ...axis, size: 60, values: (_, values) => values.map((value) => money(value)) }],
        series: [{}, { fill: column, stroke: column, points: { show: false }, ...(bars && { paths: bars }) }],
      },
      data,
      own,
    );
    const resized = new ResizeObserver(() => plot.setSize({ width: own.clientWidth, height: HEIGHT }));
    resized.observe(own);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [rows]);
  return <div class="chart" ref={box} role="img" aria-label="cost of each day" />;
}
