// The queues of the other shards, as those shards last reported them.

import type {
  QueueReference,
  ReferenceChange,
  Requester,
  ShardVersion,
  Standing,
} from "../relay/other-shard.ts";

export class Directory {
  readonly #byName = new Map<string, QueueReference>();
  readonly #byOwner = new Map<number, QueueReference>();
  /** Queues that are being deleted, by owner. */
  readonly #retired = new Set<number>();
  /** By shard, the version of its last report and the order of its last request. */
  readonly #known = new Map<number, ShardVersion & Pick<Requester, "order">>();

  get size(): number {
    return this.#byName.size;
  }

  /** How many shards have reported their queues. */
  get knownCount(): number {
    return this.#known.size;
  }

  /** Whether that shard has reported its queues. */
  knows(shard: number): boolean {
    return this.#known.has(shard);
  }

  /** The opening that the shard last reported; `null` = none. */
  runOf(shard: number): string | null {
    return this.#known.get(shard)?.run ?? null;
  }

  /** Whether the directory has this report of the shard, or a later one. */
  isCurrent(shard: number, { run, version }: ShardVersion): boolean {
    const known = this.#known.get(shard);
    return known?.run === run && known.version >= version;
  }

  /** Takes a report of the present opening of a shard; returns whether its requests are current. */
  meet({ shard, run, version, order, queues, retiring }: Standing): boolean {
    const known = this.#known.get(shard);
    const before = known?.run === run ? known : { version: -1, order: -1 };
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
    this.#known.set(shard, { run, ...last });
    return isAsked;
  }

  /** Whether a request is from the known opening, and newer than all its earlier ones. */
  admit({ shard, run, order }: Requester): boolean {
    const known = this.#known.get(shard);
    if (known?.run !== run || order <= known.order) return false;
    this.#known.set(shard, { ...known, order });
    return true;
  }

  /** Applies a change; `false` = the opening is unknown, or an earlier change is missing. */
  receiveChange(change: ReferenceChange): boolean {
    const { shard, run, version } = change;
    const known = this.#known.get(shard);
    if (known?.run !== run || version > known.version + 1) return false;
    if (version === known.version + 1) {
      this.#known.set(shard, { ...known, version });
      this.#apply(change);
    }
    return true;
  }

  #apply({ put, removed }: Pick<ReferenceChange, "put" | "removed">): void {
    for (const { name, owner } of removed) {
      // Another queue may have its name by now.
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

  /** Stops items to a queue, until its shard reports it again. */
  retire(owner: number): void {
    if (this.#byOwner.has(owner)) this.#retired.add(owner);
  }

  /** Whether the queue exists and takes items. */
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
