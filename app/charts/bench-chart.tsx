import type { CSSProperties, ReactNode } from "react";
import { number } from "./figures.ts";
import { type Bar, type Chart, chartOf, type Group, type Panel } from "./groups.ts";
import { highestOf, placesOf } from "./scale.ts";
import { siteData } from "./site-data.ts";
import "./charts.css";

interface BenchChartProps {
  readonly group: Group;
}

/** Bars from a results file. There is no chart of peers until there is a file of them. */
export function BenchChart({ group }: BenchChartProps): ReactNode {
  const chart = chartOf(siteData, group);
  if (chart === null) {
    if (group === "peers") return null;
    throw new Error(`no file in bench/results has what the chart '${group}' shows`);
  }
  return (
    <figure className="hf-chart">
      <figcaption className="hf-chart-head">
        <b>{chart.title}</b> <span>{chart.durability}</span>
      </figcaption>
      <div className="hf-chart-panels">
        {chart.panels.map((panel) => (
          <PanelBars key={panel.title} panel={panel} unit={chart.unit} />
        ))}
      </div>
      <p className="hf-chart-note">{chart.note}</p>
      <Table chart={chart} />
    </figure>
  );
}

function PanelBars({ panel, unit }: { readonly panel: Panel; readonly unit: string }): ReactNode {
  const highest = highestOf(panel.bars.map(({ range }) => range));
  const said = panel.bars.map(({ name, range }) => `${name} ${number(range.median)} ${unit}`);
  return (
    <div className="hf-panel">
      <p className="hf-panel-title">
        {panel.title}
        {panel.detail !== "" && <span>{panel.detail}</span>}
      </p>
      <div role="img" aria-label={`${panel.title}: ${said.join(", ")}`}>
        {panel.bars.map((bar) => (
          <BarRow key={bar.name} bar={bar} highest={highest} unit={unit} />
        ))}
      </div>
    </div>
  );
}

function BarRow({
  bar,
  highest,
  unit,
}: {
  readonly bar: Bar;
  readonly highest: number;
  readonly unit: string;
}): ReactNode {
  const { median, min, max } = placesOf(bar.range, highest);
  const style = {
    "--median": `${median}%`,
    "--min": `${min}%`,
    "--spread": `${Math.max(0.4, max - min)}%`,
  } as CSSProperties;
  return (
    <div className={`hf-bar hf-bar-${bar.look}`} style={style}>
      <span className="hf-bar-name">{bar.name}</span>
      <span className="hf-bar-value">
        {number(bar.range.median)} <small>{unit}</small>
      </span>
      <span className="hf-bar-track">
        <i />
      </span>
    </div>
  );
}

function Table({ chart }: { readonly chart: Chart }): ReactNode {
  return (
    <details className="hf-chart-data">
      <summary>The figures, and how they were measured</summary>
      <p>
        {chart.rounds}. Measured {chart.madeAt}, <code>{chart.source}</code>.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className="hf-scroll" aria-label={`Figures: ${chart.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{chart.unit}</th>
              <th scope="col">of</th>
              <th scope="col">median</th>
              <th scope="col">lowest</th>
              <th scope="col">highest</th>
            </tr>
          </thead>
          <tbody>
            {chart.panels.flatMap(({ title, bars }) =>
              bars.map(({ name, range }) => (
                <tr key={`${title} ${name}`}>
                  <th scope="row">{title}</th>
                  <td>{name}</td>
                  <td>{number(range.median)}</td>
                  <td>{number(range.min)}</td>
                  <td>{number(range.max)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </section>
    </details>
  );
}
