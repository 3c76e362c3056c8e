// Assesses queues soon after they change, so that the start of each condition is known, and on
// request. Changes come with the reports of the shard; without them there is no work.

import type { Explanation, IsShown } from "../model/api.ts";
import type { Clock } from "../model/clock.ts";
import type { Catalog } from "../state/catalog.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Shard } from "../turn/shard.ts";
import { sentence } from "./finding-text.ts";
import { assess, healthOf, type Surroundings } from "./health.ts";

/** Between two assessments of changed queues. */
const assessmentMs = 1_000;

export interface HealthMonitorOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly shard: () => Shard;
}

export class HealthMonitor {
  readonly #options: HealthMonitorOptions;
  readonly #changed = new Set<LogicalQueue>();
  #assessedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HealthMonitorOptions) {
    this.#options = options;
  }

  changed(queue: LogicalQueue): void {
    this.#changed.add(queue);
  }

  /** Called at the end of each report. */
  assessChanged(now: number): void {
    if (now - this.#assessedAt < assessmentMs) return;
    this.#assessedAt = now;
    const around = this.surroundings(now);
    for (const queue of this.#changed) assess(queue, around);
    this.#changed.clear();
  }

  explain(queue: LogicalQueue, isShown: IsShown = () => true): Explanation {
    const now = this.#options.clock.now();
    const around = this.surroundings(now);
    const found = assess(queue, around);
    return {
      queue: queue.definition.name,
      asOf: now,
      health: healthOf(queue, found, around),
      findings: found.map((one) => ({ ...one, text: sentence(one, queue, { now, isShown }) })),
    };
  }

  surroundings(now: number): Surroundings {
    const { catalog, clock, shard } = this.#options;
    const aheadMs = now - clock.machine.now();
    const { isUp, downAt, nextStartAt, fullAt } = shard();
    const down = isUp ? null : { since: downAt + aheadMs, nextStartAt: nextStartAt + aheadMs };
    const fullSince = fullAt === null ? null : fullAt + aheadMs;
    let deadQueues: Set<string> | null = null;
    const isDeadQueue = (name: string): boolean => {
      deadQueues ??= catalog.deadQueueNames;
      // A queue of an unknown shard may name it.
      return deadQueues.has(name) || !catalog.isAllKnown;
    };
    return { now, down, fullSince, isDeadQueue };
  }
}
