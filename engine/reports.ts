// What the shard tells, passed on to those whom it concerns: counts, what happened, grants, and that its
// store is down or open again.

import type { StoredTask } from "../stores/store.ts";
import type { Request } from "./kinds.ts";
import type { Leases } from "./leases.ts";
import type { Notice } from "./model/api.ts";
import { assert } from "./model/assert.ts";
import type { Clock } from "./model/clock.ts";
import { limits } from "./model/limits.ts";
import type { Events, Opened, PartitionCounts, Passed, Report } from "./model/messages.ts";
import type { Registrar } from "./registrar.ts";
import type { Courier } from "./relay/courier.ts";
import type { Catalog } from "./state/catalog.ts";
import type { Granted } from "./state/lines.ts";
import type { LogicalQueue } from "./state/queue.ts";
import { isLoss, type Shard, type ShardEvents, succeeded } from "./turn/shard.ts";

type Refresh = Extract<Request, { kind: "refresh" }>;
type Discarded = Required<Pick<Notice, "count" | "ids">> & Pick<Notice, "queue">;

export interface ReportsOptions {
  readonly clock: Clock;
  readonly shard: () => Shard;
  readonly catalog: Catalog;
  readonly courier: Courier;
  readonly leases: Pick<Leases<unknown>, "granted">;
  readonly registrar: Registrar;
  /** Learns of each queue that changed, and of the end of each report. */
  readonly checkups: { changed(queue: LogicalQueue): void; look(now: number): void };
  readonly notice: (notice: Omit<Notice, "shard">) => void;
  /** The store has lost what was acknowledged: all that is known beside it may be newer than it is. */
  readonly lost: () => void;
}

export class Reports implements ShardEvents {
  readonly #options: ReportsOptions;
  readonly #first = Promise.withResolvers<Opened>();
  #opened: Opened | null = null;
  /** Rejects where the store fails before the shards start. */
  readonly #failed = Promise.withResolvers<never>();
  /** By shard, what others had of this one when they met last; `null` before that. */
  #taken: Map<number, number> | null = null;
  #hasStarted = false;
  /** Since it met the others. */
  #hasLost = false;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#first.promise.catch(() => undefined);
    this.#failed.promise.catch(() => undefined);
  }

  get rules(): Catalog {
    return this.#options.catalog;
  }

  /** Throws what keeps the store from opening. */
  get firstOpened(): Promise<Opened> {
    return this.#first.promise;
  }

  /**
   * Tells what the store held when it was opened first, and has the shard learn what the others have
   * of it. Throws where the store fails again.
   */
  async meet(taken: Passed["taken"]): Promise<void> {
    const { shard, courier } = this.#options;
    const opened = await this.#first.promise;
    this.#taken = new Map(taken);
    this.#recount(opened.counts);
    courier.countAll(opened.outbox);
    // A store that opens and then fails with each turn would be tried for ever, and unheard.
    const asked = shard().ask(this.#refresh(this.#taken));
    succeeded(await Promise.race([asked, this.#failed.promise]));
  }

  /** Has the shard go by what others have of it; returns what it has by then. */
  async agree(taken: Passed["taken"]): Promise<Passed> {
    for (const [other, last] of taken) this.#taken?.set(other, last);
    const value = succeeded(await this.#options.shard().ask({ kind: "refresh", slots: [], taken }));
    assert(value.kind === "passed", "a shard was asked what it has and answered something else");
    return value.passed;
  }

  /** From now on a failure is the shard's own affair. */
  started(): void {
    this.#hasStarted = true;
    if (this.#hasLost) this.#options.lost();
  }

  /** As they were stored. */
  get tasks(): readonly StoredTask[] {
    return this.#opened?.tasks ?? [];
  }

  #refresh(taken: ReadonlyMap<number, number>): Refresh {
    return { kind: "refresh", slots: this.#options.catalog.slots, taken: [...taken] };
  }

  opened(opened: Opened): Refresh | null {
    const { notice, courier } = this.#options;
    const { miscounted, lostCommits } = opened;
    if (miscounted > 0) notice({ kind: "items_miscounted", count: miscounted });
    if (lostCommits > 0) notice({ kind: "commits_lost", count: lostCommits });
    if (opened.full) notice({ kind: "store_full" });
    this.#opened ??= opened;
    this.#first.resolve(opened);
    if (this.#taken === null || !this.#hasStarted) return null;
    this.#recount(opened.counts);
    this.#countEvents(opened.events);
    courier.countAll(opened.outbox);
    notice({ kind: "shard_up" });
    // The others have at least what they were known to have: one that goes back says so.
    const arrived = new Map(opened.passed.arrived);
    const taken = [...this.#taken].map(([other, last]): [number, number] => {
      return [other, Math.max(last, arrived.get(other) ?? 0)];
    });
    return this.#refresh(new Map(taken));
  }

  down(cause: unknown, lostCommits: number): void {
    const { notice, lost } = this.#options;
    if (lostCommits > 0) notice({ kind: "commits_lost", count: lostCommits });
    if (!this.#hasStarted) {
      this.#hasLost ||= isLoss(cause);
      this.#first.reject(cause);
      this.#failed.reject(cause);
      return;
    }
    notice({ kind: "shard_down", cause });
    if (isLoss(cause)) lost();
  }

  granted(granted: Granted, isLate: boolean): void {
    this.#options.leases.granted(granted, isLate);
  }

  report(report: Report): void {
    const { checkups, clock, courier, notice } = this.#options;
    this.#recount(report.counts);
    this.#countEvents(report.events);
    checkups.look(clock.now());
    if (report.full) notice({ kind: "store_full" });
    const quarantined = report.commit?.quarantined ?? 0;
    if (quarantined > 0) notice({ kind: "items_quarantined", count: quarantined });
    for (const { targetShard, counts } of report.outbox) courier.count(targetShard, counts);
  }

  /** Counts of partitions that the catalog does not know are of slots that are free. */
  #recount(counts: readonly PartitionCounts[]): void {
    const { catalog, checkups, clock, registrar } = this.#options;
    const now = clock.now();
    for (const one of counts) {
      const owner = catalog.ownerAt(one.slot);
      if (owner === undefined) continue;
      owner.queue.count(owner.partition, one, now);
      checkups.changed(owner.queue);
      // Before that the others are not known; all are looked at when they are.
      if (this.#hasStarted) registrar.counted(owner.queue, owner.partition);
    }
  }

  #countEvents(reported: readonly Events[]): void {
    for (const one of this.#happened(reported)) {
      this.#options.notice({ kind: "items_discarded", ...one });
    }
  }

  /** Passes it on, and returns what was discarded, by queue; a queue that was deleted has no name. */
  #happened(reported: readonly Events[]): Iterable<Discarded> {
    const { catalog, clock } = this.#options;
    const discarded = new Map<string | undefined, Discarded>();
    for (const events of reported) {
      const queue = catalog.ownerAt(events.slot)?.queue;
      queue?.happened(events, clock.now());
      const { discarded: count = 0 } = events.counts;
      if (count === 0) continue;
      const name = queue?.definition.name;
      const before = discarded.get(name);
      const ids = [...(before?.ids ?? []), ...(events.discardedIds ?? [])];
      discarded.set(name, {
        ...(name !== undefined && { queue: name }),
        count: (before?.count ?? 0) + count,
        ids: ids.slice(0, limits.discardedIdsMax),
      });
    }
    return discarded.values();
  }
}
