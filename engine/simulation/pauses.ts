// What is certain to be paused of the queues of a world, by the calls and their answers.

import type { Ending } from "./bundle.ts";

/** Of a queue: what is paused of it. */
export interface Sides {
  readonly lease: boolean;
  readonly produce: boolean;
}

export interface PauseCall {
  readonly queue: string;
  readonly asked: Sides;
  /** What was certain before it. */
  readonly before: Periods;
}

/** A side that is paused for certain, for as long as it stays so. */
export interface Period {
  /** When whoever asked for it was answered. */
  readonly at: number;
}

/** `null`: it is not. */
export interface Periods {
  readonly lease: Period | null;
  readonly produce: Period | null;
}

const neither: Periods = { lease: null, produce: null };

export class Pauses {
  readonly #certain = new Map<string, Periods>();
  /** The latest of each queue that is not answered; there is one at a time. */
  readonly #open = new Map<string, PauseCall>();
  /** Of which nobody heard how the last call ended. */
  readonly #doubted = new Set<string>();
  /** Calls that a delete came after: which queue of that name they are of is not known. */
  readonly #overtaken = new Set<PauseCall>();
  /** Those that ever were or may have been. */
  readonly #touched = new Set<string>();

  of(queue: string): Sides {
    const { lease, produce } = this.since(queue);
    return { lease: lease !== null, produce: produce !== null };
  }

  since(queue: string): Periods {
    return this.#certain.get(queue) ?? neither;
  }

  /** Whether anything of it may be paused. */
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

  /** A side that is to go on may do so from now on. */
  begun(queue: string, asked: Sides): PauseCall {
    this.#touched.add(queue);
    const before = this.since(queue);
    this.#certain.set(queue, {
      lease: asked.lease ? before.lease : null,
      produce: asked.produce ? before.produce : null,
    });
    const call = { queue, asked, before };
    this.#open.set(queue, call);
    return call;
  }

  /** `null`: nobody will ever hear of it. */
  ended(call: PauseCall, ending: Ending<void> | null, now: number): void {
    if (this.#open.get(call.queue) !== call) return;
    this.#open.delete(call.queue);
    if (this.#overtaken.delete(call)) return;
    if (ending === null) this.#doubted.add(call.queue);
    else this.#certain.set(call.queue, ending.ok ? periodsOf(call, now) : call.before);
    if (ending?.ok === true) this.#doubted.delete(call.queue);
  }

  /** Another queue may come in its place, or the one that was before. */
  forget(queue: string): void {
    const open = this.#open.get(queue);
    if (open !== undefined) this.#overtaken.add(open);
    this.#certain.delete(queue);
    // Or the delete is refused.
    this.#doubted.add(queue);
  }
}

function periodsOf({ asked, before }: PauseCall, at: number): Periods {
  return {
    lease: asked.lease ? (before.lease ?? { at }) : null,
    produce: asked.produce ? (before.produce ?? { at }) : null,
  };
}
