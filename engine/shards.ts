// The shards of an engine, from its start to its end: opens them, gives notice when one is down or
// up again, and passes their reports on.

import type { StoredTask } from "../stores/store.ts";
import type { Barrier } from "./barrier.ts";
import type { Checkups } from "./insight/checkups.ts";
import type { Request } from "./kinds.ts";
import type { Leases } from "./leases.ts";
import type { Notice, StoreCopy } from "./model/api.ts";
import { assert } from "./model/assert.ts";
import { closingFailure, type Failure, failure, type Late, QueueError } from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import type { Events, Opened, PartitionCounts, Passed, Report } from "./model/messages.ts";
import type { Registrar } from "./registrar.ts";
import type { Courier } from "./relay/courier.ts";
import { stepsBack, takenFrom } from "./relay/passed.ts";
import type { Catalog } from "./state/catalog.ts";
import { isLoss, Shard, type ShardOptions, succeeded } from "./turn/shard.ts";

export interface ShardsOptions<Items> extends ShardOptions<Items> {
  /** What an operator should know of; nothing is thrown for it. */
  readonly notice?: (notice: Notice) => void;
}

export interface ShardsEvents {
  /** A store has lost what was acknowledged: all that is known beside the stores may be newer than they are. */
  readonly lost: () => void;
}

/** Who is told of shards, and what they do. */
export interface Listeners {
  readonly catalog: Catalog;
  readonly courier: Courier;
  readonly leases: Pick<Leases<unknown>, "granted">;
  readonly registrar: Registrar;
  readonly barrier: Barrier;
  readonly checkups: Checkups;
}

type Discarded = Required<Pick<Notice, "count" | "ids">> & Pick<Notice, "queue">;

const noCopy = failure("backup_failed", "no backup was made; a shard is down, try again later");
/** One that is being made may take its time. */
const lateCopy: Late = { untaken: noCopy, taken: null };

export class Shards {
  readonly #options: ShardsOptions<unknown> & ShardsEvents;
  readonly #to: Listeners;
  readonly #ports: Shard[] = [];
  /** What keeps the shards from opening. */
  readonly #failures: { readonly shard: number; readonly cause: unknown }[] = [];
  /** By shard, as of when the engine opened. */
  readonly #passed: Passed[] = [];
  #isOpen = false;
  #isEnding = false;
  /** Told while the engine opens: a shard that was there is gone again. */
  #downAtStart: (cause: unknown) => void = () => undefined;

  constructor(options: ShardsOptions<unknown> & ShardsEvents, to: Listeners) {
    this.#options = options;
    this.#to = to;
  }

  get ports(): readonly Shard[] {
    return this.#ports;
  }

  /** Of which `open` has thrown the cause. */
  get failedShard(): number {
    return this.#failures[0]?.shard ?? 0;
  }

  port(shard: number): Shard {
    const port = this.#ports[shard];
    assert(port !== undefined, "a partition is in a shard that was not opened");
    return port;
  }

  /** Returns the tasks that each shard knows; throws the first cause, and gives notice of any other. */
  async open(): Promise<StoredTask[][]> {
    const { catalog, courier, registrar } = this.#to;
    const broken = new Promise<never>((_, reject) => {
      this.#downAtStart = reject;
    });
    broken.catch(() => undefined);
    try {
      // If two servers start at once, the one that gets the first store gets the others too.
      const first = await this.#openOne(0);
      if (this.#isEnding) throw QueueError.from(closingFailure);
      const numbers = Array.from({ length: this.#options.shardCount - 1 }, (_, index) => index + 1);
      const opening = numbers.map((shard) => this.#openOne(shard));
      // Each says only once what its store has lost.
      await Promise.allSettled(opening);
      const opened = [first, ...(await Promise.all(opening))];
      for (const { passed } of opened) this.#passed.push(passed);
      for (const { shard, count } of stepsBack(this.#passed)) {
        this.#options.notice?.({ kind: "store_went_back", shard, count });
      }
      const deleted = catalog.adopt(opened.map(({ queues }) => queues));
      // No queue changes until the counts of all shards are known.
      await registrar.undisturbed(async () => {
        for (const [shard, { counts }] of opened.entries()) this.#recount(shard, counts);
        for (const [shard, { outbox }] of opened.entries()) courier.countAll(shard, outbox);
        const told = this.#ports.map((port, shard) => {
          const taken = takenFrom(shard, this.#passed);
          return port.ask({ kind: "refresh", slots: catalog.slots(shard), taken });
        });
        // A store that opens and then fails with each turn would be tried for ever, and unheard.
        await Promise.race([Promise.all(told), broken]);
        this.#isOpen = true;
      });
      for (const queue of deleted) registrar.finishDeleteSoon(queue);
      for (const queue of catalog.queues) registrar.reapSoon(queue);
      return opened.map(({ tasks }) => [...tasks]);
    } catch (cause) {
      const end = (port: Shard) => (port.isUp ? port.close() : port.abandon(closingFailure));
      await Promise.all(this.#ports.map((port) => end(port).catch(() => undefined)));
      const [first, ...others] = this.#failures;
      for (const one of others) this.#options.notice?.({ kind: "shard_down", ...one });
      throw first?.cause ?? cause;
    }
  }

  /** A failure before the engine is open ends the start; later ones are the shard's own affair. */
  #openOne(shard: number): Promise<Opened> {
    const { notice, lost } = this.#options;
    return new Promise((resolve, reject) => {
      this.#ports[shard] = new Shard(shard, this.#options, {
        rules: {
          settingsAt: (slot) => this.#to.catalog.settingsAt(shard, slot),
          ownerAt: (slot) => this.#to.catalog.owner(shard, slot),
          homeOf: (owner) => this.#to.catalog.homeOf(shard, owner),
          isLost: (owner) => this.#to.catalog.isLost(owner),
          queueOf: (queueId) => this.#to.catalog.queueOf(queueId),
        },
        opened: (opened) => {
          const { miscounted: count } = opened;
          if (count > 0) notice?.({ kind: "items_miscounted", shard, count });
          const { lostCommits: lost } = opened;
          if (lost > 0) notice?.({ kind: "commits_lost", shard, count: lost });
          if (opened.full) notice?.({ kind: "store_full", shard });
          resolve(opened);
          return this.#isOpen ? this.#reopened(shard, opened) : null;
        },
        report: (report) => this.#reported(shard, report),
        granted: (granted, isLate) => this.#to.leases.granted(granted, isLate),
        down: (cause, lostCommits) => {
          reject(cause);
          if (lostCommits > 0) notice?.({ kind: "commits_lost", shard, count: lostCommits });
          this.#downAtStart(cause);
          this.#setUp(shard, false);
          this.#to.barrier.down(shard);
          if (!this.#isOpen) {
            this.#failures.push({ shard, cause });
            return;
          }
          notice?.({ kind: "shard_down", shard, cause });
          if (isLoss(cause)) lost();
        },
      });
    });
  }

  /** On their way to queues that are not known. */
  wereSetAside(shard: number, count: number): void {
    this.port(shard).counters.quarantined += count;
    this.#options.notice?.({ kind: "items_set_aside", shard, count });
  }

  #reopened(shard: number, opened: Opened): Extract<Request, { kind: "refresh" }> {
    this.#setUp(shard, true);
    this.#recount(shard, opened.counts);
    this.#countEvents(shard, opened.events);
    this.#to.courier.countAll(shard, opened.outbox);
    this.#options.notice?.({ kind: "shard_up", shard });
    // Nothing has gone back since: the others have at least what they were known to have.
    const arrived = new Map(opened.passed.arrived);
    const taken = takenFrom(shard, this.#passed).map(
      ([target, last]) => [target, Math.max(last, arrived.get(target) ?? 0)] as const,
    );
    return { kind: "refresh", slots: this.#to.catalog.slots(shard), taken };
  }

  #setUp(shard: number, up: boolean): void {
    for (const { queue, partition } of this.#to.catalog.owners(shard)) {
      queue.balance.update(partition, { up });
    }
  }

  /** Counts of partitions the catalog does not know are of slots that are free. */
  #recount(shard: number, counts: readonly PartitionCounts[]): void {
    const now = this.#options.clock.now();
    for (const one of counts) {
      const owner = this.#to.catalog.owner(shard, one.slot);
      if (owner === undefined) continue;
      owner.queue.count(owner.partition, one, now);
      this.#to.checkups.changed(owner.queue);
      // Before that, shards do not know their partitions; all are looked at when they do.
      if (this.#isOpen) this.#to.registrar.counted(owner.queue, owner.partition);
    }
  }

  #reported(shard: number, report: Report): void {
    this.#recount(shard, report.counts);
    const { notice } = this.#options;
    this.#countEvents(shard, report.events);
    this.#to.checkups.look(this.#options.clock.now());
    if (report.full) notice?.({ kind: "store_full", shard });
    const quarantined = report.commit?.quarantined ?? 0;
    if (quarantined > 0) notice?.({ kind: "items_quarantined", shard, count: quarantined });
    for (const { targetShard, counts } of report.outbox) {
      this.#to.courier.count(shard, targetShard, counts);
    }
  }

  #countEvents(shard: number, events: readonly Events[]): void {
    for (const one of this.#happened(shard, events)) {
      this.#options.notice?.({ kind: "items_discarded", shard, ...one });
    }
  }

  /** Passes it on, and returns what was discarded, by queue; a queue that was deleted has no name. */
  #happened(shard: number, reported: readonly Events[]): Discarded[] {
    const discarded = new Map<string | undefined, Discarded>();
    const now = this.#options.clock.now();
    for (const events of reported) {
      const queue = this.#to.catalog.owner(shard, events.slot)?.queue;
      queue?.happened(events, now);
      const { discarded: count = 0 } = events.counts;
      if (count === 0) continue;
      const name = queue?.definition.name;
      const before = discarded.get(name);
      discarded.set(name, {
        ...(name !== undefined && { queue: name }),
        count: (before?.count ?? 0) + count,
        ids: [...(before?.ids ?? []), ...(events.discardedIds ?? [])].slice(
          0,
          limits.discardedIdsMax,
        ),
      });
    }
    return [...discarded.values()];
  }

  /** Copies every store into the folder. */
  copy(folder: string): Promise<StoreCopy[]> {
    const timing = {
      deadline: this.#options.clock.machine.now() + limits.holdMsMax,
      late: lateCopy,
    };
    return Promise.all(
      this.#ports.map(async (port) => {
        const value = succeeded(await port.ask({ kind: "backup", folder }, timing));
        assert(value.kind === "copied", "a shard answered a backup with something else");
        return { shard: port.shard, bytes: value.bytes };
      }),
    );
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  /** Resolves when those that are being opened have said what they have lost. */
  async abandon(why: Failure): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.#ports.map((port) => port.abandon(why)));
  }
}
