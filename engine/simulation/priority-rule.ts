// I24: an item with a higher priority, after aging, is leased first. From the answers alone: if an
// item was certainly ready when another of its queue was granted, and was granted later itself, or
// never, then it was not due before that one.

import { limits } from "../model/limits.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Tracked } from "./tracked.ts";

/** A granted item. */
interface PriorityGrant {
  readonly priority: number;
  /** The engine time at which it was granted. */
  readonly at: number;
  /** At most its priority after aging at that time. */
  readonly agedMax: number;
  /** The least priority that the lease takes. */
  readonly priorityMin: number;
  /** When the lease began, in the order of all calls and answers. */
  readonly begun: number;
}

export class PriorityRule {
  readonly #grants = new Map<string, PriorityGrant[]>();

  granted(
    { place, produce, priority }: Tracked,
    { at, priorityMin, begun }: Omit<PriorityGrant, "priority" | "agedMax">,
  ): void {
    const waitedMs = at - produce.begunAt;
    const agedMax = aged(priority, waitedMs, place);
    const grants = this.#grants.getOrInsertComputed(place.name, () => []);
    grants.push({ priority, agedMax, at, priorityMin, begun });
  }

  /** An item that was granted before this one, although this one came first; `null` = none. */
  overtakerOf({ place, produce, priority }: Tracked, at: number): PriorityGrant | null {
    const overtaker = this.#grants.get(place.name)?.find((grant) => {
      // Items of one priority have no order across partitions.
      if (grant.priority === priority || grant.at >= at) return false;
      if (grant.begun < produce.answered) return false;
      // The time at which an item is stored is rounded up to a whole millisecond.
      const waitedMs = Math.max(0, grant.at - produce.answeredAt - 1);
      return priority >= grant.priorityMin && aged(priority, waitedMs, place) > grant.agedMax;
    });
    return overtaker ?? null;
  }
}

/** The priority of an item that has waited for so long. */
function aged(priority: number, waitedMs: number, { priorityAgingMs }: QueueParameters): number {
  return Math.min(limits.priorityMax, priority + Math.floor(waitedMs / priorityAgingMs));
}
