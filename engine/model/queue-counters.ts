// Counts and durations of the items of one queue. A shard counts while it decides a turn and
// reports the counts with the turn's answers, so only committed events are counted.

import type { QueueCounters } from "./api.ts";
import type { Histogram } from "./histogram.ts";
import { Observations } from "./histogram.ts";
import type { ItemEvents } from "./messages.ts";

export type CounterName = keyof QueueCounters;

export const noCounters: QueueCounters = {
  ...{ produced: 0, leased: 0, completed: 0, retried: 0, released: 0, extended: 0 },
  ...{ lapsed: 0, expired: 0, dead: 0, discarded: 0, removed: 0, arrived: 0, redriven: 0 },
};

export const counterNames = Object.keys(noCounters) as readonly CounterName[];

/** Upper bounds in seconds, each about five times the previous one. */
export const spanBounds = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1_800, 7_200] as const;

/** The totals of one queue, since the process has had it. */
export class QueueTotals {
  readonly counters: { -readonly [name in CounterName]: number } = { ...noCounters };
  /** Seconds from ready to leased; `null` = none was leased. */
  waited: Observations | null = null;
  /** Seconds from leased to completed; `null` = none was completed. */
  held: Observations | null = null;

  add({ counts, waited, held }: ItemEvents): void {
    for (const name in counts) {
      this.counters[name as CounterName] += counts[name as CounterName] ?? 0;
    }
    if (waited !== undefined) this.waited = merged(this.waited, waited);
    if (held !== undefined) this.held = merged(this.held, held);
  }
}

function merged(into: Observations | null, observed: Observations): Observations {
  const all = into ?? new Observations(spanBounds);
  all.merge(observed);
  return all;
}

export function copyOf(observations: Observations | null): Histogram | null {
  if (observations === null) return null;
  const { bounds, counts, sum } = observations;
  return { bounds, counts: [...counts], sum };
}
