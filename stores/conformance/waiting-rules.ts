// Rules for reading items that wait for an instant, for their early expiry, or for another shard.

import { expect } from "bun:test";
import type { EarlyRef } from "../store.ts";
import type { Rule } from "./bench.ts";
import {
  all,
  bare,
  byKey,
  end,
  expectSome,
  first,
  instantMax,
  item,
  lease,
  markOf,
  numbers,
  outboundItem,
  outboxPageOf,
  readOf,
  scheduledItem,
  scheduledMarkOf,
  seeded,
  seqMax,
  seqsOf,
  slotMax,
} from "./values.ts";

export function waitingRules(rule: Rule): void {
  scheduledRules(rule);
  wakingRules(rule);
  earlyRules(rule);
  outboundRules(rule);
}

function scheduledRules(rule: Rule): void {
  const written = [
    scheduledItem(1, 3, { dueAt: 9_000 }),
    scheduledItem(1, 4, { dueAt: 1_000, retried: true, attempts: 3, kind: "k", sourceId: "s" }),
    scheduledItem(1, 7, { dueAt: instantMax, reference: "☃" }),
    scheduledItem(1, 8, { payload: "" }),
  ];

  rule(
    "scheduled: every field is returned, with the bounds and the order of items",
    async (bench) => {
      await bench.commit({ schedule: written.toReversed(), insert: [item(1, 5)] });
      await bench.nowAndReopened(async () => {
        expect(await bench.scheduled(1)).toEqual(written.map(readOf));
        expect(seqsOf(await bench.scheduled(1, { from: 4, before: 8 }))).toEqual([4, 7]);
        expect(seqsOf(await bench.scheduled(1, { from: 4, items: 2 }))).toEqual([4, 7]);
        expect(seqsOf(await bench.scheduled(1, { items: 9, payloadBytes: 10 }))).toEqual([3, 4]);
        expect(await bench.scheduled(2)).toEqual([]);
      });
    },
  );

  rule("scheduled, scheduledMarks: bounds hold over many items of many sizes", async (bench) => {
    const below = seeded(4);
    const schedule = numbers(0, 600).map((seq) =>
      scheduledItem(1, seq, {
        dueAt: below(99),
        retried: below(2) === 0,
        payload: new Uint8Array(below(40) === 0 ? below(20_000) : below(100)),
      }),
    );
    await bench.commit({ schedule });
    const pages = numbers(0, 60).map((trial) => ({
      ...{ name: `${trial}`, slot: 1, from: below(600), before: below(601) },
      limit: { items: 1 + below(600), payloadBytes: 1 + below(1 << below(19)) },
    }));
    const found = await bench.read({ scheduled: pages, scheduledMarks: pages });
    for (const { name, from, before, limit } of pages) {
      const of = schedule.slice(from, before);
      expectSome(found.scheduled.get(name), { of, limit, form: readOf });
      const some = found.scheduledMarks.get(name);
      const marks = some && { ...some, found: bare(some.found) };
      const ofAnyBytes = { ...all, items: limit.items };
      expectSome(marks, { of, limit: ofAnyBytes, form: scheduledMarkOf });
    }
  });
}

function wakingRules(rule: Rule): void {
  rule(
    "waking: earliest first, of all slots, the deadline counts when it comes first",
    async (bench) => {
      const schedule = [
        scheduledItem(3, 9, { dueAt: 8_000, expireDeadline: 2_000 }),
        scheduledItem(2, 1, { dueAt: 3_000, retried: true, attempts: 2 }),
        scheduledItem(3, 8, { dueAt: 4_000, expireDeadline: 4_001 }),
        scheduledItem(1, 1, { dueAt: 5_000 }),
        scheduledItem(4, 1, { dueAt: 5_001 }),
      ];
      await bench.commit({ schedule: schedule.toReversed() });
      const cases: [until: number, items: number, found: number, next: number | null][] = [
        [1_999, 9, 0, 2_000],
        [2_000, 9, 1, 3_000],
        [5_000, 9, 4, 5_001],
        [9_999, 2, 2, 4_000],
        [9_999, 5, 5, null],
        [9_999, 9, 5, null],
      ];
      await bench.nowAndReopened(async () => {
        for (const [until, items, count, next] of cases) {
          const waking = await bench.waking(until, items);
          expect(bare(waking.found)).toEqual(schedule.slice(0, count).map(scheduledMarkOf));
          expect(waking.next).toBe(next);
        }
      });
    },
  );

  rule("waking: instants before 1970 are found like any other", async (bench) => {
    const expireDeadline = -62_135_596_800_000;
    const schedule = [
      scheduledItem(1, 1, { dueAt: 5_000, expireDeadline }),
      scheduledItem(1, 2, { dueAt: 5_000, expireDeadline: -1 }),
      scheduledItem(1, 3, { dueAt: 5_000, expireDeadline: 0 }),
    ];
    await bench.commit({ schedule });
    await bench.nowAndReopened(async () => {
      expect(seqsOf((await bench.waking(0)).found)).toEqual([1, 2, 3]);
      expect(seqsOf((await bench.waking(-1, 1)).found)).toEqual([1]);
      expect(await bench.waking(expireDeadline - 1)).toEqual({ found: [], next: expireDeadline });
    });
  });

  rule("waking: ties are returned in order of seq, even over many items", async (bench) => {
    const below = seeded(3);
    const schedule = numbers(0, 500).map((seq) =>
      scheduledItem(5, seq, { dueAt: 1_000 + below(3), payload: "x".repeat(below(200)) }),
    );
    const expected = schedule.toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
    await bench.commit({ schedule: schedule.toReversed() });
    for (const items of [1, 63, 64, 65, 499, 500, 501]) {
      const { found, next } = await bench.waking(1_002, items);
      expect(seqsOf(found)).toEqual(seqsOf(expected.slice(0, items)));
      expect(next).toBe(expected[items]?.dueAt ?? null);
    }
  });

  rule(
    "waking: next follows scheduled and unscheduled items, and is null if there are none",
    async (bench) => {
      const next = async (): Promise<number | null> => (await bench.waking(0)).next;
      expect(await next()).toBeNull();
      await bench.commit({
        schedule: [scheduledItem(1, 1, { dueAt: 7_000 }), scheduledItem(2, 1, { dueAt: 6_000 })],
      });
      expect(await next()).toBe(6_000);
      await bench.commit({ unschedule: [{ slot: 2, seqs: [1] }] });
      expect(await next()).toBe(7_000);
      await bench.commit({ unschedule: [{ slot: 1, seqs: [1] }], insert: [item(1, 2)] });
      await bench.nowAndReopened(async () => {
        expect(await bench.waking(end)).toEqual({ found: [], next: null });
      });
    },
  );
}

function earlyRules(rule: Rule): void {
  const refs: readonly EarlyRef[] = [
    { expireDeadline: 100, slot: 9, seq: 5 },
    { expireDeadline: 200, slot: 1, seq: 8 },
    { expireDeadline: 200, slot: 1, seq: seqMax },
    { expireDeadline: 200, slot: 2, seq: 0 },
    { expireDeadline: 200, slot: slotMax, seq: seqMax },
    { expireDeadline: 201, slot: 0, seq: 1 },
  ];
  const insert = refs.map(({ slot, seq, expireDeadline }) =>
    item(slot, seq, { expireDeadline, early: true, attempts: 4 }),
  );
  const marks = insert.map(markOf);

  rule("early: only early items, by deadline, slot and seq, of all slots", async (bench) => {
    await bench.commit({
      insert: [...insert.toReversed(), item(1, 1, { expireDeadline: 50 })],
      schedule: [scheduledItem(1, 2, { expireDeadline: 60 })],
      lease: [lease(9, 5)],
    });
    const cases: [until: number, items: number, found: number, next: number | null][] = [
      [99, 9, 0, 100],
      [100, 9, 1, 200],
      [200, 9, 5, 201],
      [200, 2, 2, 200],
      [201, 5, 5, 201],
      [201, 6, 6, null],
      [end, all.items, 6, null],
    ];
    await bench.nowAndReopened(async () => {
      for (const [until, items, count, next] of cases) {
        const early = await bench.early({ until, items });
        expect(bare(early.found)).toEqual(marks.slice(0, count));
        expect(early.next).toBe(next);
      }
    });
    await bench.commit({ remove: [{ slot: 1, seqs: [8] }] });
    expect(seqsOf((await bench.early({ items: 2 })).found)).toEqual([5, seqMax]);
  });

  rule("early: begins strictly after the given place, even before 1970", async (bench) => {
    const old = [-5, -4].map((expireDeadline, seq) =>
      item(3, seq, { expireDeadline, early: true }),
    );
    await bench.commit({ insert: [...insert, ...old] });
    for (const [index, after] of refs.entries()) {
      expect(bare((await bench.early({ after })).found)).toEqual(marks.slice(index + 1));
    }
    const between = { expireDeadline: 200, slot: 1, seq: 9 };
    const { found, next } = await bench.early({ after: between, items: 1 });
    expect({ found: bare(found), next }).toEqual({ found: marks.slice(2, 3), next: 200 });
    const after = { ...first, expireDeadline: Number.MIN_SAFE_INTEGER };
    const oldest = await bench.early({ after, until: -5 });
    expect({ ...oldest, found: seqsOf(oldest.found) }).toEqual({ found: [0], next: -4 });
  });
}

function outboundRules(rule: Rule): void {
  for (const how of ["moved", "new"] as const) {
    rule(
      `outbound: every field of an item that was ${how} is returned, in order of number, until it is unsent`,
      async (bench) => {
        const sent = [
          outboundItem(1, { targetOwner: 0, payload: "" }),
          outboundItem(2, {
            ...item(slotMax, seqMax, { queuedAt: 1, early: true, attempts: 9, kind: "☃" }),
            ...{
              encoding: "e",
              reference: "r",
              sourceId: "s",
              targetOwner: Number.MAX_SAFE_INTEGER,
            },
          }),
          outboundItem(2 ** 45, { slot: 0, seq: 0, payload: new Uint8Array(100_000) }),
        ];
        const elsewhere = outboundItem(3, { targetShard: 63 });
        await bench.send([...sent.toReversed(), elsewhere], how);
        await bench.nowAndReopened(async () => {
          expect(await bench.outbound(2)).toEqual(sent.map(readOf));
          expect(await bench.outbound(63)).toEqual([readOf(elsewhere)]);
          expect(await bench.outbound(1)).toEqual([]);
        });
        await bench.commit({ unsend: [1, 2 ** 45] });
        await bench.nowAndReopened(async () => {
          expect(await bench.outbound(2)).toEqual(sent.slice(1, 2).map(readOf));
          expect(await bench.outbound(63)).toEqual([readOf(elsewhere)]);
        });
      },
    );
  }

  rule("outbound: pages per target after the given number, within both bounds", async (bench) => {
    const below = seeded(5);
    const sent = numbers(1, 400).map((seq) =>
      outboundItem(seq, {
        targetShard: below(3),
        payload: new Uint8Array(below(20) === 0 ? below(20_000) : below(50)),
      }),
    );
    await bench.send(sent);
    for (let trial = 0; trial < 40; trial += 1) {
      const outbound = [2, 0, 3, 1].map((targetShard) => ({
        ...{ targetShard, arrived: below(420) },
        limit: { items: 1 + below(200), payloadBytes: 1 + below(1 << below(19)) },
      }));
      const found = (await bench.read({ outbound })).outbound;
      for (const want of outbound)
        expect(found.get(want.targetShard)).toEqual(outboxPageOf(sent, want));
    }
  });

  rule("load: how many items wait for each queue of another shard", async (bench) => {
    const owners = [
      [1, 5],
      [1, 6],
      [63, Number.MAX_SAFE_INTEGER],
    ];
    const sent = numbers(0, 10).map((seq) => {
      const [targetShard = 0, targetOwner = 0] = owners[seq % 3] ?? [];
      return outboundItem(seq, { targetShard, targetOwner });
    });
    await bench.send(sent);
    const counts = async () => byKey((await bench.store.load()).outbox, "targetOwner");
    await bench.nowAndReopened(async () => {
      expect(await counts()).toEqual([
        { targetShard: 1, targetOwner: 5, count: 4 },
        { targetShard: 1, targetOwner: 6, count: 3 },
        { targetShard: 63, targetOwner: Number.MAX_SAFE_INTEGER, count: 3 },
      ]);
    });
    await bench.commit({ unsend: [0, 1, 4, 7], quarantineOutbound: [2] });
    await bench.nowAndReopened(async () => {
      expect(await counts()).toEqual([
        { targetShard: 1, targetOwner: 5, count: 3 },
        { targetShard: 63, targetOwner: Number.MAX_SAFE_INTEGER, count: 2 },
      ]);
    });
  });

  rule("outbound: not returned as an item of its slot", async (bench) => {
    await bench.send([outboundItem(7, { sourceId: "s", early: true })]);
    expect(await bench.items(1)).toEqual([]);
    expect(await bench.sources(1, ["s"])).toEqual([]);
    expect(await bench.early()).toEqual({ found: [], next: null });
  });
}
