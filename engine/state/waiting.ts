// The line of leases that wait on one queue: in order of arrival, each until it
// is served, its deadline passes, or its client hangs up.

import type { LeaseRequest } from "../model/api.ts";
import type { CallKey } from "../model/call-key.ts";
import type { Timer } from "../model/clock.ts";
import type { Failure } from "../model/errors.ts";

export interface Grant {
  readonly partition: number;
  /** The leased items, as `renderLeased` hands them over. */
  readonly items: unknown;
  readonly replayed: boolean;
}

/** A lease request from its arrival to its answer. */
export interface WaitingLease {
  readonly request: LeaseRequest;
  /** Under which it can be asked for again. */
  readonly key: CallKey | undefined;
  readonly since: number;
  /** Its place: lower came earlier. */
  readonly arrival: number;
  readonly deadline: number;
  /** Answers the request, once; later calls do nothing. */
  readonly settle: (outcome: Failure | Grant) => void;
  timer: Timer | null;
  /** Listens to its client's signal, once it has had to wait. */
  hangUp: (() => void) | null;
  /** On its way to a partition. */
  isSent: boolean;
  /** The repetition that has taken its place, and gets what it would have got. */
  next: WaitingLease | null;
  /** Answered, or its client hung up. */
  over: boolean;
}

export class Line {
  /** In order of arrival. */
  #leases: WaitingLease[] = [];

  get size(): number {
    return this.#leases.length;
  }

  /** Takes its place in the line. */
  join(lease: WaitingLease): void {
    // One that comes back after a partition had nothing for it gets its old place.
    this.#leases.splice(this.#placeOf(lease), 0, lease);
  }

  first(): WaitingLease | undefined {
    return this.#leases[0];
  }

  /** Which of the line it is, from 1 on; those that are not in it are absent. */
  get order(): ReadonlyMap<WaitingLease, number> {
    return new Map(this.#leases.map((lease, index) => [lease, index + 1]));
  }

  leave(lease: WaitingLease): void {
    const place = this.#placeOf(lease);
    if (this.#leases[place] === lease) this.#leases.splice(place, 1);
  }

  /** Where it is, or would be. */
  #placeOf({ arrival }: WaitingLease): number {
    let low = 0;
    let high = this.#leases.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#leases[middle] as WaitingLease).arrival < arrival) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Empties the line; the caller answers those that were in it. */
  clear(): WaitingLease[] {
    const leases = this.#leases;
    this.#leases = [];
    return leases;
  }
}
