// A reference model of a store: plain arrays, filtered and sorted for each read. Random turns are
// applied to it and to the store under test.

import { expect } from "bun:test";
import {
  type Item,
  type Lease,
  type OutboundItem,
  type ScheduledItem,
  type Tally,
  wakeAt,
} from "../item.ts";
import type { CatalogEntry } from "../queue.ts";
import type {
  Changes,
  GroupedItem,
  GroupHead,
  GroupPlace,
  Inbound,
  Mark,
  Move,
  MoveDestination,
  OutboxCount,
  Page,
  SlotSeqs,
  Some,
  StoredReceipts,
  StoredTask,
  TurnRecord,
  UniqueKey,
} from "../store.ts";
import { type Bench, type Contents, type Rule, shardsCompared, slotsCompared } from "./bench.ts";
import {
  alike,
  all,
  bare,
  byKey,
  countsOf,
  entry,
  expectSome,
  first,
  groupsOf,
  headsOf,
  inSpan,
  item,
  lease,
  markOf,
  moveOf,
  numbers,
  outboxPageOf,
  readOf,
  rising,
  scheduledMarkOf,
  seeded,
  seqsOf,
  slotSeqs,
  tally,
  toItems,
  toOutbox,
  toScheduled,
} from "./values.ts";

const modelTurns = 150;

export function modelRules(rule: Rule, seeds: readonly number[]): void {
  for (const seed of seeds) {
    rule(`random turns: the store holds what a plain model holds; seed ${seed}`, async (bench) => {
      const { tags } = await bench.store.load();
      const model = new Model(seeded(seed), tags);
      for (let turn = 1; turn <= modelTurns; turn += 1) {
        const changes = model.nextChanges();
        model.apply({ ...changes, turn: await bench.commit(changes) });
        await model.compareReads(bench);
        if (turn % 25 === 0) {
          await bench.nowAndReopened(async () => {
            expect(await bench.contents()).toEqual(model.contents());
          });
        }
      }
    });
  }
}

class Model {
  readonly #below: (below: number) => number;
  #tags: string;
  #items: Item[] = [];
  #scheduled: ScheduledItem[] = [];
  #outbound: OutboundItem[] = [];
  #leases: Lease[] = [];
  #tallies: Tally[] = [];
  #inbound: Inbound[] = [];
  #receipts: StoredReceipts[] = [];
  #uniques: UniqueKey[] = [];
  #grouped: GroupedItem[] = [];
  #tasks: StoredTask[] = [];
  #queues: CatalogEntry[] = [];
  readonly #turns: TurnRecord[] = [];
  #quarantined = 0;
  /** Increases with gaps. Some items are later written under a skipped number. */
  #seq = 0;
  readonly #skipped: number[] = [];

  constructor(below: (below: number) => number, tags: string) {
    this.#below = below;
    this.#tags = tags;
  }

  nextChanges(): Omit<Changes, "turn"> {
    const below = this.#below;
    const damaged = below(10) === 0;
    const [gone, goneScheduled] = [this.#some(this.#items), this.#some(this.#scheduled)];
    const sent = this.#outbound.filter(() => below(6) === 0).map(({ outboundSeq }) => outboundSeq);
    return {
      insert: [...this.#times(below(30), () => this.#newItem()), ...this.#newNeighbours()],
      move: damaged ? [] : this.#newMoves(gone, goneScheduled),
      remove: damaged ? [] : slotSeqs(gone),
      schedule: this.#times(below(8), () => this.#newScheduled()),
      unschedule: damaged ? [] : slotSeqs(goneScheduled),
      quarantine: damaged ? slotSeqs([...gone.slice(0, 2), ...goneScheduled.slice(0, 2)]) : [],
      lease: this.#times(below(4), () => this.#newLease()),
      unlease: this.#leases.filter(() => below(20) === 0).slice(0, 1),
      tally: this.#times(below(3), () =>
        tally(below(slotsCompared), { nextSeq: this.#seq, createdAtSum: BigInt(below(9)) ** 30n }),
      ),
      send: this.#times(below(4) === 0 ? below(5) : 0, () => this.#newOutbound()),
      unsend: damaged ? [] : sent,
      quarantineOutbound: damaged ? sent : [],
      receive: this.#times(below(2), () => ({ sourceShard: below(4), outboundSeq: this.#seq })),
      receipts:
        below(3) === 0 ? new Uint8Array(this.#times(1 + below(60), () => below(256))) : null,
      ...this.#newUniques(),
      ...this.#newGroups(),
      tasks: this.#newTasks(),
      ...this.#newQueues(),
      tags: below(12) === 0 ? `tags ${this.#seq}` : null,
      forgetTurn: below(10) === 0 ? Math.max(0, (this.#turns.at(-1)?.turn ?? 0) - below(20)) : 0,
    };
  }

  apply(changes: Changes): void {
    const { move, quarantine, quarantineOutbound, unlease, turn } = changes;
    const to = move.flatMap((one) => this.#moved(one));
    this.#items = [
      ...without(this.#items, [...changes.remove, ...quarantine]),
      ...changes.insert,
      ...to.flatMap(({ items = [] }) => items),
    ];
    this.#scheduled = [
      ...without(this.#scheduled, [...changes.unschedule, ...quarantine]),
      ...changes.schedule,
      ...to.flatMap(({ scheduled = [] }) => scheduled),
    ];
    const left = new Set([...changes.unsend, ...quarantineOutbound]);
    this.#outbound = [
      ...this.#outbound.filter(({ outboundSeq }) => !left.has(outboundSeq)),
      ...changes.send,
      ...to.flatMap(({ outbound = [] }) => outbound),
    ];
    for (const { seqs } of quarantine) this.#quarantined += seqs.length;
    this.#quarantined += quarantineOutbound.length;
    const leases = this.#leases.filter(
      (lease) => !unlease.some(({ slot, first }) => lease.slot === slot && lease.first === first),
    );
    this.#leases = replaced(leases, changes.lease, (one) => `${one.slot} ${one.first}`);
    this.#tallies = replaced(this.#tallies, changes.tally, ({ slot }) => slot);
    this.#inbound = replaced(this.#inbound, changes.receive, ({ sourceShard }) => sourceShard);
    this.#receipts = this.#receipts.filter((one) => one.turn > changes.forgetTurn);
    const { receipts: entries } = changes;
    if (entries !== null) this.#receipts.push({ turn: turn.turn, at: turn.at, entries });
    const forgotten = changes.ununique.flatMap(({ slot, seqs }) =>
      seqs.map((seq) => `${slot}/${seq}`),
    );
    const named = new Set(changes.tasks.map(({ taskId }) => taskId));
    const others = this.#tasks.filter(({ taskId }) => !named.has(taskId));
    const kept = changes.tasks.filter(({ text }) => text !== "");
    this.#tasks = [...others, ...kept].sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
    const queues = this.#queues.filter(({ queueId }) => !changes.unqueue.includes(queueId));
    this.#queues = replaced(queues, changes.queue, ({ queueId }) => queueId);
    this.#uniques = replaced(
      this.#uniques.filter(({ slot, seq }) => !forgotten.includes(`${slot}/${seq}`)),
      changes.unique,
      ({ digest }) => digest,
    );
    this.#grouped = replaced(
      this.#grouped.filter((row) => !changes.ungroup.some((one) => Bun.deepEquals(row, one))),
      changes.group,
      groupedKey,
    );
    this.#tags = changes.tags ?? this.#tags;
    this.#turns.push(turn);
  }

  /** The moved item, in one of three lists. */
  #moved({ slot, seq, from, to }: Move): {
    items?: Item;
    scheduled?: ScheduledItem;
    outbound?: OutboundItem;
  }[] {
    const list: readonly Item[] = from === "items" ? this.#items : this.#scheduled;
    const source = list.find((one) => one.slot === slot && one.seq === seq);
    if (source === undefined || to === null) return [];
    const { kind, encoding, reference, headers, payload } = source;
    const sourceId = to.item.sourceId ?? source.sourceId;
    const kept = { kind, encoding, reference, headers, payload, sourceId };
    switch (to.into) {
      case "items":
        return [{ items: { ...to.item, ...kept } }];
      case "scheduled":
        return [{ scheduled: { ...to.item, ...kept } }];
      case "outbox":
        return [{ outbound: { ...to.item, ...kept } }];
    }
  }

  contents(): Contents {
    const place = (a: Item, b: Item): number => a.slot - b.slot || a.seq - b.seq;
    const outbound = byKey(byKey(this.#outbound, "outboundSeq"), "targetShard");
    return {
      image: {
        tags: this.#tags,
        turns: this.#turns.slice(-64),
        tallies: byKey(this.#tallies, "slot"),
        groups: countsOf(this.#grouped),
        leases: byKey(byKey(this.#leases, "first"), "slot").map((lease) => {
          const { slot, first, last } = lease;
          const held = inSpan(this.#items, { slot, from: first, before: last + 1 });
          return { ...lease, held: held.map(markOf) };
        }),
        outbox: outboxOf(outbound),
        inbound: byKey(this.#inbound, "sourceShard"),
        receipts: this.#receipts,
        tasks: this.#tasks,
        queues: byKey(this.#queues, "queueId"),
        quarantinedCount: this.#quarantined,
      },
      items: this.#items.toSorted(place).map(readOf),
      scheduled: this.#scheduled.toSorted(place).map(readOf),
      outbound: outbound.map(readOf),
      waking: { found: this.#waking().map(scheduledMarkOf), next: null },
      early: { found: this.#early().map(markOf), next: null },
      uniques: byKey(byKey(this.#uniques, "seq"), "slot").map(({ slot, seq }) => ({ slot, seq })),
    };
  }

  #waking(): ScheduledItem[] {
    return this.#scheduled.toSorted((a, b) => wakeAt(a) - wakeAt(b) || a.seq - b.seq);
  }

  #early(): Item[] {
    return this.#items
      .filter((item) => item.early)
      .toSorted((a, b) => a.expireDeadline - b.expireDeadline || a.slot - b.slot || a.seq - b.seq);
  }

  /** Compares one read of all kinds, at random places. */
  async compareReads(bench: Bench): Promise<void> {
    const below = this.#below;
    const span = () => ({ from: below(this.#seq), before: below(this.#seq + 1) });
    const limit = () => ({ items: 1 + below(40), payloadBytes: 1 + below(2_000) });
    const pages = (): Page[] =>
      numbers(0, 2).map((number) => ({
        ...{ name: `page ${number}`, slot: below(slotsCompared), ...span(), limit: limit() },
      }));
    const slots = numbers(0, slotsCompared).filter(() => below(2) === 0);
    const early = this.#early();
    const place = below(early.length + 1);
    const waking = this.#waking();
    const plan = {
      heads: slots.map((slot) => ({ slot, ...span(), items: 1 + below(200) })),
      groups: this.#askedGroups(),
      headBytes: 1 + below(1 << below(17)),
      items: pages(),
      scheduled: pages(),
      marks: pages(),
      scheduledMarks: pages(),
      picks: slots.map((slot) => ({ slot, seqs: this.#askedSeqs() })),
      sources: slots.map((slot) => ({ slot, sourceIds: numbers(0, 40).map(sourceName) })),
      uniques: numbers(0, digestsUsed)
        .filter(() => below(2) === 0)
        .map(digestOf),
      ended: { until: below(1_000), keys: 1 + below(10) },
      waking: { until: below(20_000), items: 1 + below(10) },
      early: {
        after: early[place - 1] ?? first,
        until: 10_000 + below(100),
        items: 3,
      },
      outbound: numbers(0, shardsCompared).map((targetShard) => ({
        ...{ targetShard, arrived: below(this.#seq), limit: limit() },
      })),
    };
    const found = await bench.read(plan);

    const heads = headsOf(this.#items, plan);
    expect([...found.heads.keys()]).toEqual(heads.map(({ slot }) => slot));
    for (const { slot, ...rest } of heads) {
      expectSome(found.heads.get(slot), { ...rest, form: readOf });
    }
    expect(found.groups).toEqual(groupsOf(this.#grouped, this.#items, plan));
    expectPages(this.#items, plan.items, (page) =>
      expectSome(found.items.get(page.name), { ...page, form: readOf }),
    );
    expectPages(this.#scheduled, plan.scheduled, (page) =>
      expectSome(found.scheduled.get(page.name), { ...page, form: readOf }),
    );
    expectPages(this.#items, plan.marks, ({ name, of, limit }) =>
      expectSome(bareAll(found.marks.get(name)), { of, limit: ofAnyBytes(limit), form: markOf }),
    );
    expectPages(this.#scheduled, plan.scheduledMarks, ({ name, of, limit }) =>
      expectSome(bareAll(found.scheduledMarks.get(name)), {
        ...{ of, limit: ofAnyBytes(limit), form: scheduledMarkOf },
      }),
    );
    for (const { slot, seqs } of plan.picks) {
      const here = <T extends Item>(items: readonly T[]): T[] =>
        byKey(items, "seq").filter((one) => one.slot === slot && seqs.includes(one.seq));
      const { ready, scheduled } = found.picks.get(slot) ?? {};
      const [items, aside] = [here(this.#items), here(this.#scheduled)];
      expect([...(ready?.keys() ?? [])]).toEqual(seqsOf(items));
      expect(bare(ready?.values() ?? [])).toEqual(items.map(markOf));
      expect([...(scheduled?.keys() ?? [])]).toEqual(seqsOf(aside));
      expect(bare(scheduled?.values() ?? [])).toEqual(aside.map(scheduledMarkOf));
    }
    for (const { slot, sourceIds } of plan.sources) {
      const here = [...this.#items, ...this.#scheduled].filter((one) => one.slot === slot);
      const present = new Set(here.map(({ sourceId }) => sourceId));
      const named = new Set(sourceIds.filter((sourceId) => present.has(sourceId)));
      expect(found.sources.get(slot)).toEqual(named);
    }
    const due = waking.filter((one) => wakeAt(one) <= plan.waking.until);
    const woken = due.slice(0, plan.waking.items);
    const nextWake = waking[woken.length];
    expect({ ...found.waking, found: bare(found.waking.found) }).toEqual({
      found: woken.map(scheduledMarkOf),
      next: nextWake === undefined ? null : wakeAt(nextWake),
    });
    const asked = this.#uniques.filter(({ digest }) => plan.uniques.includes(digest));
    expect(found.uniques).toEqual(new Map(asked.map((one) => [one.digest, one])));
    const ending = byKey(this.#uniques, "until");
    const over = ending.filter((one) => one.until <= plan.ended.until).slice(0, plan.ended.keys);
    expect(found.ended).toEqual({
      found: over.map(({ slot, seq }) => ({ slot, seq })),
      next: ending[over.length]?.until ?? null,
    });
    const { until, items } = plan.early;
    const behind = early.slice(place);
    const ended = behind.filter((one) => one.expireDeadline <= until).slice(0, items);
    expect({ ...found.early, found: bare(found.early.found) }).toEqual({
      found: ended.map(markOf),
      next: behind[ended.length]?.expireDeadline ?? null,
    });
    const sent = byKey(this.#outbound, "outboundSeq");
    for (const want of plan.outbound) {
      expect(found.outbound.get(want.targetShard)).toEqual(outboxPageOf(sent, want));
    }
  }

  /** Numbers to pick, some of which are stored. */
  #askedSeqs(): number[] {
    return rising([...new Set(this.#times(30, () => this.#below(this.#seq)))]);
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** Runs of items and single items; about as many leave as are added. */
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
    return item(below(slotsCompared), seq, {
      createdAt: below(1_000),
      queuedAt: 1_000 + below(2),
      expireDeadline: 10_000 + below(100),
      early: below(6) === 0,
      attempts: below(4),
      sourceId: below(4) === 0 ? sourceName(below(40)) : "",
      headers: below(4) === 0 ? `{"h":"${below(10)}"}` : "",
      past: below(4) === 0 ? `{"reason":"ö ${below(10)}"}` : "",
      payload: below(2) === 0 ? "é".repeat(below(100)) : new Uint8Array(below(200)).fill(seq),
    });
  }

  /** Consecutive and mostly similar items, as one produce request writes them. */
  #newNeighbours(): Item[] {
    const below = this.#below;
    const model = this.#newItem();
    const hasKinds = below(2) === 0;
    const hasHeaders = below(3) === 0;
    const pastOf = below(3) === 0 ? 2 : 40;
    const from = this.#seq + 1;
    this.#seq += below(2) * below(200);
    return alike(model.slot, from, this.#seq + 1).map(({ seq }) => ({
      ...model,
      seq,
      early: below(40) === 0,
      sourceId: below(40) === 0 ? sourceName(below(40)) : "",
      past: below(pastOf) === 0 ? `{"redriven":"é ${below(9)}"}${"\n".repeat(below(30) / 29)}` : "",
      headers: hasHeaders && below(2) === 0 ? `{"n":"${seq}"}` : "",
      kind: hasKinds ? `kind ${below(3)}` : "",
      reference: hasKinds && below(2) === 0 ? "référence" : "",
      payload:
        below(2) === 0 ? "é".repeat(below(100)) : new Uint8Array(below(300)).fill(below(256)),
    }));
  }

  #newScheduled(): ScheduledItem {
    const item = { ...this.#newItem(), early: false };
    return { ...item, ...this.#newInstants(item.slot) };
  }

  /** Ties are within one slot only: the order of ties across slots is not defined. */
  #newInstants(slot: number): Pick<ScheduledItem, "dueAt" | "expireDeadline" | "retried"> {
    const instant = (): number => this.#below(20_000 / slotsCompared) * slotsCompared + slot;
    return { dueAt: instant(), expireDeadline: instant(), retried: this.#below(2) === 0 };
  }

  #newOutbound(): OutboundItem {
    const below = this.#below;
    const one = this.#newItem();
    const [targetShard, targetOwner] = [below(shardsCompared), below(9)];
    return { ...one, outboundSeq: this.#nextSeq(), targetShard, targetOwner };
  }

  /** No ties, because their order is not defined. */
  #newTasks(): StoredTask[] {
    const below = this.#below;
    const ids = numbers(0, 6).filter(() => below(6) === 0);
    return ids.map((id) => ({ taskId: `T${id}`, text: below(3) === 0 ? "" : `é ${below(9)}` }));
  }

  #newQueues(): Pick<Changes, "queue" | "unqueue"> {
    const below = this.#below;
    const ids = numbers(0, 20).filter(() => below(20) === 0);
    const unqueue = ids.filter(() => below(3) === 0);
    const kept = ids.filter((queueId) => !unqueue.includes(queueId));
    return { queue: kept.map((queueId) => entry(queueId, `queue ${this.#seq}`)), unqueue };
  }

  #newUniques(): Pick<Changes, "unique" | "ununique"> {
    const below = this.#below;
    const digests = numbers(0, below(6) + 1).map(() => digestOf(below(digestsUsed)));
    const taken = new Set(this.#uniques.map(({ until }) => until));
    const unique = [...new Set(digests)].flatMap((digest) => {
      const until = below(1_000);
      if (taken.has(until)) return [];
      taken.add(until);
      return [{ slot: below(slotsCompared), seq: this.#nextSeq(), digest, until }];
    });
    const gone = this.#uniques.filter(() => below(8) === 0);
    return { unique, ununique: slotSeqs(gone) };
  }

  /** Some rows leave, some of them for another place or under another number; some are wrong. */
  #newGroups(): Pick<Changes, "group" | "ungroup"> {
    const below = this.#below;
    const leaving = this.#grouped.filter(() => below(8) === 0);
    const again = leaving.filter(() => below(3) === 0);
    const wrong = this.#grouped.filter((row) => !leaving.includes(row) && below(20) === 0);
    const items = this.#items.filter(() => below(10) === 0).slice(0, 20);
    const moved = again.map((row) => ({
      ...{ ...row, seq: this.#nextSeq() },
      ...(below(2) === 0 && { place: oneOf(groupPlaces, below), rank: this.#nextSeq() }),
    }));
    const added = items.map(
      ({ slot, seq }): GroupedItem => ({
        ...{ partition: below(3), group: oneOf(groupsUsed, below), slot, seq },
        ...{ place: oneOf(groupPlaces, below), rank: this.#nextSeq() },
      }),
    );
    return {
      group: [...moved, ...added],
      ungroup: [...leaving, ...wrong.map((row) => ({ ...row, seq: row.seq + 1 }))],
    };
  }

  #askedGroups(): GroupHead[] {
    const below = this.#below;
    return this.#times(below(20), () => ({
      ...{ partition: below(3), group: oneOf(groupsUsed, below) },
      ...{ from: below(2) * below(this.#seq), items: 1 + below(6) },
    }));
  }

  /** From a place before some item to a place after it. */
  #newLease(): Lease {
    const below = this.#below;
    const first = below(this.#seq + 1);
    return lease(below(slotsCompared), first, { last: first + below(60), leasedAt: below(1_000) });
  }

  /** Moves all leaving items to one kind of place, or each to a different kind, or none. */
  #newMoves(items: readonly Item[], scheduled: readonly ScheduledItem[]): Move[] {
    const below = this.#below;
    const kind = below(7);
    const isMoved = (): boolean => kind < 4 || (kind < 6 && below(2) === 0);
    const model = this.#newItem();
    const isAlike = below(2) === 0;
    const destination = (): MoveDestination | null => {
      const one = isAlike ? model : this.#newItem();
      const sourceId = below(8) === 0 ? sourceName(below(40)) : null;
      this.#seq += 1;
      const moved = { ...one, seq: this.#seq, early: below(20) === 0, sourceId };
      switch (kind < 4 ? kind : below(4)) {
        case 0:
          return toItems(moved);
        case 1:
          return toScheduled({ ...moved, early: false, ...this.#newInstants(moved.slot) });
        case 2: {
          const [targetShard, targetOwner] = [below(shardsCompared), below(9)];
          return toOutbox({
            ...moved,
            outboundSeq: this.#seq,
            targetShard,
            targetOwner,
          });
        }
        default:
          return null;
      }
    };
    return [
      ...items.filter(isMoved).map((one) => moveOf(one, destination())),
      ...scheduled.filter(isMoved).map((one) => moveOf(one, destination(), "scheduled")),
    ];
  }
}

const groupPlaces: readonly GroupPlace[] = ["queued", "scheduled", "retried"];
const groupsUsed = ["", "a", "A", "a\u0000", "é", "\uff5e", "\u{1f600}", "x".repeat(256)];

const oneOf = <T>(values: readonly T[], below: (below: number) => number): T =>
  values[below(values.length)] as T;

const groupedKey = ({ partition, group, place, rank }: GroupedItem): string =>
  JSON.stringify([partition, group, place, rank]);

const digestsUsed = 60;
const digestOf = (number: number): string => `${number}`.padStart(32, "0");

const sourceName = (number: number): string => `source-${number}`;

const ofAnyBytes = ({ items }: Page["limit"]): Page["limit"] => ({ ...all, items });

function bareAll<T extends Mark>(some: Some<T> | undefined): Some<T> | undefined {
  return some && { ...some, found: bare(some.found) };
}

function expectPages<T extends Item>(
  items: readonly T[],
  pages: readonly Page[],
  check: (page: Page & { readonly of: readonly T[] }) => void,
): void {
  for (const page of pages) check({ ...page, of: inSpan(items, page) });
}

function without<T extends Item>(items: readonly T[], gone: readonly SlotSeqs[]): T[] {
  return items.filter(
    ({ slot, seq }) => !gone.some((one) => one.slot === slot && one.seqs.includes(seq)),
  );
}

/** The last value of a key wins. */
function replaced<T, K>(old: readonly T[], added: readonly T[], keyOf: (value: T) => K): T[] {
  return [...new Map([...old, ...added].map((value) => [keyOf(value), value])).values()];
}

function outboxOf(items: readonly OutboundItem[]): OutboxCount[] {
  const places = Map.groupBy(byKey(byKey(items, "targetOwner"), "targetShard"), (one) =>
    [one.targetShard, one.targetOwner].join(),
  );
  return [...places.values()].flatMap((some) =>
    some.slice(0, 1).map(({ targetShard, targetOwner }) => ({
      ...{ targetShard, targetOwner, count: some.length },
    })),
  );
}
