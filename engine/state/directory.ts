// The queues of the other shards. Their own shards decide about them; what is known here follows.

import type { QueueReference, ReferenceChange, Standing } from "../relay/other-shard.ts";

interface Removal {
  readonly removed: readonly QueueReference[];
}

export class Directory {
  readonly #byName = new Map<string, QueueReference>();
  readonly #byOwner = new Map<number, QueueReference>();
  /** Queues that are being deleted, by owner. */
  readonly #retired = new Set<number>();
  /** By shard, what it has said last of its queues. */
  readonly #heard = new Map<number, Pick<Standing, "run" | "version">>();

  get size(): number {
    return this.#byName.size;
  }

  /** Whether it is known which queues that shard has. */
  knows(shard: number): boolean {
    return this.#heard.has(shard);
  }

  /** `null` = that was known already; `isNew`: it was opened again since it was heard of. */
  meet({ shard, run, version, queues }: Standing): (Removal & { readonly isNew: boolean }) | null {
    const heard = this.#heard.get(shard);
    const isNew = heard !== undefined && heard.run !== run;
    if (heard !== undefined && !isNew && heard.version >= version) return null;
    this.#heard.set(shard, { run, version });
    const owners = new Set(queues.map(({ owner }) => owner));
    const removed = [...this.#byOwner.values()].filter((one) => {
      return one.shard === shard && !owners.has(one.owner);
    });
    this.#apply({ put: queues, removed });
    return { removed, isNew };
  }

  /** Returns whether it knows all that the shard had said before. */
  hear(change: ReferenceChange): boolean {
    const { shard, run, version } = change;
    const heard = this.#heard.get(shard);
    if (heard?.run !== run || version > heard.version + 1) return false;
    if (version === heard.version + 1) {
      this.#heard.set(shard, { run, version });
      this.#apply(change);
    }
    return true;
  }

  #apply({ put, removed }: Pick<ReferenceChange, "put" | "removed">): void {
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
