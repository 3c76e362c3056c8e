// Views of the simulator: the partition as a row of squares, the workers, the trays for finished
// items, and the log.

import { type CSSProperties, Fragment, type ReactNode } from "react";
import type { SimEvent } from "./model.ts";
import {
  type Consumer,
  type Hold,
  type LogLine,
  partitionOf,
  type SimItem,
  type Simulation,
} from "./queue.ts";

/** Positions drawn, occupied or not, so that the row keeps its height. */
const placesDrawn = 20;

export function Partition({ simulation }: { readonly simulation: Simulation }): ReactNode {
  const { ready, holds, now } = simulation;
  const placed = partitionOf(simulation);
  // Keyed by position, not by item: content changes, but no element moves.
  const length = Math.max(placesDrawn, placed.length);
  const places = Array.from({ length }, (_, at) => placed[at]);
  return (
    <div className="sim-partition">
      <p className="cluster figure fine">
        <span>orders, partition 0</span>
        <span>
          {placed.length === 0
            ? "empty: a lease waits"
            : `${ready.length} ready, ${holds.length} leased`}
        </span>
        <output aria-label="Time in the model">{(now / 1_000).toFixed(1)} s</output>
      </p>
      <ol className="sim-row">
        {places.map((taken, at) =>
          taken === undefined ? (
            <li className="sim-place" key={at} aria-hidden="true" />
          ) : (
            <Cell key={at} {...taken} now={now} />
          ),
        )}
      </ol>
    </div>
  );
}

interface CellProps {
  readonly item: SimItem;
  readonly hold: Hold | null;
  readonly now: number;
}

function Cell({ item, hold, now }: CellProps): ReactNode {
  const granted = item.attempts + (hold === null ? 0 : 1);
  const left = hold === null ? 0 : (hold.leaseDeadline - now) / hold.leaseTimeoutMs;
  const style = { "--left": Math.max(0, left).toFixed(3) } as CSSProperties;
  return (
    <li className="sim-cell" data-held={hold !== null} style={style}>
      <span className="sim-id" key={item.id}>
        {item.id}
      </span>
      <span className="sim-square">{item.label}</span>
      {hold !== null && <span className="sim-bar" />}
      <span className="sim-holder">{hold?.consumer.replace("worker-", "w") ?? ""}</span>
      <span className="sim-attempts" data-again={granted > 1}>
        {granted === 0 ? "" : `×${granted}`}
      </span>
      <span className="visually-hidden">
        {`item ${item.label}, id ${item.id}, ${hold === null ? "ready" : `leased by ${hold.consumer}`}, attempts ${granted}`}
      </span>
    </li>
  );
}

interface ConsumerPanelProps {
  readonly consumer: Consumer;
  readonly simulation: Simulation;
  readonly send: (event: SimEvent) => void;
}

/** The consumer's state; if its lease has lapsed, that. */
function stateOf({ work, mode, waitsUntil }: Consumer, { holds, now }: Simulation): string {
  if (mode === "down") return "crashed";
  if (work === null) {
    if (mode === "stalled") return "stalled";
    return waitsUntil === null ? "idle" : "waits for an item";
  }
  const hold = holds.find(({ item }) => item.id === work.id);
  if (hold === undefined) return `is too late for ${work.label}`;
  const seconds = ((hold.leaseDeadline - now) / 1_000).toFixed(1);
  return mode === "stalled"
    ? `stalled, holds ${work.label} ${seconds} s`
    : `holds ${work.label}, ${seconds} s left`;
}

export function ConsumerPanel(props: ConsumerPanelProps): ReactNode {
  const { consumer, simulation, send } = props;
  const { name, mode, work, waitsUntil } = consumer;
  const isUp = mode === "up";
  const isLate = work !== null && !simulation.holds.some(({ item }) => item.id === work.id);
  const press = (label: string, isPossible: boolean): ReactNode => (
    <button
      type="button"
      aria-label={`${label} ${name}`}
      disabled={!isPossible}
      onClick={() =>
        send({ kind: label.toLowerCase(), consumer: name } as SimEvent & { consumer: string })
      }
    >
      {label}
    </button>
  );
  return (
    <div className="sim-worker" data-bad={mode === "down" || isLate}>
      <p>
        <b>{name}</b> <span>{stateOf(consumer, simulation)}</span>
      </p>
      <div className="sim-buttons">
        {!simulation.automatic && press("Lease", isUp && work === null && waitsUntil === null)}
        {press("Complete", isUp && work !== null)}
        {press("Retry", isUp && work !== null)}
        {mode === "stalled" ? press("Resume", true) : press("Stall", isUp)}
        {mode === "down" ? press("Restart", true) : press("Crash", true)}
      </div>
    </div>
  );
}

interface TrayProps {
  readonly name: string;
  readonly labels: readonly string[];
}

export function Tray({ name, labels }: TrayProps): ReactNode {
  return (
    <div>
      <p className="cluster figure fine">
        <span>{name}</span>
        <span>{labels.length}</span>
      </p>
      <ul>
        {labels.slice(-8).map((label) => (
          <li key={label}>{label}</li>
        ))}
      </ul>
    </div>
  );
}

export function EventLog({ log }: { readonly log: readonly LogLine[] }): ReactNode {
  return (
    <section className="sim-log" aria-label="What happened, the newest first">
      <p className="figure fine">what the server answers</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <ol className="fine" tabIndex={0}>
        {/* A row keeps its position; only its text is replaced, so that nothing moves. */}
        {log.map(({ number, at, who, code, text }, row) => (
          <li key={row}>
            <Fragment key={number}>
              <time className="figure">{(at / 1_000).toFixed(1)}</time>
              <span className={`figure sim-code-${code ?? "none"}`}>{code ?? "·"}</span>
              <span>
                <b>{who}</b> {text}
              </span>
            </Fragment>
          </li>
        ))}
      </ol>
    </section>
  );
}
