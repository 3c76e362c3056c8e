// Moves all queues, with all that belongs to them, from the stores of the old shards to those of
// another number of shards. It only reads the old stores and writes new ones, which take effect
// when the caller replaces the old ones with them. No other process may have any of the stores
// open.

import type { TransferableStore } from "../../stores/backend.ts";
import type { Item, ScheduledItem, Tally } from "../../stores/item.ts";
import { readItems, readScheduled } from "../../stores/single-reads.ts";
import {
  type Changes,
  type GroupedItem,
  type Image,
  type Read,
  type SlotSeq,
  type Some,
  type StoredTask,
  StoreError,
} from "../../stores/store.ts";
import { beforeGrouped, type GroupedKey, type Page } from "../../stores/transfer.ts";
import type { Clock } from "../model/clock.ts";
import { groupKey, groupSettingsIn, groupSlotIn } from "../model/group-settings.ts";
import { limits } from "../model/limits.ts";
import { shardOf } from "../model/placement.ts";
import type { Random } from "../model/random.ts";
import { moveTask } from "../tasks/task.ts";
import { isLabelled, labelOf } from "../turn/label.ts";
import { deliver } from "./deliver.ts";
import { type NewPlace, planReshard, type ReshardPlan } from "./plan.ts";
import { movedReceipts } from "./receipts.ts";
import { NewShard, type OldShard } from "./shard-stores.ts";

export interface ReshardOptions {
  /** The old stores, by shard. */
  readonly from: readonly TransferableStore[];
  /** New and empty, by shard. */
  readonly to: readonly TransferableStore[];
  readonly clock: Clock;
  readonly random: Random;
  /** Called after each commit, with the items moved so far and the total. */
  readonly progress?: (items: number, all: number) => void | Promise<void>;
  /**
   * Called before the first commit; throws if there is no room for the new stores, which take
   * `moreBytes` more than the old ones.
   */
  readonly requireRoom?: (moreBytes: number) => void;
}

export interface Resharded {
  readonly queues: number;
  /** In any state. */
  readonly items: number;
  /** Items that were in transit between shards. */
  readonly delivered: number;
  /** Damaged items that were set aside. */
  readonly damaged: number;
}

/** Throws `StoreError` `unusable` if a store of the old shards is missing. */
export async function reshard(options: ReshardOptions): Promise<Resharded> {
  const { from, to, clock, random, progress } = options;
  const sources: OldShard[] = [];
  for (const opened of from) {
    const image = await opened.store.load();
    sources.push({ opened, image });
  }
  requireLabels(sources);
  const images = sources.map(({ image }) => image);
  const plan = planReshard(images, to.length, random);
  options.requireRoom?.(copiedBytes(images, plan));
  const lasts = images.map(({ turns }) => turns.at(-1)?.at ?? 0);
  const now = lasts.reduce((latest, at) => Math.max(latest, at), clock.now());
  const move = new ReshardRun({ sources, to, plan, now, progress: progress ?? (() => undefined) });
  await move.definitions();
  for (const source of sources.keys()) await move.partitions(source);
  for (const source of sources.keys()) await move.rest(source);
  await move.tallies();
  const delivered = await deliver({ sources, targets: move.targets, plan, clock, now });
  // No later turn is earlier than any turn of the old shards.
  for (const target of move.targets) await target.commit(now, (turn) => ({ ...nothing, turn }));
  const queues = plan.shards.reduce((sum, shard) => sum + shard.queues.length, 0);
  return { queues, items: move.items, delivered, damaged: move.damaged };
}

/** Receipts without a slot go to each new shard that may need them, so the copies need room. */
function copiedBytes(images: readonly Image[], plan: ReshardPlan): number {
  const bytesIn = (rows: Iterable<{ readonly entries: Uint8Array }>): number =>
    Iterator.from(rows).reduce((sum, { entries }) => sum + entries.length, 0);
  const before = images.reduce((sum, { receipts }) => sum + bytesIn(receipts), 0);
  const shards = [...plan.shards.keys()];
  const after = shards.reduce((sum, shard) => sum + bytesIn(movedReceipts(images, plan, shard)), 0);
  return Math.max(0, after - before);
}

/** A store without a label is new: next to labelled stores it stands in for a lost one. */
function requireLabels(sources: readonly OldShard[]): void {
  const shardCount = sources.length;
  const labelled = sources.map(({ image }, shard) => isLabelled(image.tags, { shard, shardCount }));
  const unlabelled = labelled.indexOf(false);
  if (unlabelled === -1 || !labelled.includes(true)) return;
  throw new StoreError(
    "unusable",
    `the store of shard ${unlabelled} is new and the others are not; expected the store that has its queues`,
  );
}

const nothing: Omit<Changes, "turn"> = {
  ...{ insert: [], move: [], remove: [], schedule: [], unschedule: [], quarantine: [] },
  ...{ lease: [], unlease: [], tally: [], send: [], unsend: [], quarantineOutbound: [] },
  ...{ receive: [], receipts: null, forgetTurn: 0, unique: [], ununique: [] },
  ...{ ungroup: [], group: [], tasks: [] },
  ...{ queue: [], unqueue: [], tags: null },
};

interface MoveOptions extends Required<Pick<ReshardOptions, "to" | "progress">> {
  readonly sources: readonly OldShard[];
  readonly plan: ReshardPlan;
  readonly now: number;
}

class ReshardRun {
  readonly targets: readonly NewShard[];
  items = 0;
  damaged = 0;
  readonly #options: MoveOptions;
  readonly #all: number;
  /** By new shard and slot. */
  readonly #tallies: readonly Map<number, Tally>[];
  /** The new places of damaged items, which no row of a group may name. */
  readonly #setAside = new Set<string>();

  constructor(options: MoveOptions) {
    const { sources, to, plan } = options;
    this.#options = options;
    this.targets = to.map((opened, shard) => new NewShard(opened, tagOf(plan, shard)));
    this.#tallies = to.map(() => new Map());
    for (const [source, { image }] of sources.entries()) {
      for (const tally of image.tallies) {
        const place = this.#placeOf(source, tally.slot);
        if (place === null) continue;
        this.#tallies[place.shard]?.set(place.slot, { ...tally, slot: place.slot });
      }
    }
    const tallies = this.#tallies.flatMap((one) => [...one.values()]);
    this.#all = tallies.reduce((sum, one) => sum + itemsOf(one), 0);
  }

  #placeOf(source: number, slot: number): NewPlace | null {
    return this.#options.plan.places[source]?.get(slot) ?? null;
  }

  #target(shard: number): NewShard {
    return this.targets[shard] as NewShard;
  }

  async #commit(shard: number, changes: Partial<Changes>): Promise<void> {
    const { now, progress } = this.#options;
    await this.#target(shard).commit(now, (turn) => ({ ...nothing, turn, ...changes }));
    await progress(this.items, this.#all);
  }

  /** Labels, receipts and queues. Receipts come first, because their turns are the oldest. */
  async definitions(): Promise<void> {
    const { sources, plan } = this.#options;
    const images = sources.map(({ image }) => image);
    for (const [shard, { queues, epochs }] of plan.shards.entries()) {
      for (const { at, entries } of movedReceipts(images, plan, shard)) {
        await this.#target(shard).commit(at, (turn) => ({ ...nothing, turn, receipts: entries }));
      }
      const tags = labelOf({ shard, shardCount: plan.shards.length }, epochs);
      await this.#commit(shard, { tags });
      for (const queue of piecesOf(queues)) await this.#commit(shard, { queue });
    }
  }

  /** Ready, leased and scheduled items. */
  async partitions(source: number): Promise<void> {
    const { store } = (this.#options.sources[source] as OldShard).opened;
    const places = this.#options.plan.places[source] ?? new Map<number, NewPlace>();
    for (const [slot, place] of places) {
      const page = limits.reshardPage;
      const span = (from: number) => ({ slot, from, before: limits.seqMax + 1 });
      await this.#pages(place, (from) => readItems(store, span(from), page), {
        changes: (insert) => ({ insert }),
        lost: ({ createdAtSum, ...tally }) => {
          const mean = tally.itemCount === 0 ? 0n : createdAtSum / BigInt(tally.itemCount);
          const itemCount = Math.max(0, tally.itemCount - 1);
          return { ...tally, itemCount, createdAtSum: createdAtSum - mean };
        },
      });
      await this.#pages(place, (from) => readScheduled(store, span(from), page), {
        changes: (schedule: readonly ScheduledItem[]) => ({ schedule }),
        lost: (tally, { retried }) => {
          const name = retried ? "retriedCount" : "scheduledCount";
          return { ...tally, [name]: Math.max(0, tally[name] - 1) };
        },
      });
    }
  }

  /** `lost`: returns the tally without a damaged item. */
  async #pages<T extends Item>(
    { shard, slot }: NewPlace,
    read: (from: number) => Promise<Some<Read<T>>>,
    how: {
      readonly changes: (items: readonly T[]) => Partial<Changes>;
      readonly lost: (tally: Tally, item: T) => Tally;
    },
  ): Promise<void> {
    for (let from = 0; ; ) {
      const { found, isAll } = await read(from);
      const moved = found.map((item): Read<T> => ({ ...item, slot }));
      const damaged = moved.filter((item) => item.damaged);
      await this.#target(shard).quarantine(damaged);
      for (const item of damaged) {
        this.#setAside.add(textOf({ shard, slot }, item));
        const tallies = this.#tallies[shard];
        const tally = tallies?.get(slot);
        if (tally !== undefined) tallies?.set(slot, how.lost(tally, item));
      }
      this.damaged += damaged.length;
      this.items += moved.length - damaged.length;
      const whole = moved.filter((item) => !item.damaged);
      if (whole.length > 0) await this.#commit(shard, how.changes(whole));
      const last = found.at(-1);
      if (isAll || last === undefined) return;
      from = last.seq + 1;
    }
  }

  /** Leases, unique keys, rows of groups, tasks, and items set aside. */
  async rest(source: number): Promise<void> {
    const { opened, image } = this.#options.sources[source] as OldShard;
    await this.#slotted(source, image.leases, (leases) => ({
      lease: leases.map(({ held: _, ...lease }) => lease),
    }));
    for (let at: SlotSeq | null = { slot: 0, seq: -1 }; at !== null; ) {
      const page = await opened.transfer.uniques(at, limits.reshardPage.items);
      await this.#slotted(source, page.found, (unique) => ({ unique }));
      at = page.next;
    }
    await this.#groups(source);
    const isTask = ({ taskId }: StoredTask): boolean => groupSlotIn(taskId) === null;
    await this.#tasks(source, image.tasks.filter(isTask));
    await this.#groupSettings(source, image.tasks);
    for (let after: number | null = 0; after !== null; ) {
      const page = await opened.transfer.quarantined(after, limits.reshardPageSetAside);
      const elsewhere = Math.min(source, this.targets.length - 1);
      for (const item of page.found) {
        const place = this.#placeOf(source, item.slot) ?? { shard: elsewhere, slot: item.slot };
        const { transfer } = this.#target(place.shard).opened;
        await transfer.quarantine([{ ...item, slot: place.slot }]);
      }
      after = page.next;
    }
  }

  /** Ranks are compared within a group, so those of several old shards may be equal. */
  async #groups(source: number): Promise<void> {
    const { transfer } = (this.#options.sources[source] as OldShard).opened;
    for (let at: GroupedKey | null = beforeGrouped; at !== null; ) {
      const page: Page<GroupedItem, GroupedKey> = await transfer.grouped(
        at,
        limits.reshardPage.items,
      );
      const moved = page.found.flatMap((row) => {
        const partition = this.#placeOf(source, row.partition);
        const place = this.#placeOf(source, row.slot);
        if (partition === null || place === null) return [];
        return this.#setAside.has(textOf(place, row))
          ? []
          : [{ ...row, partition: partition.slot }];
      });
      await this.#slotted(source, moved, (group) => ({ group }));
      at = page.next;
    }
  }

  /** Rows of unused slots are left out. */
  async #slotted<T extends { readonly slot: number }>(
    source: number,
    rows: readonly T[],
    changes: (rows: readonly T[]) => Partial<Changes>,
  ): Promise<void> {
    const moved = rows.flatMap((row) => {
      const place = this.#placeOf(source, row.slot);
      return place === null ? [] : [{ shard: place.shard, row: { ...row, slot: place.slot } }];
    });
    for (const [shard, some] of Map.groupBy(moved, (one) => one.shard)) {
      for (const piece of piecesOf(some)) {
        await this.#commit(shard, changes(piece.map(({ row }) => row)));
      }
    }
  }

  /** The settings of groups, which are stored beside the tasks. */
  async #groupSettings(source: number, stored: readonly StoredTask[]): Promise<void> {
    for (const { taskId, text } of stored) {
      const slot = groupSlotIn(taskId);
      const place = slot === null ? null : this.#placeOf(source, slot);
      if (place === null) continue;
      const { group } = groupSettingsIn(text);
      await this.#commit(place.shard, { tasks: [{ taskId: groupKey(place.slot, group), text }] });
    }
  }

  async #tasks(source: number, stored: readonly StoredTask[]): Promise<void> {
    const slotOf = (slot: number) => this.#placeOf(source, slot)?.slot ?? null;
    const tasks = stored.flatMap((task) => moveTask(task, stored, slotOf) ?? []);
    const shards = this.targets.length;
    for (const [shard, some] of Map.groupBy(tasks, ({ queue }) => shardOf(queue, shards))) {
      await this.#commit(shard, { tasks: some.map(({ queue: _, ...task }) => task) });
    }
  }

  async tallies(): Promise<void> {
    for (const [shard, tallies] of this.#tallies.entries()) {
      for (const tally of piecesOf([...tallies.values()])) await this.#commit(shard, { tally });
    }
  }
}

function textOf({ shard, slot }: NewPlace, { seq }: Pick<Item, "seq">): string {
  return `${shard}/${slot}/${seq}`;
}

function tagOf({ shards }: ReshardPlan, shard: number): string {
  return shards[shard]?.epochs.tag ?? "";
}

function itemsOf({ itemCount, scheduledCount, retriedCount }: Tally): number {
  return itemCount + scheduledCount + retriedCount;
}

function piecesOf<T>(all: readonly T[]): T[][] {
  const size = limits.reshardPage.items;
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
