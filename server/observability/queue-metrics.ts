// The metrics of queues. Only the busiest queues have a label of their own; the others are summed
// up. A queue may move between the two, so events once counted for the others stay counted there:
// a falling sum would look like a restart, and a jump like traffic.

import type { QueueCounters, QueueGauges } from "../../engine/model/api.ts";
import type { Histogram } from "../../engine/model/histogram.ts";
import { Observations } from "../../engine/model/histogram.ts";
import { counterNames, noCounters, spanBounds } from "../../engine/model/queue-counters.ts";
import { counter, type Family, gauge, histogram, type Sample } from "./families.ts";

/** Label of all queues without their own; no queue's name contains a `~`. */
const other = "~other";

/** Default number of queues with a label of their own. */
export const queueLabelsMax = 200;

const states = ["queued", "leased", "scheduled", "retried"] as const;
const summed = [...states, "waitingLeases", "leasePaused", "producePaused"] as const;

type QueueCounts = Pick<QueueGauges, "counters" | "waited" | "held">;

const nothing: QueueCounts = { counters: noCounters, waited: null, held: null };

export class QueueMetrics {
  readonly #queuesMax: number;
  /** The counts of each queue at the last scrape. */
  #seen = new Map<string, QueueCounts>();
  readonly #others = {
    counters: { ...noCounters } as { -readonly [name in keyof QueueCounters]: number },
    waited: new Observations(spanBounds),
    held: new Observations(spanBounds),
  };

  constructor(queuesMax: number) {
    this.#queuesMax = queuesMax;
  }

  families(queues: readonly QueueGauges[], now: number): Family[] {
    const shown = this.#shown(queues);
    return [...itemFamilies(shown), ...ageFamilies(shown, now), ...limitFamilies(shown)];
  }

  #shown(queues: readonly QueueGauges[]): readonly QueueGauges[] {
    const named = queues.toSorted((a, b) => activityOf(b) - activityOf(a));
    const rest = named.splice(this.#queuesMax);
    for (const queue of rest) this.#countOther(queue, this.#seen.get(queue.queue) ?? nothing);
    this.#seen = new Map(queues.map((queue) => [queue.queue, queue]));
    if (rest.length === 0) return queues;
    const { counters, waited, held } = this.#others;
    return [...named, { ...sumOf(rest), counters: { ...counters }, waited, held }];
  }

  #countOther({ counters, waited, held }: QueueGauges, before: QueueCounts): void {
    // A queue of that name was deleted and created again in between.
    const isNew = counterNames.some((name) => counters[name] < before.counters[name]);
    const seen = isNew ? nothing : before;
    for (const name of counterNames) {
      this.#others.counters[name] += counters[name] - seen.counters[name];
    }
    addSince(this.#others.waited, waited, seen.waited);
    addSince(this.#others.held, held, seen.held);
  }
}

function addSince(into: Observations, now: Histogram | null, before: Histogram | null): void {
  if (now === null) return;
  const counts = now.counts.map((count, bucket) => count - (before?.counts[bucket] ?? 0));
  into.merge({ counts, sum: now.sum - (before?.sum ?? 0) });
}

/** The events of its items since the process opened it, plus the number of its items. */
function activityOf(queue: QueueGauges): number {
  const events = counterNames.reduce((sum, name) => sum + queue.counters[name], 0);
  return states.reduce((sum, state) => sum + queue[state], events);
}

function sumOf(rest: readonly QueueGauges[]): Omit<QueueGauges, keyof QueueCounts> {
  const sums = summed.map((key) => [key, rest.reduce((sum, one) => sum + Number(one[key]), 0)]);
  const instants = (key: "oldestReadyAt" | "nextDueAt"): number[] =>
    rest.map((one) => one[key]).filter((instant) => instant !== null);
  const earliest = (all: number[]): number | null =>
    all.length === 0 ? null : all.reduce((first, one) => Math.min(first, one));
  return {
    queue: other,
    ...(Object.fromEntries(sums) as Pick<QueueGauges, (typeof summed)[number]>),
    // A sum of the limits of different queues means nothing.
    ...{ leasedMax: 0, leaseRate: 0 },
    oldestReadyAt: earliest(instants("oldestReadyAt")),
    nextDueAt: earliest(instants("nextDueAt")),
  };
}

function itemFamilies(shown: readonly QueueGauges[]): Family[] {
  return [
    gauge(
      "holdfast_items",
      "Items by queue and state.",
      shown.flatMap(({ queue, ...counts }) =>
        states.map((state): Sample => [{ queue, state }, counts[state]]),
      ),
    ),
    counter(
      "holdfast_queue_items_total",
      "Events of items, by queue and event.",
      shown.flatMap(({ queue, counters }) =>
        counterNames.map((event): Sample => [{ queue, event }, counters[event]]),
      ),
    ),
    histogram(
      "holdfast_queue_wait_seconds",
      "Seconds from when items were ready to their lease, by queue.",
      withValue(shown, ({ waited }) => waited),
    ),
    histogram(
      "holdfast_queue_held_seconds",
      "Seconds from the lease of items until they were completed, by queue.",
      withValue(shown, ({ held }) => held),
    ),
  ];
}

/** A sample per queue that has a value. */
function withValue(
  shown: readonly QueueGauges[],
  sampleOf: (queue: QueueGauges) => Sample[1] | null,
): Sample[] {
  return shown.flatMap((gauges): Sample[] => {
    const value = sampleOf(gauges);
    return value === null ? [] : [[{ queue: gauges.queue }, value]];
  });
}

function ageFamilies(shown: readonly QueueGauges[], now: number): Family[] {
  return [
    gauge(
      "holdfast_queue_oldest_ready_seconds",
      "How long the oldest ready item has been ready, by queue; 0 if there is none.",
      shown.map(({ queue, oldestReadyAt }) => {
        const ageMs = oldestReadyAt === null ? 0 : Math.max(0, now - oldestReadyAt);
        return [{ queue }, ageMs / 1_000];
      }),
    ),
    gauge(
      "holdfast_queue_next_due_seconds",
      "Seconds until the first scheduled item is due, by queue; absent if there is none.",
      withValue(shown, ({ nextDueAt }) =>
        nextDueAt === null ? null : Math.max(0, nextDueAt - now) / 1_000,
      ),
    ),
  ];
}

function limitFamilies(shown: readonly QueueGauges[]): Family[] {
  return [
    gauge(
      "holdfast_queue_waiting_leases",
      "Lease requests that wait for an item, by queue.",
      shown.map(({ queue, waitingLeases }) => [{ queue }, waitingLeases]),
    ),
    gauge(
      "holdfast_queue_paused",
      "Whether leases or produces of the queue are paused: 1 or 0.",
      shown.flatMap(({ queue, leasePaused, producePaused }): Sample[] => [
        [{ queue, side: "lease" }, Number(leasePaused)],
        [{ queue, side: "produce" }, Number(producePaused)],
      ]),
    ),
    gauge(
      "holdfast_queue_leased_max",
      "Items of the queue that may be leased at one time, if that is limited.",
      withValue(shown, ({ leasedMax }) => leasedMax || null),
    ),
    gauge(
      "holdfast_queue_lease_rate",
      "Items of the queue that may be leased per second, if that is limited.",
      withValue(shown, ({ leaseRate }) => leaseRate || null),
    ),
  ];
}
