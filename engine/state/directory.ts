// The queues of the other shards. Their own shards decide about them; what is known here follows.

import type { QueueReference, ReferenceChange } from "../relay/other-shard.ts";

export class Directory {
  readonly #byName = new Map<string, QueueReference>();
  readonly #byOwner = new Map<number, QueueReference>();
  /** Queues that are being deleted, by owner. */
  readonly #retired = new Set<number>();

  get size(): number {
    return this.#byName.size;
  }

  apply({ put, removed }: ReferenceChange): void {
    for (const { name, owner } of removed) {
      // Its name may be another queue's by now.
      if (this.#byName.get(name)?.owner === owner) this.#byName.delete(name);
      this.#byOwner.delete(owner);
      this.#retired.delete(owner);
    }
    for (const reference of put) {
      this.#byName.set(reference.name, reference);
      this.#byOwner.set(reference.owner, reference);
      this.#retired.delete(reference.owner);
    }
  }

  /** Nothing is sent there any more, unless it is heard of again. */
  retire(owner: number): void {
    if (this.#byOwner.has(owner)) this.#retired.add(owner);
  }

  /** Whether the queue is there, and takes items. */
  isOpen(owner: number): boolean {
    return this.#byOwner.has(owner) && !this.#retired.has(owner);
  }

  named(name: string): QueueReference | undefined {
    return this.#byName.get(name);
  }

  withOwner(owner: number): QueueReference | undefined {
    return this.#byOwner.get(owner);
  }

  get all(): Iterable<QueueReference> {
    return this.#byName.values();
  }
}
