// Rules for reading ready and leased items.

import { expect } from "bun:test";
import type { Item } from "../item.ts";
import { noReads, nothingRead } from "../store.ts";
import type { Rule } from "./bench.ts";
import {
  alike,
  all,
  bare,
  bytesOf,
  end,
  expectSome,
  headsOf,
  instantMax,
  item,
  markOf,
  numbers,
  outboundItem,
  readOf,
  scheduledItem,
  scheduledMarkOf,
  seeded,
  seqMax,
  seqsOf,
  slotMax,
} from "./values.ts";

export function itemRules(rule: Rule): void {
  rule("read: returns only what the plan contains", async (bench) => {
    expect(await bench.store.read(noReads)).toEqual(nothingRead);
    await bench.send([outboundItem(1)]);
    await bench.commit({
      insert: [item(1, 2, { early: true, sourceId: "a" })],
      schedule: [scheduledItem(1, 3)],
    });
    expect(await bench.store.read(noReads)).toEqual(nothingRead);
  });

  pageRules(rule);
  headsRules(rule);
  payloadRules(rule);
  markRules(rule);
  sourceRules(rule);
}

function pageRules(rule: Rule): void {
  rule("items: from is inclusive, before is exclusive", async (bench) => {
    await bench.commit({ insert: [4, 5, 6, 9].map((seq) => item(3, seq)) });
    const cases: [from: number, before: number, seqs: number[]][] = [
      [5, 9, [5, 6]],
      [5, 10, [5, 6, 9]],
      [7, 9, []],
      [0, end, [4, 5, 6, 9]],
      [5, 5, []],
      [9, 5, []],
    ];
    const limit = all;
    const items = cases.map(([from, before], index) => ({
      ...{ name: `page ${index}`, slot: 3, from, before, limit },
    }));
    const found = (await bench.read({ items })).items;
    expect(Array.from(found.values(), (some) => [seqsOf(some.found), some.isAll])).toEqual(
      cases.map(([, , seqs]) => [seqs, true]),
    );
    expect([...found.keys()]).toEqual(items.map(({ name }) => name));
  });

  rule("items: every field is returned as it was written", async (bench) => {
    const written = [
      item(1, 1),
      item(1, 2, {
        createdAt: 0,
        queuedAt: instantMax,
        expireDeadline: instantMax - 1,
        early: true,
        attempts: 65_536,
        kind: "kind ☃",
        encoding: "application/json; charset=utf-8",
        reference: "\u{1f600} 'quotes' \" and \\ and \u0000 between",
        sourceId: "Z9",
      }),
      item(1, 3, { reference: "x".repeat(100_000), queuedAt: 1_000 }),
    ];
    await bench.commit({ insert: written });
    await bench.nowAndReopened(async () => {
      expect(await bench.items(1)).toEqual(written.map(readOf));
    });
  });

  rule("items: returned in order of seq, whatever the order of writing", async (bench) => {
    await bench.commit({ insert: [5, 1, 9, 3].map((seq) => item(0, seq)) });
    await bench.commit({ insert: [2, 8, 0].map((seq) => item(0, seq)) });
    await bench.nowAndReopened(async () => {
      expect(seqsOf(await bench.items(0))).toEqual([0, 1, 2, 3, 5, 8, 9]);
    });
  });

  rule("items: slots are independent", async (bench) => {
    const insert = [0, 1, 2, slotMax].flatMap((slot) => [item(slot, 0), item(slot, seqMax)]);
    await bench.commit({ insert });
    for (const slot of [0, 1, 2, slotMax]) {
      const expected = insert.filter((written) => written.slot === slot).map(readOf);
      expect(await bench.items(slot)).toEqual(expected);
    }
    expect(await bench.items(3)).toEqual([]);
  });

  rule("items: scheduled and removed items are not returned", async (bench) => {
    await bench.commit({ insert: [item(0, 1), item(0, 2)], schedule: [scheduledItem(0, 3)] });
    await bench.commit({ remove: [{ slot: 0, seqs: [1] }] });
    await bench.nowAndReopened(async () => {
      expect(seqsOf(await bench.items(0))).toEqual([2]);
    });
  });

  rule("items: a page ends with the item that reaches the number of items", async (bench) => {
    const of = alike(0, 0, 300);
    await bench.commit({ insert: of });
    const items = [1, 2, 63, 64, 65, 128, 299, 300, 301].map((count) => ({
      ...{ name: `${count}`, slot: 0, from: 0, before: end },
      limit: { ...all, items: count },
    }));
    const found = (await bench.read({ items })).items;
    for (const { name, limit } of items) expectSome(found.get(name), { of, limit, form: readOf });
  });

  rule("items: a page ends with the item that reaches the payload bytes", async (bench) => {
    const payloads = ["", "123", "", "é€", "1", ""];
    await bench.commit({ insert: payloads.map((payload, seq) => item(0, seq, { payload })) });
    const counts: number[] = [];
    for (const payloadBytes of [1, 3, 4, 8, 9, 10]) {
      counts.push((await bench.items(0, { items: 9, payloadBytes })).length);
    }
    expect(counts).toEqual([2, 2, 4, 4, 5, 6]);
  });

  rule("items: both bounds hold over many items of many sizes", async (bench) => {
    const below = seeded(1);
    const sizes = numbers(0, 1_000).map(() => (below(50) === 0 ? below(20_000) : below(100)));
    const insert = sizes.map((size, seq) => item(0, seq, { payload: new Uint8Array(size) }));
    await bench.commit({ insert });
    const items = numbers(0, 100).map((trial) => ({
      ...{ name: `${trial}`, slot: 0, from: below(1_000), before: below(1_001) },
      limit: { items: 1 + below(1_000), payloadBytes: 1 + below(1 << below(19)) },
    }));
    const found = (await bench.read({ items })).items;
    for (const { name, from, before, limit } of items) {
      expectSome(found.get(name), { of: insert.slice(from, before), limit, form: readOf });
    }
  });
}

function headsRules(rule: Rule): void {
  const whole = { from: 0, before: end, items: 10 };

  rule("heads: the first items of each slot, up to the given number", async (bench) => {
    for (const seq of [4, 5, 9]) {
      await bench.commit({ insert: [0, 1, slotMax].map((slot) => item(slot, seq)) });
    }
    const heads = [
      { slot: slotMax, ...whole, items: 2 },
      { slot: 0, ...whole, from: 5, before: 9 },
      { slot: 1, ...whole, from: 6, before: 10 },
      { slot: 2, ...whole },
      { slot: 3, ...whole, from: 10 },
    ];
    await bench.nowAndReopened(async () => {
      const found = await bench.read({ heads, headBytes: 1_000 });
      const items = Array.from(found.heads, ([slot, some]) => [slot, some.found]);
      expect(items).toEqual([
        [slotMax, [readOf(item(slotMax, 4)), readOf(item(slotMax, 5))]],
        [0, [readOf(item(0, 5))]],
        [1, [readOf(item(1, 9))]],
        [2, []],
        [3, []],
      ]);
      expect(Array.from(found.heads.values(), ({ isAll }) => isAll).slice(1)).toEqual([
        true,
        true,
        true,
        true,
      ]);
    });
  });

  rule("heads: share their bytes in the order of the plan", async (bench) => {
    const payload = "0123456789";
    const insert = numbers(0, 4).flatMap((slot) => [
      ...alike(slot, 0, 5, { payload }),
      item(slot, 7, { payload }),
    ]);
    await bench.commit({ insert });
    const heads = [2, 9, 0, 3, 1].map((slot) => ({ slot, ...whole }));
    const read = async (headBytes: number, some = heads): Promise<[number, number[]][]> => {
      const found = (await bench.read({ heads: some, headBytes })).heads;
      return Array.from(found, ([slot, { found }]) => [slot, seqsOf(found)]);
    };
    const six = [0, 1, 2, 3, 4, 7];
    expect(await read(1)).toEqual([[2, [0]]]);
    expect(await read(59)).toEqual([[2, six]]);
    expect(await read(60)).toEqual([[2, six]]);
    expect(await read(61)).toEqual([
      [2, six],
      [9, []],
      [0, [0]],
    ]);
    expect(await read(91, heads.slice(2))).toEqual([
      [0, six],
      [3, [0, 1, 2, 3]],
    ]);
  });

  rule(
    "heads: equal to pages of items, whatever has left and wherever they begin",
    async (bench) => {
      const below = seeded(2);
      const slots = numbers(0, 40);
      let items: Item[] = [];
      for (const slot of slots) {
        for (let seq = below(5); seq < 300; ) {
          const count = 1 + below(90);
          const sizes = numbers(0, count).map(() => (below(9) === 0 ? below(40_000) : below(100)));
          const insert = alike(slot, seq, seq + count).map((one, index) => ({
            ...one,
            payload: new Uint8Array(sizes[index] ?? 0),
          }));
          await bench.commit({ insert });
          items.push(...insert);
          seq += count + below(3);
        }
        const seqs = numbers(0, 400).filter(() => below(3) > 0);
        await bench.commit({ remove: [{ slot, seqs }] });
        items = items.filter((one) => one.slot !== slot || !seqs.includes(one.seq));
      }
      for (let trial = 0; trial < 30; trial += 1) {
        const some = slots.filter(() => below(3) > 0).toSorted(() => below(2) - 0.5);
        const plan = {
          heads: some.map((slot) => ({
            ...{ slot, from: below(420), before: below(420) },
            items: 1 + below(200),
          })),
          headBytes: 1 + below(1 << below(26)),
        };
        const { heads } = await bench.read(plan);
        const expected = headsOf(items, plan);
        expect([...heads.keys()]).toEqual(expected.map(({ slot }) => slot));
        for (const { slot, of, limit } of expected) {
          expectSome(heads.get(slot), { of, limit, form: readOf });
        }
      }
    },
  );
}

function payloadRules(rule: Rule): void {
  rule("payload: any bytes are returned unchanged, strings as UTF-8", async (bench) => {
    const below = seeded(2);
    const payloads = [
      new Uint8Array(),
      "",
      Uint8Array.of(0),
      Uint8Array.of(0, 0, 1, 0),
      "\u0000NUL\u0000",
      Uint8Array.from(numbers(0, 256)),
      Uint8Array.from(numbers(0, 1024 * 1024), () => below(256)),
      "naïve ☃ \u{1f600} e\u0301 \u2028 \ufeff",
      '{"json": [1, 2.5, null]}',
      "123",
    ];
    const written = payloads.map((payload, seq) => item(0, seq, { payload }));
    const later = written.map((item) => ({ ...item, slot: 1, dueAt: 5_000, retried: true }));
    await bench.commit({ insert: written, schedule: later });
    await bench.nowAndReopened(async () => {
      const items = await bench.items(0);
      for (const [index, { payload }] of items.entries()) {
        expect(payload).toBeInstanceOf(Uint8Array);
        expect(payload).toEqual(bytesOf(payloads[index] ?? "missing"));
      }
      expect(items).toEqual(written.map(readOf));
      expect(await bench.scheduled(1)).toEqual(later.map(readOf));
    });
  });

  rule("payload: a view or a Buffer is stored as its own bytes only", async (bench) => {
    const bytes = Uint8Array.from(numbers(0, 100));
    const insert = [
      item(0, 1, { payload: bytes.subarray(10, 20) }),
      item(0, 2, { payload: Buffer.from(bytes.buffer, 30, 5) }),
    ];
    await bench.commit({ insert });
    const payloads = (await bench.items(0)).map(({ payload }) => Array.from(bytesOf(payload)));
    expect(payloads).toEqual([numbers(10, 20), numbers(30, 35)]);
  });

  rule("payload: later changes by its writer or reader have no effect", async (bench) => {
    const given = [Uint8Array.of(1, 2, 3), Buffer.from([1, 2, 3])];
    await bench.commit({ insert: given.map((payload, seq) => item(0, seq, { payload })) });
    for (const bytes of given) bytes.fill(9);
    for (let read = 0; read < 2; read += 1) {
      for (const { payload } of await bench.items(0)) {
        expect(payload).toEqual(Uint8Array.of(1, 2, 3));
        if (typeof payload !== "string") payload.fill(9);
      }
    }
  });
}

function markRules(rule: Rule): void {
  rule(
    "marks: have the bounds and the order of items, and payloads do not count",
    async (bench) => {
      const insert = [
        item(7, 4, { attempts: 3, expireDeadline: -1, early: true }),
        item(7, 5, { createdAt: 0 }),
        ...alike(7, 6, 9),
        item(7, 12),
      ];
      await bench.commit({
        insert: [...insert, item(6, 5), item(8, 5)],
        schedule: [scheduledItem(7, 11)],
        lease: [{ slot: 7, first: 4, last: 8, leaseDeadline: 9, leasedAt: 1 }],
      });
      const cases = [
        { from: 0, before: end, items: 99 },
        { from: 5, before: 8, items: 99 },
        { from: 7, before: end, items: 2 },
        { from: 12, before: 12, items: 9 },
      ];
      const marks = cases.map(({ items, ...span }, index) => ({
        ...{ name: `${index}`, slot: 7, ...span },
        limit: { items, payloadBytes: 1 },
      }));
      await bench.nowAndReopened(async () => {
        const found = (await bench.read({ marks })).marks;
        for (const { name, from, before, limit } of marks) {
          const some = found.get(name);
          expectSome(some && { ...some, found: bare(some.found) }, {
            of: insert.filter(({ seq }) => seq >= from && seq < before),
            limit: { ...all, items: limit.items },
            form: markOf,
          });
        }
      });
    },
  );

  rule("marks: payload bytes approximate the size of the payloads", async (bench) => {
    const together = alike(1, 0, 50).map((one) => ({ ...one, payload: "é".repeat(one.seq) }));
    const alone = item(1, 99, { payload: new Uint8Array(1_000_000) });
    await bench.commit({ insert: [...together, alone] });
    const limit = all;
    const page = { name: "page", slot: 1, from: 0, before: end, limit };
    const found = (await bench.read({ marks: [page] })).marks.get("page")?.found ?? [];
    const sizes = found.map(({ payloadBytes }) => payloadBytes);
    expect(sizes.at(-1)).toBe(1_000_000);
    expect(sizes.slice(0, -1).reduce((sum, size) => sum + size)).toBeCloseTo(2 * 1_225);
  });

  rule("picks: items stored under these numbers, ready or scheduled", async (bench) => {
    const ready = [item(1, 1, { attempts: 2 }), item(1, seqMax), ...alike(1, 10, 20)];
    const later = scheduledItem(1, 5, { dueAt: 77, retried: true, createdAt: -1 });
    await bench.commit({ insert: [...ready, item(1, 3), item(2, 4)], schedule: [later] });
    await bench.commit({ remove: [{ slot: 1, seqs: [3, 14] }] });
    const picks = [
      { slot: 1, seqs: [0, 1, 2, 3, 4, 5, 13, 14, 15, seqMax] },
      { slot: 2, seqs: [] },
      { slot: 9, seqs: [1] },
    ];
    await bench.nowAndReopened(async () => {
      const found = (await bench.read({ picks })).picks;
      expect([...found.keys()]).toEqual([1, 2, 9]);
      const [one, two, nine] = [...found.values()];
      expect([...(one?.ready.keys() ?? [])]).toEqual([1, 13, 15, seqMax]);
      const expected = ready.filter(({ seq }) => [1, 13, 15, seqMax].includes(seq));
      const bySeq = expected.toSorted((a, b) => a.seq - b.seq).map(markOf);
      expect(bare(one?.ready.values() ?? [])).toEqual(bySeq);
      expect([...(one?.scheduled.keys() ?? [])]).toEqual([5]);
      expect(bare(one?.scheduled.values() ?? [])).toEqual([scheduledMarkOf(later)]);
      for (const none of [two, nine]) {
        expect(none).toEqual({ ready: new Map(), scheduled: new Map() });
      }
    });
  });
}

function sourceRules(rule: Rule): void {
  rule("sources: the source ids of the slot, scheduled ones included", async (bench) => {
    await bench.commit({
      insert: [
        item(1, 1, { sourceId: "ready" }),
        item(1, 2, { sourceId: "twice" }),
        item(1, 3, { sourceId: "twice" }),
        item(1, 4, { sourceId: "gone" }),
        item(1, 5),
        item(2, 1, { sourceId: "elsewhere" }),
      ],
      schedule: [
        scheduledItem(1, 6, { sourceId: "scheduled" }),
        scheduledItem(1, 7, { sourceId: "unscheduled" }),
        scheduledItem(1, 8, { sourceId: "ünï" }),
        scheduledItem(1, 9, { sourceId: "\ufeffmarked" }),
      ],
    });
    await bench.commit({
      remove: [{ slot: 1, seqs: [2, 4] }],
      unschedule: [{ slot: 1, seqs: [7] }],
    });
    const asked = ["ready", "twice", "gone", "elsewhere", "scheduled", "unscheduled", "ünï"];
    asked.push("\ufeffmarked", "Ready", "");
    await bench.nowAndReopened(async () => {
      expect(await bench.sources(1, asked)).toEqual([
        ...["ready", "scheduled", "twice", "ünï", "\ufeffmarked"],
      ]);
      const sources = [2, 3].map((slot) => ({ slot, sourceIds: asked }));
      expect((await bench.read({ sources })).sources).toEqual(
        new Map([
          [2, new Set(["elsewhere"])],
          [3, new Set()],
        ]),
      );
      expect(await bench.sources(1, [])).toEqual([]);
    });
  });
}
