// A store that is too plain to be wrong: plain arrays, filtered and sorted anew
// for every question. The conformance suite plays random turns on it and on the
// store under test; the values it makes serve the suite's other rules too.

import { expect } from "bun:test";
import {
  type Item,
  type Lease,
  type OutboundItem,
  type ScheduledItem,
  type Tally,
  wakeAt,
} from "./item.ts";
import type { CatalogEntry, PartitionPlace } from "./queue.ts";
import type {
  Changes,
  EarlyRef,
  Image,
  Inbound,
  Read,
  ReadLimit,
  SlotSeqs,
  Store,
  TurnRecord,
} from "./store.ts";

/** Mulberry32: whole numbers from 0 to before `below`, the same for the same seed. */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

export const slotMax = 2 ** 18 - 1;
export const seqMax = 2 ** 45 - 1;
/** Before this every number comes. */
export const end = seqMax + 1;
export const all: ReadLimit = { items: 1_000_000, payloadBytes: 2 ** 40 };
export const first: EarlyRef = { expireDeadline: 0, slot: 0, seq: 0 };
export const utf8 = new TextEncoder();

export const nothing: Omit<Changes, "turn"> = {
  insert: [],
  remove: [],
  schedule: [],
  unschedule: [],
  quarantine: [],
  lease: [],
  unlease: [],
  tally: [],
  send: [],
  unsend: [],
  receive: [],
  catalogPut: [],
  catalogRemove: [],
};

export function item(slot: number, seq: number, fields: Partial<Item> = {}): Item {
  return {
    slot,
    seq,
    createdAt: 1_000 + seq,
    queuedAt: 1_000 + seq,
    expireDeadline: 1_000_000,
    early: false,
    attempts: 0,
    kind: "",
    encoding: "",
    reference: "",
    sourceId: "",
    payload: `payload ${seq}`,
    ...fields,
  };
}

export function scheduledItem(
  slot: number,
  seq: number,
  fields: Partial<ScheduledItem> = {},
): ScheduledItem {
  return { ...item(slot, seq), dueAt: 5_000, retried: false, ...fields };
}

export function lease(slot: number, first: number, fields: Partial<Lease> = {}): Lease {
  return { slot, first, last: first, leaseDeadline: 9_000, leasedAt: 8_000, ...fields };
}

export function tally(slot: number, fields: Partial<Tally> = {}): Tally {
  return {
    slot,
    nextSeq: 1,
    itemCount: 0,
    createdAtSum: 0n,
    scheduledCount: 0,
    retriedCount: 0,
    expireDeadlineMax: 0,
    clearReadyBelow: 0,
    clearScheduledBelow: 0,
    clearRetriedBelow: 0,
    ...fields,
  };
}

export function entry(
  queueId: number,
  name: string,
  places: readonly PartitionPlace[] = [],
): CatalogEntry {
  return {
    queueId,
    definition: {
      name,
      deadQueue: "",
      reference: "",
      leaseTimeoutMs: 60_000,
      expireTimeoutMs: 3_600_000,
      leaseTimeoutText: "60s",
      expireTimeoutText: "1h0m0s",
      maxAttempts: 0,
      requestedPartitions: 1,
      createdAt: 1_000,
      updatedAt: 2_000,
    },
    places,
    deleting: false,
  };
}

export const bytesOf = (payload: Item["payload"]): Uint8Array =>
  typeof payload === "string" ? utf8.encode(payload) : new Uint8Array(payload);

/** The item as a store hands it out. */
export function readOf<T extends Item>(written: T): Read<T> {
  return { ...written, payload: bytesOf(written.payload), damaged: false };
}

export const keptOf = <T extends Item>(written: T): T => ({
  ...written,
  payload: bytesOf(written.payload),
});
export const seqsOf = (items: readonly { readonly seq: number }[]): number[] =>
  items.map(({ seq }) => seq);
export const numbers = (from: number, before: number): number[] =>
  Array.from({ length: before - from }, (_, index) => from + index);
export const rising = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

/** What a read brings of these items, which are in order. */
export function page<T extends Item>(
  items: readonly T[],
  from: number,
  before: number,
  limit: ReadLimit,
): T[] {
  return bounded(
    items.filter(({ seq }) => seq >= from && seq < before),
    limit,
  );
}

export function bounded<T extends Item>(items: readonly T[], limit: ReadLimit): T[] {
  let payloadBytes = 0;
  const reached = items.findIndex((item, index) => {
    payloadBytes += bytesOf(item.payload).length;
    return index + 1 >= limit.items || payloadBytes >= limit.payloadBytes;
  });
  return reached === -1 ? [...items] : items.slice(0, reached + 1);
}

/** In order of one of their keys, because an image comes in no order. */
export function byKey<K extends string, T extends { readonly [key in K]: number }>(
  values: readonly T[],
  key: K,
): T[] {
  return values.toSorted((a, b) => a[key] - b[key]);
}

export interface Contents {
  readonly image: Image;
  readonly items: readonly Read<Item>[];
  readonly scheduled: readonly Read<ScheduledItem>[];
  readonly waking: readonly Read<ScheduledItem>[];
  readonly early: readonly EarlyRef[];
}

/** All that a store holds in its first slots, in an order that does not depend on the store. */
export async function contents(store: Store): Promise<Contents> {
  const image = await store.load();
  const items: Read<Item>[] = [];
  const scheduled: Read<ScheduledItem>[] = [];
  for (let slot = 0; slot < modelSlots; slot += 1) {
    items.push(...(await store.items(slot, 0, end, all)));
    scheduled.push(...(await store.scheduled(slot, 0, end, all)));
  }
  return {
    image: {
      ...image,
      turns: image.turns.slice(-64),
      tallies: byKey(image.tallies, "slot"),
      leases: byKey(byKey(image.leases, "first"), "slot"),
      outbound: byKey(image.outbound, "outboundSeq"),
      inbound: byKey(image.inbound, "sourceShard"),
      catalog: byKey(image.catalog, "queueId"),
    },
    items,
    scheduled,
    waking: await store.waking(end, all),
    early: await store.early(first, all.items),
  };
}

const modelSlots = 5;
/** Everything in plain arrays, filtered and sorted anew for every question. */
export class Model {
  readonly #below: (below: number) => number;
  readonly #tag: string;
  #items: Item[] = [];
  #scheduled: ScheduledItem[] = [];
  #leases: Lease[] = [];
  #tallies: Tally[] = [];
  #outbound: OutboundItem[] = [];
  #inbound: Inbound[] = [];
  #catalog: CatalogEntry[] = [];
  readonly #turns: TurnRecord[] = [];
  #quarantined = 0;
  /** Rises by more than one, and now and then something is written under a number left out. */
  #seq = 1_000;
  readonly #skipped: number[] = [];

  constructor(below: (below: number) => number, tag: string) {
    this.#below = below;
    this.#tag = tag;
  }

  nextChanges(): Omit<Changes, "turn"> {
    const below = this.#below;
    const damaged = below(10) === 0;
    const [gone, goneScheduled] = [this.#some(this.#items), this.#some(this.#scheduled)];
    return {
      insert: [...this.#times(below(30), () => this.#newItem()), ...this.#newNeighbours()],
      remove: damaged ? [] : slotSeqs(gone),
      schedule: this.#times(below(8), () => this.#newScheduled()),
      unschedule: damaged ? [] : slotSeqs(goneScheduled),
      quarantine: damaged ? slotSeqs([...gone.slice(0, 2), ...goneScheduled.slice(0, 2)]) : [],
      lease: this.#times(below(4), () =>
        lease(below(modelSlots), below(50), { last: 50 + below(50), leasedAt: below(1_000) }),
      ),
      unlease: this.#leases.filter(() => below(20) === 0).slice(0, 1),
      tally: this.#times(below(3), () =>
        tally(below(modelSlots), { nextSeq: this.#seq, createdAtSum: BigInt(below(9)) ** 30n }),
      ),
      send: this.#times(below(3), () => ({
        ...this.#newItem(),
        outboundSeq: this.#nextSeq(),
        targetShard: below(9),
        targetSlot: below(9),
      })),
      unsend: this.#outbound.filter(() => below(6) === 0).map(({ outboundSeq }) => outboundSeq),
      receive: this.#times(below(2), () => ({ sourceShard: below(4), outboundSeq: this.#seq })),
      catalogPut: this.#times(below(2), () => entry(below(20), `queue ${this.#seq}`)),
      catalogRemove: below(20) === 0 ? [20 + below(2)] : [],
    };
  }

  apply(changes: Changes): void {
    const { insert, remove, schedule, unschedule, quarantine, lease, unlease } = changes;
    const { tally, send, unsend, receive, catalogPut, catalogRemove, turn } = changes;
    this.#items = [...without(this.#items, [...remove, ...quarantine]), ...insert];
    this.#scheduled = [...without(this.#scheduled, [...unschedule, ...quarantine]), ...schedule];
    this.#quarantined += quarantine.reduce((count, { seqs }) => count + seqs.length, 0);
    const leases = unleased(this.#leases, unlease);
    this.#leases = replaced(leases, lease, (one) => `${one.slot} ${one.first}`);
    this.#tallies = replaced(this.#tallies, tally, ({ slot }) => slot);
    this.#outbound = [...this.#outbound, ...send].filter(
      (one) => !unsend.includes(one.outboundSeq),
    );
    this.#inbound = replaced(this.#inbound, receive, ({ sourceShard }) => sourceShard);
    const catalog = this.#catalog.filter(({ queueId }) => !catalogRemove.includes(queueId));
    this.#catalog = replaced(catalog, catalogPut, ({ queueId }) => queueId);
    this.#turns.push(turn);
  }

  contents(): Contents {
    const place = (a: Item, b: Item): number => a.slot - b.slot || a.seq - b.seq;
    return {
      image: {
        tag: this.#tag,
        turns: this.#turns.slice(-64),
        tallies: byKey(this.#tallies, "slot"),
        leases: byKey(byKey(this.#leases, "first"), "slot"),
        outbound: byKey(this.#outbound, "outboundSeq").map(keptOf),
        inbound: byKey(this.#inbound, "sourceShard"),
        catalog: byKey(this.#catalog, "queueId"),
        quarantinedCount: this.#quarantined,
      },
      items: this.#items.toSorted(place).map(readOf),
      scheduled: this.#scheduled.toSorted(place).map(readOf),
      waking: this.#scheduled.toSorted((a, b) => wakeAt(a) - wakeAt(b) || place(a, b)).map(readOf),
      early: this.#early(),
    };
  }

  /** One bounded read of each kind, at random places. */
  async compareReads(store: Store): Promise<void> {
    const below = this.#below;
    const slot = below(modelSlots);
    const [from, before] = [below(this.#seq), below(this.#seq + 1)];
    const limit = { items: 1 + below(40), payloadBytes: 1 + below(2_000) };
    const here = <T extends Item>(items: readonly T[]): T[] =>
      byKey(
        items.filter((one) => one.slot === slot),
        "seq",
      );
    const { items, scheduled, waking, early } = this.contents();

    expect(await store.items(slot, from, before, limit)).toEqual(
      page(here(items), from, before, limit),
    );
    expect(await store.scheduled(slot, from, before, limit)).toEqual(
      page(here(scheduled), from, before, limit),
    );
    expect(seqsOf(await store.seqs(slot, from, before, limit.items))).toEqual(
      seqsOf(page(here(items), from, before, { ...all, items: limit.items })),
    );
    const asked = this.#times(20, () => below(this.#seq));
    const present = seqsOf(here(items));
    expect(rising(await store.present(slot, asked))).toEqual(
      rising(asked.filter((seq) => present.includes(seq))),
    );
    const sources = new Set(here([...items, ...scheduled]).map(({ sourceId }) => sourceId));
    const names = numbers(0, 40).map(sourceName);
    expect((await store.presentSources(slot, names)).toSorted()).toEqual(
      names.filter((name) => sources.has(name)).toSorted(),
    );
    const now = below(20_000);
    expect(await store.waking(now, limit)).toEqual(
      bounded(
        waking.filter((one) => wakeAt(one) <= now),
        limit,
      ),
    );
    const [next] = waking;
    expect(await store.nextWake()).toBe(next === undefined ? null : wakeAt(next));
    const place = below(early.length + 1);
    const after = early[place - 1] ?? first;
    expect(await store.early(after, 3)).toEqual(early.slice(place, place + 3));
  }

  #early(): EarlyRef[] {
    return this.#items
      .filter((item) => item.early)
      .map(({ expireDeadline, slot, seq }) => ({ expireDeadline, slot, seq }))
      .toSorted((a, b) => a.expireDeadline - b.expireDeadline || a.slot - b.slot || a.seq - b.seq);
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** Runs and single ones, so that about as many leave as come. */
  #some<T extends Item>(items: readonly T[]): T[] {
    const below = this.#below;
    const start = below(items.length + 1);
    const run = byKey(items, "seq").slice(start, start + below(items.length / 8 + 10));
    return run.filter(() => below(5) > 0);
  }

  #nextSeq(): number {
    const below = this.#below;
    const skipped = below(10) === 0 ? this.#skipped.pop() : undefined;
    if (skipped !== undefined) return skipped;
    if (below(5) === 0) this.#skipped.push(++this.#seq);
    return ++this.#seq;
  }

  #newItem(): Item {
    const below = this.#below;
    const seq = this.#nextSeq();
    return item(below(modelSlots), seq, {
      createdAt: below(1_000),
      queuedAt: 1_000 + below(2),
      expireDeadline: 10_000 + below(100),
      early: below(6) === 0,
      attempts: below(4),
      sourceId: below(4) === 0 ? sourceName(below(40)) : "",
      payload: below(2) === 0 ? "é".repeat(below(100)) : new Uint8Array(below(200)).fill(seq),
    });
  }

  /** As one call writes them: mostly alike, and one behind the other. */
  #newNeighbours(): Item[] {
    const below = this.#below;
    const model = this.#newItem();
    const hasKinds = below(2) === 0;
    return this.#times(below(2) * below(200), () => {
      this.#seq += 1;
      return {
        ...model,
        seq: this.#seq,
        early: below(40) === 0,
        sourceId: below(40) === 0 ? sourceName(below(40)) : "",
        kind: hasKinds ? `kind ${below(3)}` : "",
        reference: hasKinds && below(2) === 0 ? "référence" : "",
        payload:
          below(2) === 0 ? "é".repeat(below(100)) : new Uint8Array(below(300)).fill(below(256)),
      };
    });
  }

  #newScheduled(): ScheduledItem {
    const below = this.#below;
    const item = { ...this.#newItem(), early: false };
    // Ties are within a slot only: no order is promised among those of several slots.
    const instant = (bound: number): number => below(bound / modelSlots) * modelSlots + item.slot;
    const expireDeadline = instant(20_000);
    return { ...item, dueAt: instant(20_000), expireDeadline, retried: below(2) === 0 };
  }
}

const sourceName = (number: number): string => `source-${number}`;

function without<T extends Item>(items: readonly T[], gone: readonly SlotSeqs[]): T[] {
  return items.filter(
    ({ slot, seq }) => !gone.some((one) => one.slot === slot && one.seqs.includes(seq)),
  );
}

function slotSeqs(items: readonly Item[]): SlotSeqs[] {
  return numbers(0, modelSlots).flatMap((slot) => {
    const seqs = new Set(seqsOf(items.filter((item) => item.slot === slot)));
    return seqs.size === 0 ? [] : [{ slot, seqs: rising([...seqs]) }];
  });
}

/** The last one of a key stays. */
function replaced<T, K>(old: readonly T[], added: readonly T[], keyOf: (value: T) => K): T[] {
  return [...new Map([...old, ...added].map((value) => [keyOf(value), value])).values()];
}

function unleased(leases: readonly Lease[], gone: Changes["unlease"]): Lease[] {
  return leases.filter(
    (lease) => !gone.some(({ slot, first }) => lease.slot === slot && lease.first === first),
  );
}
