// The pauses of queues, as far as they are certain from the calls of a world and their answers.

import type { Ending } from "./bundle.ts";

/** The operations of a queue that are paused. */
export interface Sides {
  readonly lease: boolean;
  readonly produce: boolean;
}

export interface PauseCall {
  readonly queue: string;
  readonly requested: Sides;
  /** The certain pauses before the call. */
  readonly before: Periods;
}

/** A time during which one side is certainly paused. */
export interface Period {
  /** When the pause was answered. */
  readonly at: number;
}

/** `null` = not paused. */
export interface Periods {
  readonly lease: Period | null;
  readonly produce: Period | null;
}

const neither: Periods = { lease: null, produce: null };

export class Pauses {
  readonly #certain = new Map<string, Periods>();
  /** The unanswered call of each queue; at most one at a time. */
  readonly #open = new Map<string, PauseCall>();
  /** Queues whose last call had no answer. */
  readonly #doubted = new Set<string>();
  /** Calls before a delete: they may apply to the old or the new queue of the name. */
  readonly #overtaken = new Set<PauseCall>();
  /** Queues that ever were paused, or may have been. */
  readonly #touched = new Set<string>();

  of(queue: string): Sides {
    const { lease, produce } = this.since(queue);
    return { lease: lease !== null, produce: produce !== null };
  }

  since(queue: string): Periods {
    return this.#certain.get(queue) ?? neither;
  }

  /** Whether any operation of the queue may be paused. */
  mayBe(queue: string): boolean {
    const { lease, produce } = this.of(queue);
    return lease || produce || this.#open.has(queue) || this.#doubted.has(queue);
  }

  mayEverHaveBeen(queue: string): boolean {
    return this.#touched.has(queue);
  }

  isOpen(queue: string): boolean {
    return this.#open.has(queue);
  }

  /** A side that the call resumes may be resumed from now on. */
  begun(queue: string, requested: Sides): PauseCall {
    this.#touched.add(queue);
    const before = this.since(queue);
    this.#certain.set(queue, {
      lease: requested.lease ? before.lease : null,
      produce: requested.produce ? before.produce : null,
    });
    const call = { queue, requested, before };
    this.#open.set(queue, call);
    return call;
  }

  /** `null` = no answer will ever arrive. */
  ended(call: PauseCall, ending: Ending<void> | null, now: number): void {
    if (this.#open.get(call.queue) !== call) return;
    this.#open.delete(call.queue);
    if (this.#overtaken.delete(call)) return;
    if (ending === null) this.#doubted.add(call.queue);
    else this.#certain.set(call.queue, ending.ok ? periodsOf(call, now) : call.before);
    if (ending?.ok === true) this.#doubted.delete(call.queue);
  }

  /** The queue is being deleted; afterwards its name may belong to a new queue, or still to it. */
  forget(queue: string): void {
    const open = this.#open.get(queue);
    if (open !== undefined) this.#overtaken.add(open);
    this.#certain.delete(queue);
    // The delete may be refused.
    this.#doubted.add(queue);
  }
}

function periodsOf({ requested, before }: PauseCall, at: number): Periods {
  return {
    lease: requested.lease ? (before.lease ?? { at }) : null,
    produce: requested.produce ? (before.produce ?? { at }) : null,
  };
}
