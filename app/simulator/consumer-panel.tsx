import type { ReactNode } from "react";
import type { SimEvent } from "./model.ts";
import type { Consumer, Simulation } from "./queue.ts";

interface ConsumerPanelProps {
  readonly consumer: Consumer;
  readonly simulation: Simulation;
  readonly send: (event: SimEvent) => void;
  readonly isReady: boolean;
}

type Verb = "lease" | "complete" | "retry" | "stall" | "resume" | "crash" | "restart";

/** What it is up to; and, where the server knows better than it does, that. */
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

export function ConsumerPanel({
  consumer,
  simulation,
  send,
  isReady,
}: ConsumerPanelProps): ReactNode {
  const { name, mode, work } = consumer;
  const isUp = mode === "up";
  const isLate = work !== null && !simulation.holds.some(({ item }) => item.id === work.id);
  const press = (verb: Verb, label: string, isPossible: boolean): ReactNode => (
    <button
      type="button"
      aria-label={`${label} ${name}`}
      disabled={!isReady || !isPossible}
      onClick={() => send({ kind: verb, consumer: name })}
    >
      {label}
    </button>
  );
  return (
    <div className="hf-sim-worker" data-mode={mode} data-late={isLate}>
      <p className="hf-sim-worker-name">{name}</p>
      <p className="hf-sim-worker-state">{stateOf(consumer, simulation)}</p>
      <div className="hf-sim-buttons">
        {!simulation.automatic &&
          press("lease", "Lease", isUp && work === null && consumer.waitsUntil === null)}
        {press("complete", "Complete", isUp && work !== null)}
        {press("retry", "Retry", isUp && work !== null)}
        {mode === "stalled" ? press("resume", "Resume", true) : press("stall", "Stall", isUp)}
        {mode === "down" ? press("restart", "Restart", true) : press("crash", "Crash", true)}
      </div>
    </div>
  );
}
