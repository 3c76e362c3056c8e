// Distributes the reports of the shard: counts, events and grants, and whether its store is down or
// open again.

import type { StoredTask } from "../stores/store.ts";
import type { CatalogChanges } from "./catalog-changes.ts";
import type { Leases } from "./leases.ts";
import type { Notice } from "./model/api.ts";
import { assert } from "./model/assert.ts";
import type { Clock } from "./model/clock.ts";
import { limits } from "./model/limits.ts";
import type { ItemEvents, PartitionCounts, Passed } from "./model/messages.ts";
import type { Request } from "./operations.ts";
import type { OutboxRelay } from "./relay/outbox-relay.ts";
import type { Catalog } from "./state/catalog.ts";
import type { Granted } from "./state/lines.ts";
import type { LogicalQueue } from "./state/queue.ts";
import type { OpenedReport, Report } from "./turn/report.ts";
import { isLoss, type Shard, type ShardEvents, succeeded } from "./turn/shard.ts";

type Refresh = Extract<Request, { kind: "refresh" }>;
type Discarded = Required<Pick<Notice, "count" | "ids">> & Pick<Notice, "queue">;

export interface ReportsOptions {
  readonly clock: Clock;
  readonly shard: () => Shard;
  readonly catalog: Catalog;
  readonly outboxRelay: OutboxRelay;
  readonly leases: Pick<Leases<unknown>, "granted">;
  readonly catalogChanges: CatalogChanges;
  /** Receives each changed queue, and the end of each report. */
  readonly healthMonitor: { changed(queue: LogicalQueue): void; assessChanged(now: number): void };
  readonly notice: (notice: Omit<Notice, "shard">) => void;
  /** The store lost acknowledged commits: everything in memory may be newer than the store. */
  readonly lost: () => void;
}

export class Reports implements ShardEvents {
  readonly #options: ReportsOptions;
  readonly #first = Promise.withResolvers<OpenedReport>();
  #opened: OpenedReport | null = null;
  /** Rejects if the store fails before the shard starts. */
  readonly #failed = Promise.withResolvers<never>();
  /** By shard, the last numbers that others had of this one when they met; `null` before. */
  #taken: Map<number, number> | null = null;
  #hasStarted = false;
  /** The store has lost commits since the shard met the others. */
  #hasLost = false;

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#first.promise.catch(() => undefined);
    this.#failed.promise.catch(() => undefined);
  }

  get rules(): Catalog {
    return this.#options.catalog;
  }

  /** Rejects with the cause if the store cannot be opened. */
  get firstOpened(): Promise<OpenedReport> {
    return this.#first.promise;
  }

  /**
   * Publishes the contents of the store at its first opening, and gives the shard the numbers that
   * the others have of it. Throws if the store fails again.
   */
  async meet(taken: Passed["taken"]): Promise<void> {
    const { shard, outboxRelay } = this.#options;
    const opened = await this.#first.promise;
    this.#taken = new Map(taken);
    this.#recount(opened.counts);
    outboxRelay.countAll(opened.outbox);
    // A store that opens and then fails at each turn would otherwise be retried forever,
    // unreported.
    const asked = shard().ask(this.#refresh(this.#taken));
    succeeded(await Promise.race([asked, this.#failed.promise]));
  }

  /** Gives the shard the numbers that others have of it; returns its own numbers. */
  async agree(taken: Passed["taken"]): Promise<Passed> {
    for (const [other, last] of taken) this.#taken?.set(other, last);
    const value = succeeded(await this.#options.shard().ask({ kind: "refresh", slots: [], taken }));
    assert(value.kind === "passed", "a shard was asked what it has and answered something else");
    return value.passed;
  }

  /** From now on the shard handles failures itself. */
  started(): void {
    this.#hasStarted = true;
    if (this.#hasLost) this.#options.lost();
  }

  get tasks(): readonly StoredTask[] {
    return this.#opened?.tasks ?? [];
  }

  #refresh(taken: ReadonlyMap<number, number>): Refresh {
    return { kind: "refresh", slots: this.#options.catalog.slots, taken: [...taken] };
  }

  opened(opened: OpenedReport): Refresh | null {
    const { notice, outboxRelay } = this.#options;
    const { miscounted, lostCommits } = opened;
    if (miscounted > 0) notice({ kind: "items_miscounted", count: miscounted });
    if (lostCommits > 0) notice({ kind: "commits_lost", count: lostCommits });
    if (opened.full) notice({ kind: "store_full" });
    this.#opened ??= opened;
    this.#first.resolve(opened);
    if (this.#taken === null || !this.#hasStarted) return null;
    this.#recount(opened.counts);
    this.#countEvents(opened.events);
    outboxRelay.countAll(opened.outbox);
    notice({ kind: "shard_up" });
    // The others have at least the numbers that they were known to have: a shard that goes back
    // reports it.
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
    const { healthMonitor, clock, outboxRelay, notice } = this.#options;
    this.#recount(report.counts);
    this.#countEvents(report.events);
    healthMonitor.assessChanged(clock.now());
    if (report.full) notice({ kind: "store_full" });
    const quarantined = report.commit?.quarantined ?? 0;
    if (quarantined > 0) notice({ kind: "items_quarantined", count: quarantined });
    for (const { targetShard, counts } of report.outbox) outboxRelay.count(targetShard, counts);
  }

  /** Partitions unknown to the catalog are those of free slots; they are skipped. */
  #recount(counts: readonly PartitionCounts[]): void {
    const { catalog, healthMonitor, clock, catalogChanges } = this.#options;
    const now = clock.now();
    for (const one of counts) {
      const owner = catalog.ownerAt(one.slot);
      if (owner === undefined) continue;
      owner.queue.count(one, now);
      healthMonitor.changed(owner.queue);
      // Before the start the other partitions are unknown; `start` examines all of them.
      if (this.#hasStarted) catalogChanges.counted(owner.queue, owner.partition);
    }
  }

  #countEvents(reported: readonly ItemEvents[]): void {
    for (const one of this.#happened(reported)) {
      this.#options.notice({ kind: "items_discarded", ...one });
    }
  }

  /** Forwards the events, and returns the discarded items by queue; a deleted queue has no name. */
  #happened(reported: readonly ItemEvents[]): Iterable<Discarded> {
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
