// Wraps the backend under test for the rules: numbers the turns, reads one kind at a time, and
// reopens the stored data.

import type { TransferableStore } from "../backend.ts";
import type { Item, OutboundItem, ScheduledItem } from "../item.ts";
import { readItems, readOutbound, readScheduled } from "../single-reads.ts";
import {
  type Changes,
  type Image,
  noReads,
  type Read,
  type ReadLimit,
  type ReadPlan,
  type ReadResult,
  type Span,
  type Store,
  type TurnRecord,
} from "../store.ts";
import {
  all,
  bare,
  byKey,
  end,
  first,
  leaving,
  moveOf,
  nothing,
  numbers,
  toOutbox,
} from "./values.ts";

/** A new backend, and how to reopen its data. */
export interface OpenedStore {
  readonly backend: TransferableStore;
  /** Closes the backend and opens the same data again. */
  reopen(): Promise<TransferableStore>;
  /** Closes the backend and removes the data. */
  dispose(): Promise<void>;
}

export type Rule = (sentence: string, check: (bench: Bench) => Promise<void>) => void;

type Where = Partial<Omit<Span, "slot"> & ReadLimit>;

export class Bench {
  readonly #opened: OpenedStore;
  backend: TransferableStore;
  #turn = 0;

  constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.backend = opened.backend;
  }

  get store(): Store {
    return this.backend.store;
  }

  async commit(changes: Partial<Omit<Changes, "turn">>): Promise<TurnRecord> {
    const number = this.#turn + 1;
    const turn = { turn: number, at: 1_000 + number, tag: `tag${number % 3}` };
    const { synced } = await this.store.commit({ ...nothing, ...changes, turn });
    await synced;
    this.#turn = number;
    return turn;
  }

  /** Sends new items, or moves stored ones into the outbox. */
  async send(items: readonly OutboundItem[], how: "new" | "moved" = "moved"): Promise<void> {
    if (how === "new") {
      await this.commit({ send: items });
      return;
    }
    const insert = items.map(({ outboundSeq: _, targetShard: __, targetOwner: ___, ...item }) => ({
      ...item,
      early: false,
    }));
    await this.commit({ insert });
    await this.commit(leaving(items.map((item) => moveOf(item, toOutbox(item)))));
  }

  async reopen(): Promise<void> {
    this.backend = await this.#opened.reopen();
  }

  /** Checks the committed state at once, and after a restart. */
  async nowAndReopened(check: () => Promise<void>): Promise<void> {
    await check();
    await this.reopen();
    await check();
  }

  read(plan: Partial<ReadPlan>): Promise<ReadResult> {
    return this.store.read({ ...noReads, ...plan });
  }

  async items(slot: number, where: Where = {}): Promise<readonly Read<Item>[]> {
    return (await readItems(this.store, { slot, ...spanOf(where) }, { ...all, ...where })).found;
  }

  async scheduled(slot: number, where: Where = {}): Promise<readonly Read<ScheduledItem>[]> {
    return (await readScheduled(this.store, { slot, ...spanOf(where) }, { ...all, ...where }))
      .found;
  }

  outbound(targetShard: number): Promise<readonly Read<OutboundItem>[]> {
    return readOutbound(this.store, targetShard, all);
  }

  async waking(until: number, items = all.items): Promise<ReadResult["waking"]> {
    return (await this.read({ waking: { until, items } })).waking;
  }

  async early(want: Partial<NonNullable<ReadPlan["early"]>> = {}): Promise<ReadResult["early"]> {
    const early = { after: first, until: end, items: all.items, ...want };
    return (await this.read({ early })).early;
  }

  async sources(slot: number, sourceIds: readonly string[]): Promise<string[]> {
    const { sources } = await this.read({ sources: [{ slot, sourceIds }] });
    return [...(sources.get(slot) ?? [])].toSorted();
  }

  /** The items whose unique keys have ended by `until`. */
  async ended(until: number, keys = all.items): Promise<ReadResult["ended"]> {
    return (await this.read({ ended: { until, keys } })).ended;
  }

  /** All content of the first slots and shards, in an order that does not depend on the store. */
  async contents(): Promise<Contents> {
    const image = await this.store.load();
    const items: Read<Item>[] = [];
    const scheduled: Read<ScheduledItem>[] = [];
    const outbound: Read<OutboundItem>[] = [];
    for (const slot of numbers(0, slotsCompared)) {
      items.push(...(await this.items(slot)));
      scheduled.push(...(await this.scheduled(slot)));
    }
    for (const shard of numbers(0, shardsCompared)) outbound.push(...(await this.outbound(shard)));
    const [waking, early] = [await this.waking(end), await this.early()];
    const uniques = (await this.ended(end)).found;
    return {
      image: {
        ...image,
        turns: image.turns.slice(-64),
        tallies: byKey(image.tallies, "slot"),
        leases: byKey(byKey(image.leases, "first"), "slot").map((lease) => ({
          ...lease,
          held: bare(lease.held),
        })),
        outbox: byKey(byKey(image.outbox, "targetOwner"), "targetShard"),
        inbound: byKey(image.inbound, "sourceShard"),
      },
      items,
      scheduled,
      outbound,
      waking: { ...waking, found: bare(waking.found) },
      early: { ...early, found: bare(early.found) },
      uniques: byKey(byKey(uniques, "seq"), "slot"),
    };
  }
}

export const slotsCompared = 5;
export const shardsCompared = 5;

export interface Contents extends Pick<ReadResult, "waking" | "early"> {
  readonly image: Image;
  readonly items: readonly Read<Item>[];
  readonly scheduled: readonly Read<ScheduledItem>[];
  /** By target shard. */
  readonly outbound: readonly Read<OutboundItem>[];
  /** Places of the items with unique keys. */
  readonly uniques: ReadResult["ended"]["found"];
}

function spanOf({ from = 0, before = end }: Where): Omit<Span, "slot"> {
  return { from, before };
}
