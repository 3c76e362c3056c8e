// The queues of the other shards. Their own shards decide about them; what is known here follows.

import type {
  Asker,
  QueueReference,
  ReferenceChange,
  Said,
  Standing,
} from "../relay/other-shard.ts";

export class Directory {
  readonly #byName = new Map<string, QueueReference>();
  readonly #byOwner = new Map<number, QueueReference>();
  /** Queues that are being deleted, by owner. */
  readonly #retired = new Set<number>();
  /** By shard, what it has said last of its queues, and asked for. */
  readonly #heard = new Map<number, Said & Pick<Asker, "order">>();

  get size(): number {
    return this.#byName.size;
  }

  /** Of how many shards it is known which queues they have. */
  get knownCount(): number {
    return this.#heard.size;
  }

  /** Whether it is known which queues that shard has. */
  knows(shard: number): boolean {
    return this.#heard.has(shard);
  }

  /** The opening of a shard that is known; `null` = none is. */
  runOf(shard: number): string | null {
    return this.#heard.get(shard)?.run ?? null;
  }

  /** Whether all that the shard has said is known. */
  isCurrent(shard: number, { run, version }: Said): boolean {
    const heard = this.#heard.get(shard);
    return heard?.run === run && heard.version >= version;
  }

  /** Of an opening that is known to be the present one; returns whether what it asks for is as of now. */
  meet({ shard, run, version, order, queues, retiring }: Standing): boolean {
    const heard = this.#heard.get(shard);
    const before = heard?.run === run ? heard : { version: -1, order: -1 };
    if (version >= before.version) {
      const owners = new Set(queues.map(({ owner }) => owner));
      const removed = [...this.#byOwner.values()].filter((one) => {
        return one.shard === shard && !owners.has(one.owner);
      });
      this.#apply({ put: queues, removed });
    }
    const isAsked = order >= before.order;
    if (isAsked) for (const owner of retiring) this.retire(owner);
    const last = {
      version: Math.max(version, before.version),
      order: Math.max(order, before.order),
    };
    this.#heard.set(shard, { run, ...last });
    return isAsked;
  }

  /** Whether who asks is the opening that is known, and has asked for nothing since. */
  admit({ shard, run, order }: Asker): boolean {
    const heard = this.#heard.get(shard);
    if (heard?.run !== run || order <= heard.order) return false;
    this.#heard.set(shard, { ...heard, order });
    return true;
  }

  /** Returns whether it knows all that the shard had said before. */
  hear(change: ReferenceChange): boolean {
    const { shard, run, version } = change;
    const heard = this.#heard.get(shard);
    if (heard?.run !== run || version > heard.version + 1) return false;
    if (version === heard.version + 1) {
      this.#heard.set(shard, { ...heard, version });
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
