// Tests the decision of a turn as a pure function: worlds of one partition are generated, and their
// reads are made from plain arrays, without a store.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Item, type Lease, type ScheduledItem, wakeAt } from "../../stores/item.ts";
import {
  type Image,
  type Mark,
  nothingRead,
  type Page,
  type ReadPlan,
  type ReadResult,
  type ScheduledMark,
  type Some,
  type StoredLease,
} from "../../stores/store.ts";
import {
  type IdempotencyKey,
  idempotencyKey,
  type KeyedOperation,
} from "../model/idempotency-key.ts";
import { formatId, idPrefix } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { PartitionSettings } from "../model/messages.ts";
import type { NumberedRequest } from "../operations.ts";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { History } from "../state/history.ts";
import { Lines } from "../state/lines.ts";
import { Memory } from "../state/memory.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { QueueRules } from "../state/queue-rules.ts";
import { sampleLease, sampleQueue, sampleQueueId } from "../testing/sample-queue.ts";
import { ChangeSet } from "./change-set.ts";
import { decide, planReads } from "./turn.ts";
import type { Turn } from "./turn-context.ts";

const now = 1_000_000;
const slot = 0;
const queueId = sampleQueueId(slot);
const deadSlot = 1;
const deadOwner = 2;
const tag = "0123456789Ab";
const prefix = idPrefix(tag, slot);
const never = Number.MAX_SAFE_INTEGER;
const record = { turn: 1, at: now, tag: "" };
const bounds = { ...limits, sweepItemsMax: 5 };

/** The items of a partition before the turn, and its requests. */
interface World {
  readonly settings: PartitionSettings;
  /** Ready and leased, by rising number. */
  readonly items: readonly Item[];
  readonly scheduled: readonly ScheduledItem[];
  readonly leases: readonly StoredLease[];
  readonly requests: readonly NumberedRequest[];
  /** Leases, in order of arrival. */
  readonly waiting: readonly { readonly count: number; readonly isLate: boolean }[];
}

function item(seq: number, fields: Partial<Item> = {}): Item {
  const given = {
    kind: "k",
    encoding: "",
    reference: "",
    sourceId: "",
    headers: "",
    past: "",
    payload: "p",
  };
  const instants = { createdAt: 10, queuedAt: 10, expireDeadline: never };
  return { slot, seq, ...instants, early: false, attempts: 0, ...given, ...fields };
}

const idOf = (seq: number): string => formatId(prefix, seq);

const operations = [
  "complete",
  "retry",
  "extend",
  "release",
  "lease",
  "produce",
  "transact",
  "import",
  "delete",
  "clear",
] as const;
/** The unique keys of items; the store has one of them. */
const uniques = ["", "", "stored", "new", "other"] as const;
const isKeyed = (kind: (typeof operations)[number]) => !["lease", "delete", "clear"].includes(kind);
const rarely = fc.nat(5).map((number) => number === 0);

/** Items with gaps between their numbers; some are leased, expired, scheduled or requested. */
const worlds = fc
  .record({
    gaps: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 14 }),
    states: fc.array(fc.constantFrom("ready", "ready", "leased", "lapsed", "scheduled", "due"), {
      minLength: 14,
      maxLength: 14,
    }),
    expired: fc.array(fc.boolean(), { minLength: 14, maxLength: 14 }),
    attempts: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 14, maxLength: 14 }),
    maxAttempts: fc.integer({ min: 0, max: 4 }),
    dead: fc.constantFrom(null, 0, 1),
    pause: fc.constantFrom(null, null, "lease", "produce"),
    asks: fc.array(
      fc.record({
        kind: fc.constantFrom(...operations),
        from: fc.nat(20),
        count: fc.integer({ min: 1, max: 6 }),
        isLate: rarely,
        isWrong: rarely,
        dead: fc.boolean(),
        key: fc.constantFrom("", "", "a", "b"),
        uniques: fc.array(fc.constantFrom(...uniques), { minLength: 6, maxLength: 6 }),
      }),
      { maxLength: 6 },
    ),
  })
  .map((made): World => {
    let seq = 0;
    const items: Item[] = [];
    const scheduled: ScheduledItem[] = [];
    const leases: StoredLease[] = [];
    for (const [index, gap] of made.gaps.entries()) {
      seq += gap;
      const state = made.states[index] ?? "ready";
      const isEarly = made.expired[index] === true;
      const expireDeadline = isEarly ? now - 1 : never;
      const attempts = made.attempts[index] ?? 0;
      const one = item(seq, { expireDeadline, attempts, early: isEarly });
      if (state === "scheduled" || state === "due") {
        const dueAt = state === "due" ? now : now + 1_000;
        scheduled.push({ ...one, early: false, dueAt, retried: index % 2 === 0 });
        continue;
      }
      items.push(one);
      if (state === "ready") continue;
      const leaseDeadline = state === "lapsed" ? now : now + 1_000;
      const before = leases.at(-1);
      const isNext = before?.last === items.at(-2)?.seq && before?.leaseDeadline === leaseDeadline;
      const rest = isNext && before !== undefined ? leases.pop() : undefined;
      const held = [...(rest?.held ?? []), markOf(one)];
      leases.push({ slot, first: rest?.first ?? seq, last: seq, leaseDeadline, leasedAt: 1, held });
    }
    const settings = {
      slot,
      leaseTimeoutMs: 60_000,
      expireTimeoutMs: 3_600_000,
      maxAttempts: made.maxAttempts,
      queue: "q",
      owner: 1,
      dead: made.dead === null ? null : { shard: made.dead, owner: deadOwner },
      uniqueForMs: 1_000,
      ...(made.pause !== null && {
        pause: { lease: made.pause === "lease", produce: made.pause === "produce", reason: "" },
      }),
    };
    const leased = heldSeqs(leases);
    const waiting = made.asks.filter(({ kind }) => kind === "lease");
    const requests = made.asks.flatMap((ask, index) => {
      // Mostly consecutive leased items; one wrong id fails the batch.
      const start = ask.from % Math.max(1, leased.length);
      const seqs = leased.slice(start, start + Math.min(2, ask.count));
      const ids = [...seqs, ...(ask.isWrong ? [ask.from] : [])].map(idOf);
      return requestOf({ ...ask, ids, op: index + 1 }) ?? [];
    });
    return { settings, items, scheduled, leases, requests, waiting };
  });

function heldSeqs(leases: readonly StoredLease[]): number[] {
  return leases.flatMap(({ held }) => held.map((mark) => mark.seq));
}

interface Ask {
  readonly op: number;
  readonly kind: (typeof operations)[number];
  readonly count: number;
  readonly ids: readonly string[];
  readonly isLate: boolean;
  readonly dead: boolean;
  readonly key: string;
  readonly uniques: readonly string[];
}

/** A key belongs to its operation, and its fingerprint depends on the request. */
function keyOf({ kind, key, ids, count, uniques, dead }: Ask): { readonly key?: IdempotencyKey } {
  if (key === "" || !isKeyed(kind)) return {};
  const argumentsText = JSON.stringify([ids, count, uniques, dead]);
  const call = {
    queue: { queueId: 1, createdAt: 1 },
    operation: kind as KeyedOperation,
    argumentsText,
  };
  return { key: idempotencyKey(key, call) };
}

const unplaced = { kind: "", encoding: "", reference: "", headers: "", past: "" };

function newItems({ count, uniques }: Ask) {
  return Array.from({ length: count }, (_, index) => {
    const unique = uniques[index] ?? "";
    return { ...unplaced, enqueueAt: null, priority: 0, unique, payload: "new" };
  });
}

function newImports({ count, dead }: Ask) {
  const instants = { leaseDeadline: null, expireDeadline: null, createdAt: null, enqueueAt: null };
  const given = { ...unplaced, ...instants, priority: 0, attempts: 0, past: "", payload: "new" };
  return Array.from({ length: count }, (_, index) => ({
    ...given,
    sourceId: dead ? `source-${index}` : "",
  }));
}

/** `null` for a lease, which is not a request but waits in the line. */
function requestOf(ask: Ask): NumberedRequest | null {
  const { op, kind, ids, count, dead } = ask;
  const deadline = ask.isLate ? now : now + 1;
  const asked = { op, slot, deadline, ...keyOf(ask) };
  switch (kind) {
    case "complete":
    case "release":
      return { ...asked, kind, ids };
    case "extend":
      return { ...asked, kind, ids, leaseTimeoutMs: 100 * count };
    case "retry":
      return { ...asked, kind, items: ids.map((id) => ({ id, retryAt: null, dead })) };
    case "lease":
      return null;
    case "produce":
      return { ...asked, kind, queueId, items: newItems(ask) };
    case "import":
      return { ...asked, kind, items: newImports(ask) };
    case "transact": {
      const produce = [{ queueId, items: newItems(ask) }];
      return { ...asked, kind, complete: [{ slot, ids }], retry: [], produce };
    }
    case "delete":
      return { op, kind, slot, ids };
    case "clear": {
      const what = { ready: true, leased: dead, scheduled: true, retried: false };
      return { op, kind, slots: [slot], what };
    }
  }
}

function markOf({ slot: where, seq, createdAt, expireDeadline, attempts, past }: Item): Mark {
  return { slot: where, seq, createdAt, expireDeadline, attempts, past, payloadBytes: 1 };
}

function scheduledMarkOf(one: ScheduledItem): ScheduledMark {
  return { ...markOf(one), dueAt: one.dueAt, retried: one.retried };
}

/** The queue of the world, with its waiting leases. */
function queueOf({ settings, waiting }: World): { queue: LogicalQueue; lines: Lines } {
  const queue = sampleQueue(settings, new VirtualClock(now));
  const lines = new Lines();
  for (const [arrival, { count: batchSize, isLate }] of waiting.entries()) {
    const deadline = isLate ? now : now + 1;
    lines.join(sampleLease(queue, { arrival, batchSize, deadline }), true);
  }
  return { queue, lines };
}

async function memoryOf(world: World, queue = queueOf(world).queue): Promise<Memory> {
  const nextSeq = Math.max(0, ...[...world.items, ...world.scheduled].map(({ seq }) => seq + 1));
  const retriedCount = world.scheduled.filter(({ retried }) => retried).length;
  const tally = {
    slot,
    nextSeq,
    itemCount: world.items.length,
    createdAtSum: BigInt(10 * world.items.length),
    scheduledCount: world.scheduled.length - retriedCount,
    retriedCount,
    expireDeadlineMax: never,
    doomedCount: 0,
    clearReadyBelow: 0,
    clearScheduledBelow: 0,
    clearRetriedBelow: 0,
  };
  const { leases } = world;
  const image: Image = {
    tags: tag,
    turns: [],
    tallies: [tally],
    groups: [],
    leases,
    outbox: [],
    inbound: [],
    receipts: [],
    tasks: [],
    queues: [],
    quarantinedCount: 0,
  };
  const rules: QueueRules = {
    settingsAt: (of) =>
      of === slot ? world.settings : { ...world.settings, slot: of, dead: null },
    ownerAt: (of) => (of === slot ? { queue, partition: 0 } : undefined),
    homeOf: (owner) => (owner === deadOwner ? deadSlot : null),
    isLost: () => false,
    targetOf: () => null,
    originsAt: () => [],
    isOpen: () => true,
    pauseOf: () => undefined,
    queueOf: () => queue,
  };
  const load = async (): Promise<Image> => image;
  const read = async (asked: ReadPlan): Promise<ReadResult> => factsOf(world, asked);
  return (await Memory.load(0, { load, read } as never, { rules })).memory;
}

function factsOf({ items, scheduled }: World, asked: ReadPlan | null): ReadResult {
  if (asked === null) return nothingRead;
  const some = <T extends { readonly seq: number }, F>(
    all: readonly T[],
    { from, before }: { readonly from: number; readonly before: number },
    count: number,
    form: (one: T) => F,
  ): Some<F> => {
    const found = all.filter(({ seq }) => seq >= from && seq < before);
    return { found: found.slice(0, count).map(form), isAll: found.length < count };
  };
  const pages = <T extends { readonly seq: number }, F>(
    wanted: readonly Page[],
    all: readonly T[],
    form: (one: T) => F,
  ): Map<string, Some<F>> =>
    new Map(wanted.map((page) => [page.name, some(all, page, page.limit.items, form)]));
  const read = <T extends Item>(one: T) => ({ ...one, damaged: false });
  const due = scheduled.filter((one) => wakeAt(one) <= now);
  const later = scheduled.filter((one) => wakeAt(one) > now).map(wakeAt);
  const waking = due.slice(0, asked.waking?.items ?? 0);
  const expired = items.filter(({ early }) => early);
  return {
    ...nothingRead,
    heads: new Map(asked.heads.map((head) => [head.slot, some(items, head, head.items, read)])),
    items: pages(asked.items, items, read),
    marks: pages(asked.marks, items, markOf),
    scheduledMarks: pages(asked.scheduledMarks, scheduled, scheduledMarkOf),
    picks: new Map(
      asked.picks.map(({ slot: where, seqs }) => [
        where,
        {
          ready: new Map(
            items.filter(({ seq }) => seqs.includes(seq)).map((one) => [one.seq, markOf(one)]),
          ),
          scheduled: new Map(
            scheduled
              .filter(({ seq }) => seqs.includes(seq))
              .map((one) => [one.seq, scheduledMarkOf(one)]),
          ),
        },
      ]),
    ),
    waking: {
      found: waking.map(scheduledMarkOf),
      next: due.length > waking.length ? now : Math.min(...later, never),
    },
    early: { found: expired.slice(0, asked.early?.items ?? 0).map(markOf), next: null },
    uniques: new Map(
      asked.uniques.flatMap((digest) =>
        digest === "stored" ? [[digest, { slot, seq: 0, digest, until: never }]] : [],
      ),
    ),
  };
}

async function decided(world: World, requests = world.requests): Promise<Turn> {
  const { queue, lines } = queueOf(world);
  const memory = await memoryOf(world, queue);
  const { readyCount: ready, held } = memory.partition(slot);
  queue.levels.at(0).update(0, { ready, leased: held.size });
  const linesToServe = lines.take(now);
  const planner = planReads(
    { memory, now, machineNow: now, limits: bounds, linesToServe },
    requests,
  );
  const turn: Turn = {
    shard: 0,
    memory,
    readResult: factsOf(world, planner.plan),
    named: planner.named,
    groupHeads: planner.groups,
    changeSet: new ChangeSet(),
    now,
    machineNow: now,
    stamp: now,
    limits: bounds,
    history: new History(0, now),
    renderLeased: (items) => items,
    linesToServe,
    lines,
    full: false,
    isStill: false,
    settling: [],
  };
  decide(turn, requests);
  return turn;
}

const changesOf = ({ changeSet }: Turn) => changeSet.changes(record, null);
const outcomeOf = ({ changeSet }: Turn, op: number) =>
  changeSet.answers.find((answer) => answer.op === op)?.outcome;
const check = (property: (world: World) => Promise<void>): Promise<void> =>
  fc.assert(fc.asyncProperty(worlds, property), { numRuns: 1_000, seed: 1 });

test("decide: the same memory, reads, requests and instant produce the same change set", () =>
  check(async (world) => {
    const [first, second] = [await decided(world), await decided(world)];
    expect(changesOf(second)).toEqual(changesOf(first));
    expect(second.changeSet.answers).toEqual(first.changeSet.answers);
  }));

test("decide: an item given as text equals one described with empty fields", () =>
  check(async (world) => {
    const texts = {
      op: 100,
      kind: "produce",
      queueId,
      deadline: never,
      items: ["a", "", "é"],
    } as const;
    const nothing = { kind: "", encoding: "", reference: "", headers: "", past: "" };
    const items = texts.items.map((payload) => {
      return { ...nothing, payload, enqueueAt: null, priority: 0, unique: "" };
    });
    const [short, long] = [
      await decided(world, [...world.requests, texts]),
      await decided(world, [...world.requests, { ...texts, items }]),
    ];
    expect(changesOf(short)).toEqual(changesOf(long));
    expect(short.changeSet.itemCount).toBe(long.changeSet.itemCount);
  }));

/** In the order of a turn, which decides repetitions of a key after all first requests. */
function inOrder(requests: readonly NumberedRequest[]): readonly NumberedRequest[] {
  const seen = new Map<string, number>();
  const waits = requests.map((request) => {
    const digest = "key" in request ? request.key?.digest : undefined;
    if (digest === undefined) return 0;
    const before = seen.get(digest) ?? 0;
    seen.set(digest, before + 1);
    return before;
  });
  return [...Map.groupBy(requests.keys(), (index) => waits[index])]
    .sort(([a = 0], [b = 0]) => a - b)
    .flatMap(([, indexes]) => indexes.map((index) => requests[index] as NumberedRequest));
}

test("decide: a refused request leaves nothing behind", () =>
  check(async (world) => {
    const turn = await decided(world);
    const refused = turn.changeSet.answers.filter(({ outcome }) => !outcome.ok);
    const others = inOrder(world.requests).filter(({ op }) =>
      refused.every((answer) => answer.op !== op),
    );
    expect(changesOf(await decided(world, others))).toEqual(changesOf(turn));
  }));

test("decide: an item leaves its place once, and a moved item was there", () =>
  check(async (world) => {
    const { insert, move, remove, unschedule } = changesOf(await decided(world));
    const removed = remove.flatMap(({ seqs }) => seqs);
    const unscheduled = unschedule.flatMap(({ seqs }) => seqs);
    const there = (all: readonly Item[]) => all.map(({ seq }) => seq);
    expect(there(world.items)).toEqual(expect.arrayContaining(removed));
    expect(there(world.scheduled)).toEqual(expect.arrayContaining(unscheduled));
    const sources = move.map(({ seq }) => seq);
    expect(new Set(sources).size).toBe(sources.length);
    for (const { seq, from } of move) {
      expect(from === "items" ? removed : unscheduled).toContain(seq);
    }
    const places = [...insert, ...move.flatMap(({ to }) => (to === null ? [] : to.item))];
    const here = places.filter((one) => one.slot === slot && !("outboundSeq" in one));
    expect(new Set(here.map(({ seq }) => seq)).size).toBe(here.length);
  }));

test("decide: the tally is the previous one, minus the removed and plus the added items", () =>
  check(async (world) => {
    const turn = await decided(world);
    const { insert, move, remove, unschedule, tally } = changesOf(turn);
    const [mine] = tally.filter((one) => one.slot === slot);
    if (mine === undefined) return;
    const into = (where: "items" | "scheduled") =>
      move.filter(({ to }) => to?.into === where && to.item.slot === slot).length;
    const left = (sets: typeof remove) => sets.reduce((sum, { seqs }) => sum + seqs.length, 0);
    const came = insert.length + into("items");
    expect(mine.itemCount).toBe(world.items.length + came - left(remove));
    const aside = world.scheduled.length + into("scheduled") - left(unschedule);
    expect(mine.scheduledCount + mine.retriedCount).toBe(aside);
  }));

test("decide: a leased item was ready, had not expired, and goes to one client", () =>
  check(async (world) => {
    const turn = await decided(world);
    const held = new Set(heldSeqs(world.leases));
    const granted = turn.changeSet.granted.flatMap(({ seqs }) => seqs);
    expect(new Set(granted).size).toBe(granted.length);
    const insert = changesOf(turn).insert.map(({ seq }) => seq);
    for (const seq of granted) {
      const one = world.items.find((candidate) => candidate.seq === seq);
      expect(insert.includes(seq) || one !== undefined).toBe(true);
      if (one === undefined) continue;
      expect(held.has(seq)).toBe(false);
      expect(one.expireDeadline).toBeGreaterThan(now);
    }
  }));

test("decide: leases cover the leased items, each once, and none ends earlier than before", () =>
  check(async (world) => {
    const turn = await decided(world);
    const { lease, unlease } = changesOf(turn);
    const rows = new Map<number, Lease>(
      world.leases.map(({ held: _, ...one }) => [one.first, one]),
    );
    for (const { first } of unlease) rows.delete(first);
    for (const one of lease) rows.set(one.first, one);
    const covering = (seq: number): Lease[] =>
      [...rows.values()].filter(({ first, last }) => first <= seq && seq <= last);
    const { held, runs } = turn.memory.partition(slot);
    for (const [seq, { run }] of held) expect(covering(seq)).toEqual([run.lease]);
    const inMemory = [...runs].map(({ lease: one }) => one.first).sort((a, b) => a - b);
    expect([...rows.keys()].sort((a, b) => a - b)).toEqual(inMemory);
    for (const { held: before, leaseDeadline } of world.leases) {
      for (const { seq } of before) {
        const deadline = held.get(seq)?.run.lease.leaseDeadline ?? leaseDeadline;
        expect(deadline).toBeGreaterThanOrEqual(leaseDeadline);
      }
    }
  }));

test("decide: a lapsed item is never completed", () =>
  check(async (world) => {
    const turn = await decided(world);
    const lapsed = world.leases.filter(({ leaseDeadline }) => leaseDeadline <= now);
    const lapsedSeqs = heldSeqs(lapsed);
    if (lapsedSeqs.length > bounds.sweepItemsMax) return;
    for (const request of world.requests) {
      if (request.kind !== "complete") continue;
      const answer = turn.changeSet.answers.find(({ op }) => op === request.op);
      const names = lapsedSeqs.some((seq) => request.ids.includes(idOf(seq)));
      if (names) expect(answer?.outcome.ok).toBe(false);
    }
  }));

test("decide: a repeated key is done once, and answered as before", () =>
  check(async (world) => {
    const { requests } = world;
    const once = await decided(world);
    const isDone = (request: NumberedRequest): boolean => {
      const hasKey = "key" in request && request.key !== undefined;
      return hasKey && outcomeOf(once, request.op)?.ok === true;
    };
    const again = requests.filter(isDone).map((request) => ({ ...request, op: request.op + 100 }));
    const turn = await decided(world, [...requests, ...again]);
    expect(changesOf(turn)).toEqual(changesOf(once));
    for (const { op } of again) {
      expect(outcomeOf(turn, op)).toMatchObject({ ok: true, replayed: true });
    }
  }));

test("decide: at most one item of a unique key is written, and none if one is stored", () =>
  check(async (world) => {
    const turn = await decided(world);
    const written = [...turn.changeSet.unique.values()];
    expect(written.map(({ digest }) => digest)).not.toContain("stored");
    const places = changesOf(turn).insert.map(({ seq }) => seq);
    for (const { seq } of written) expect(places).toContain(seq);
  }));

test("decide: paused operations are not done", () =>
  check(async (world) => {
    const { pause } = world.settings;
    const turn = await decided(world);
    if (pause?.lease === true) expect(turn.changeSet.granted).toEqual([]);
    if (pause?.produce !== true) return;
    for (const { kind, op } of world.requests) {
      if (kind === "produce" || kind === "transact") expect(outcomeOf(turn, op)?.ok).toBe(false);
    }
  }));

test("decide: the sweep moves no more items than its bound", () =>
  check(async (world) => {
    const { move } = changesOf(await decided({ ...world, waiting: [] }, []));
    expect(move.length).toBeLessThanOrEqual(bounds.sweepItemsMax);
  }));

test("produce: an item is early if it expires before one ahead of it, and not in an empty partition", async () => {
  const settings = {
    slot,
    leaseTimeoutMs: 100,
    expireTimeoutMs: 100,
    maxAttempts: 0,
    dead: null,
    queue: "q",
    owner: 1,
  };
  const empty = {
    kind: "",
    encoding: "",
    reference: "",
    headers: "",
    past: "",
    enqueueAt: null,
    priority: 0,
    unique: "",
  };
  const items = [{ ...empty, payload: "new" }];
  const produced = { op: 1, kind: "produce", queueId, deadline: never, items } as const;
  const world = { settings, scheduled: [], leases: [], requests: [produced], waiting: [] };
  const earlyIn = async (ahead: readonly Item[]) =>
    changesOf(await decided({ ...world, items: ahead })).insert.map(({ early }) => early);
  expect(await earlyIn([item(1)])).toEqual([true]);
  expect(await earlyIn([])).toEqual([false]);
});

test("lease: reads of a new partition begin at its first number", async () => {
  const none = {
    turns: [],
    tallies: [],
    groups: [],
    leases: [],
    outbox: [],
    inbound: [],
    receipts: [],
  };
  const image: Image = { ...none, tags: `${tag}:1000`, tasks: [], queues: [], quarantinedCount: 0 };
  const { memory } = await Memory.load(0, { load: async () => image } as never, {
    rules: {
      settingsAt: () => null,
      ownerAt: () => undefined,
      homeOf: () => null,
      isLost: () => false,
      targetOf: () => null,
      originsAt: () => [],
      isOpen: () => true,
      pauseOf: () => undefined,
      queueOf: () => undefined,
    },
  });
  expect(memory.partition(slot).firstFrom).toBe(1_000);
});
