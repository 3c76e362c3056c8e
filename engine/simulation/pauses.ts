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
  readonly before: Sides;
}

const none: Sides = { lease: false, produce: false };

export class Pauses {
  readonly #certain = new Map<string, Sides>();
  /** The latest of each queue that is not answered; there is one at a time. */
  readonly #open = new Map<string, PauseCall>();
  /** Of which nobody heard how the last call ended. */
  readonly #doubted = new Set<string>();
  /** Calls that a delete came after: which queue of that name they are of is not known. */
  readonly #overtaken = new Set<PauseCall>();
  /** Those that ever were or may have been. */
  readonly #touched = new Set<string>();

  of(queue: string): Sides {
    return this.#certain.get(queue) ?? none;
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
    const before = this.of(queue);
    const both = { lease: before.lease && asked.lease, produce: before.produce && asked.produce };
    this.#certain.set(queue, both);
    const call = { queue, asked, before };
    this.#open.set(queue, call);
    return call;
  }

  /** `null`: nobody will ever hear of it. */
  ended(call: PauseCall, ending: Ending<void> | null): void {
    if (this.#open.get(call.queue) !== call) return;
    this.#open.delete(call.queue);
    if (this.#overtaken.delete(call)) return;
    if (ending === null) this.#doubted.add(call.queue);
    else this.#certain.set(call.queue, ending.ok ? call.asked : call.before);
    if (ending?.ok === true) this.#doubted.delete(call.queue);
  }

  /** Another queue may come in its place. */
  deleted(queue: string): void {
    const open = this.#open.get(queue);
    if (open !== undefined) this.#overtaken.add(open);
    this.#certain.delete(queue);
    // Or the delete is refused.
    this.#doubted.add(queue);
  }
}
