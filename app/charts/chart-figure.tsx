import type { CSSProperties, ReactNode } from "react";
import { number, short } from "./figures.ts";
import type { Bar, Chart, Panel } from "./groups.ts";
import { type Axis, axisOf } from "./scale.ts";

/** All panels share one axis, so that bars can be compared vertically. */
export function ChartFigure({ chart }: { readonly chart: Chart }): ReactNode {
  const { title, durability, note, unit, panels, absent } = chart;
  const axis = axisOf(panels.flatMap(({ bars }) => bars.map(({ range }) => range)));
  const lines = axis.ticks.map(
    (tick) => `linear-gradient(var(--line) 0 0) ${axis.place(tick)}% 0 / 1px 100% no-repeat`,
  );
  return (
    <figure
      className={`chart ${axis.isLogarithmic ? "chart-log" : ""}`}
      style={{ "--lines": lines.join() } as CSSProperties}
    >
      <figcaption className="chart-head cluster">
        <b>{title}</b> <span>{durability}</span>
      </figcaption>
      {panels.map((panel) => (
        <PanelBars key={panel.title} panel={panel} axis={axis} />
      ))}
      <AxisRow axis={axis} unit={unit} />
      {[note, ...absent].map((line) => (
        <p key={line} className="caption">
          {line}
        </p>
      ))}
      <Details chart={chart} />
    </figure>
  );
}

interface PanelProps {
  readonly panel: Panel;
  readonly axis: Axis;
}

function PanelBars({ panel: { title, detail, bars }, axis }: PanelProps): ReactNode {
  return (
    <div className="chart-panel">
      <p className="chart-panel-title">
        {title}
        {detail !== "" && <span>{detail}</span>}
      </p>
      <div>
        {bars.map((bar) => (
          <BarRow key={bar.name} bar={bar} axis={axis} />
        ))}
      </div>
    </div>
  );
}

function BarRow({ bar, axis }: { readonly bar: Bar; readonly axis: Axis }): ReactNode {
  const [median, min, max] = [bar.range.median, bar.range.min, bar.range.max].map(axis.place);
  const style = { "--median": `${median}%`, "--min": `${min}%`, "--max": `${max}%` };
  return (
    <div className={`chart-bar chart-bar-${bar.look}`} style={style as CSSProperties}>
      <span className="chart-bar-name note">{bar.name}</span>
      <span className="chart-bar-value">{number(bar.range.median)}</span>
      <span className="chart-bar-track">
        <i />
      </span>
    </div>
  );
}

function AxisRow({ axis, unit }: { readonly axis: Axis; readonly unit: string }): ReactNode {
  return (
    <div className="chart-panel chart-axis">
      <div className="chart-bar">
        <span className="chart-bar-name note">
          {axis.isLogarithmic ? `${unit}, logarithmic` : unit}
        </span>
        <span className="chart-bar-track" aria-hidden="true">
          {axis.ticks.map((tick) => (
            <b key={tick} style={tickPlace(axis.place(tick))}>
              {short(tick)}
            </b>
          ))}
        </span>
      </div>
    </div>
  );
}

/** A tick label is below its line, but at the ends of the axis inside it. */
function tickPlace(at: number): CSSProperties {
  const shift = at < 5 ? "0" : at > 95 ? "-100%" : "-50%";
  return { "--at": `${at}%`, "--shift": shift } as CSSProperties;
}

function Details({ chart }: { readonly chart: Chart }): ReactNode {
  return (
    <details className="chart-data prose">
      <summary className="note">The figures, and how they were measured</summary>
      <p className="note">{chart.source}.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className="chart-scroll" aria-label={`Figures: ${chart.title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[chart.unit, "of", "median", "lowest to highest"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {chart.panels.flatMap(({ title, bars }) =>
              bars.map(({ name, range: { median, min, max } }) => (
                <tr key={`${title} ${name}`}>
                  <th scope="row">{title}</th>
                  <td>{name}</td>
                  <td>{number(median)}</td>
                  <td>{`${number(min)} to ${number(max)}`}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </section>
    </details>
  );
}
