// The partition as a row of squares, and the trays in which items end.

import type { CSSProperties, ReactNode } from "react";
import { type Hold, partitionOf, type SimItem, type Simulation } from "./queue.ts";

/** Places that are drawn, taken or not, so that the row keeps its height as items come and go. */
const placesDrawn = 20;

export function Partition({ simulation }: { readonly simulation: Simulation }): ReactNode {
  const placed = partitionOf(simulation);
  // By place and not by item: what is drawn changes, and nothing in the page is moved.
  const places = Array.from({ length: Math.max(placesDrawn, placed.length) }, (_, at) => at);
  return (
    <div className="hf-sim-partition">
      <p className="hf-sim-eyebrow">
        <span>queue orders, partition 0</span>
        <span>
          {placed.length === 0
            ? "empty: a lease waits"
            : `${simulation.ready.length} ready, ${simulation.holds.length} leased`}
        </span>
      </p>
      <ol className="hf-sim-row">
        {places.map((at) => {
          const taken = placed[at];
          return taken === undefined ? (
            <li className="hf-sim-place" key={at} aria-hidden="true" />
          ) : (
            <Cell key={at} {...taken} now={simulation.now} />
          );
        })}
      </ol>
    </div>
  );
}

function Cell({
  item,
  hold,
  now,
}: {
  readonly item: SimItem;
  readonly hold: Hold | null;
  readonly now: number;
}): ReactNode {
  const granted = item.attempts + (hold === null ? 0 : 1);
  const left = hold === null ? 0 : (hold.leaseDeadline - now) / hold.leaseTimeoutMs;
  const style = { "--left": Math.max(0, left).toFixed(3) } as CSSProperties;
  return (
    <li className="hf-sim-cell" data-held={hold !== null} style={style}>
      <span className="hf-sim-id" key={item.id}>
        {item.id}
      </span>
      <span className="hf-sim-square">{item.label}</span>
      {hold !== null && <span className="hf-sim-bar" />}
      <span className="hf-sim-holder">{hold?.consumer.replace("worker-", "w") ?? ""}</span>
      <span className="hf-sim-attempts" data-again={granted > 1}>
        {granted === 0 ? "" : `×${granted}`}
      </span>
      <span className="hf-sim-hidden">
        {`item ${item.label}, id ${item.id}, ${hold === null ? "ready" : `leased by ${hold.consumer}`}, attempts ${granted}`}
      </span>
    </li>
  );
}

interface TrayProps {
  readonly name: string;
  readonly kind: "done" | "dead";
  readonly count: number;
  readonly items: readonly { readonly key: string; readonly label: string }[];
}

export function Tray({ name, kind, count, items }: TrayProps): ReactNode {
  return (
    <div className={`hf-sim-tray hf-sim-tray-${kind}`}>
      <p className="hf-sim-eyebrow">
        <span>{name}</span>
        <span>{count}</span>
      </p>
      <ul>
        {items.map(({ key, label }) => (
          <li key={key}>{label}</li>
        ))}
      </ul>
    </div>
  );
}
