// What every backend has to do, as a suite that each runs. Rules come in the
// order of the `Store` interface; the last one plays random turns against a
// model that is too plain to be wrong.

import { describe, expect, test } from "bun:test";
import {
  all,
  bounded,
  byKey,
  bytesOf,
  contents,
  end,
  entry,
  first,
  item,
  keptOf,
  lease,
  Model,
  nothing,
  numbers,
  page,
  readOf,
  rising,
  scheduledItem,
  seeded,
  seqMax,
  seqsOf,
  slotMax,
  tally,
} from "./conformance-model.ts";
import { type OutboundItem, wakeAt } from "./item.ts";
import type { CatalogEntry, PartitionPlace } from "./queue.ts";
import { type Changes, type EarlyRef, type Store, StoreError, type TurnRecord } from "./store.ts";

/** A fresh store, and the means to open again what it has kept. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store that was opened last and opens the same data again. */
  reopen(): Promise<Store>;
  /** Closes whatever is open and removes the data. */
  dispose(): Promise<void>;
}

/** The store under test, which numbers the turns. */
class Bench {
  readonly #opened: OpenedStore;
  store: Store;
  #turn = 0;

  constructor(opened: OpenedStore) {
    this.#opened = opened;
    this.store = opened.store;
  }

  async commit(changes: Partial<Omit<Changes, "turn">>): Promise<TurnRecord> {
    const number = this.#turn + 1;
    const turn = { turn: number, at: 1_000 + number, opLast: 10 * number, refused: "" };
    await this.store.commit({ ...nothing, ...changes, turn });
    this.#turn = number;
    return turn;
  }

  async reopen(): Promise<void> {
    this.store = await this.#opened.reopen();
  }

  /** What was committed shows at once, and after a restart. */
  async nowAndReopened(check: (store: Store) => Promise<void>): Promise<void> {
    await check(this.store);
    await this.reopen();
    await check(this.store);
  }
}

/** Runs the suite; `open` makes a store of its own for each rule. */
export function describeStore(name: string, open: () => Promise<OpenedStore>): void {
  const rule = (sentence: string, check: (bench: Bench) => Promise<void>): void => {
    test(sentence, async () => {
      const opened = await open();
      try {
        await check(new Bench(opened));
      } finally {
        await opened.dispose();
      }
    });
  };

  describe(name, () => {
    loadRules(rule);
    itemsRules(rule);
    headsRules(rule);
    payloadRules(rule);
    lookupRules(rule);
    scheduledRules(rule);
    earlyRules(rule);
    commitRules(rule);
    recordRules(rule);
    lifeRules(rule);
    modelRules(rule);
  });
}

type Rule = (sentence: string, check: (bench: Bench) => Promise<void>) => void;

function loadRules(rule: Rule): void {
  rule("load: a new store is empty and keeps the tag it was made with", async (bench) => {
    const { tag } = await bench.store.load();
    expect(tag).toMatch(/^[0-9A-Za-z]{12}$/);
    await bench.nowAndReopened(async (store) => {
      expect(await store.load()).toEqual({
        tag,
        turns: [],
        tallies: [],
        leases: [],
        outbound: [],
        inbound: [],
        catalog: [],
        quarantinedCount: 0,
      });
    });
  });

  rule("load: at least the latest 64 turns, oldest first", async (bench) => {
    const turns: TurnRecord[] = [];
    for (let turn = 1; turn <= 150; turn += 1) {
      turns.push(await bench.commit({}));
      if (turn === 1 || turn === 64 || turn === 65) {
        expect((await bench.store.load()).turns.slice(-64)).toEqual(turns.slice(-64));
      }
    }
    await bench.nowAndReopened(async (store) => {
      const kept = (await store.load()).turns;
      expect(kept.slice(-64)).toEqual(turns.slice(-64));
      expect(kept).toEqual(turns.slice(-kept.length));
    });
  });

  rule("load: a turn's numbers and texts come back as they were", async (bench) => {
    const refused = JSON.stringify({ "7": 'Ünïcode, "quotes" and \u0000' });
    const turn = {
      turn: 2 ** 45,
      at: 253_402_300_799_999,
      opLast: Number.MAX_SAFE_INTEGER,
      refused,
    };
    await bench.store.commit({ ...nothing, turn });
    await bench.nowAndReopened(async (store) => {
      expect((await store.load()).turns).toEqual([turn]);
    });
  });
}

function itemsRules(rule: Rule): void {
  rule("items: from is inclusive, before is exclusive", async (bench) => {
    await bench.commit({ insert: [item(3, 4), item(3, 5), item(3, 6), item(3, 9)] });
    const { store } = bench;
    expect(seqsOf(await store.items(3, 5, 9, all))).toEqual([5, 6]);
    expect(seqsOf(await store.items(3, 5, 10, all))).toEqual([5, 6, 9]);
    expect(seqsOf(await store.items(3, 7, 9, all))).toEqual([]);
    expect(seqsOf(await store.items(3, 0, end, all))).toEqual([4, 5, 6, 9]);
    expect(seqsOf(await store.items(3, 5, 5, all))).toEqual([]);
    expect(seqsOf(await store.items(3, 9, 5, all))).toEqual([]);
  });

  rule("items: every field comes back as it was written", async (bench) => {
    const written = [
      item(1, 1),
      item(1, 2, {
        createdAt: 0,
        queuedAt: 253_402_300_799_999,
        expireDeadline: 253_402_300_799_998,
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
    await bench.nowAndReopened(async (store) => {
      expect(await store.items(1, 0, end, all)).toEqual(written.map(readOf));
    });
  });

  rule("items: come in order of seq, whatever the order they were written in", async (bench) => {
    await bench.commit({ insert: [5, 1, 9, 3].map((seq) => item(0, seq)) });
    await bench.commit({ insert: [2, 8, 0].map((seq) => item(0, seq)) });
    await bench.nowAndReopened(async (store) => {
      expect(seqsOf(await store.items(0, 0, end, all))).toEqual([0, 1, 2, 3, 5, 8, 9]);
    });
  });

  rule("items: one slot knows nothing of another", async (bench) => {
    const insert = [0, 1, 2, slotMax].flatMap((slot) => [item(slot, 0), item(slot, seqMax)]);
    await bench.commit({ insert });
    for (const slot of [0, 1, 2, slotMax]) {
      const expected = insert.filter((written) => written.slot === slot).map(readOf);
      expect(await bench.store.items(slot, 0, end, all)).toEqual(expected);
    }
    expect(await bench.store.items(3, 0, end, all)).toEqual([]);
  });

  rule("items: scheduled ones and removed ones are not among them", async (bench) => {
    await bench.commit({ insert: [item(0, 1), item(0, 2)], schedule: [scheduledItem(0, 3)] });
    await bench.commit({ remove: [{ slot: 0, seqs: [1] }] });
    await bench.nowAndReopened(async (store) => {
      expect(seqsOf(await store.items(0, 0, end, all))).toEqual([2]);
    });
  });

  rule(
    "countItems: what a slot has below its next number, without items that left",
    async (bench) => {
      await bench.commit({
        insert: [...numbers(0, 300).map((seq) => item(0, seq)), item(1, 4), item(1, 5)],
        schedule: [scheduledItem(1, 3)],
        tally: [tally(0, { nextSeq: 300, itemCount: 7 }), tally(1, { nextSeq: 5 }), tally(2)],
      });
      await bench.commit({ remove: [{ slot: 0, seqs: [0, 7, 8, 130, 299] }] });
      await bench.nowAndReopened(async (store) => {
        expect(await store.countItems()).toEqual(
          new Map([
            [0, { items: 295, scheduled: 0 }],
            [1, { items: 1, scheduled: 1 }],
            [2, { items: 0, scheduled: 0 }],
          ]),
        );
      });
    },
  );

  rule("items: a read ends with the item that reaches the number of items", async (bench) => {
    await bench.commit({ insert: numbers(0, 300).map((seq) => item(0, seq)) });
    for (const items of [1, 2, 63, 64, 65, 128, 299, 300, 301]) {
      const found = await bench.store.items(0, 0, end, { ...all, items });
      expect(seqsOf(found)).toEqual(numbers(0, Math.min(items, 300)));
    }
  });

  rule("items: a read ends with the item that reaches the payload bytes", async (bench) => {
    const payloads = ["", "123", "", "é€", "1", ""];
    await bench.commit({ insert: payloads.map((payload, seq) => item(0, seq, { payload })) });
    const counts: number[] = [];
    for (const payloadBytes of [1, 3, 4, 8, 9, 10]) {
      counts.push((await bench.store.items(0, 0, end, { items: 9, payloadBytes })).length);
    }
    expect(counts).toEqual([2, 2, 4, 4, 5, 6]);
  });

  rule("items: both bounds hold over many items of many sizes", async (bench) => {
    const below = seeded(1);
    const sizes = numbers(0, 1_000).map(() => (below(50) === 0 ? below(20_000) : below(100)));
    const insert = sizes.map((size, seq) => item(0, seq, { payload: new Uint8Array(size) }));
    await bench.commit({ insert });
    for (let trial = 0; trial < 100; trial += 1) {
      const [from, before] = [below(1_000), below(1_001)];
      const limit = { items: 1 + below(1_000), payloadBytes: 1 + below(1 << below(19)) };
      const expected = page(insert, from, before, limit);
      expect(seqsOf(await bench.store.items(0, from, before, limit))).toEqual(seqsOf(expected));
    }
  });
}

function headsRules(rule: Rule): void {
  rule("heads: items that have rows of their own, each slot's first", async (bench) => {
    for (const seq of [4, 5, 9]) {
      await bench.commit({ insert: [0, 1, slotMax].map((slot) => item(slot, seq)) });
    }
    const spans = [
      { slot: slotMax, from: 0, before: end },
      { slot: 0, from: 5, before: 9 },
      { slot: 1, from: 6, before: 10 },
      { slot: 2, from: 0, before: end },
    ];
    await bench.nowAndReopened(async (store) => {
      expect(await store.heads(spans)).toEqual(
        new Map([
          [slotMax, [readOf(item(slotMax, 4))]],
          [0, [readOf(item(0, 5))]],
          [1, [readOf(item(1, 9))]],
        ]),
      );
      const none = [
        { slot: 0, from: 6, before: 9 },
        { slot: 1, from: 10, before: end },
      ];
      expect(await store.heads(none)).toEqual(new Map());
      expect(await store.heads([])).toEqual(new Map());
    });
  });

  rule(
    "heads: a slot's first items as items has them, whatever left and where it begins",
    async (bench) => {
      const below = seeded(2);
      const slots = numbers(0, 20);
      const sizeOf = () => (below(9) === 0 ? below(40_000) : below(100));
      for (const slot of slots) {
        for (let seq = below(5); seq < 300; ) {
          const count = 1 + below(90);
          const payload = () => new Uint8Array(sizeOf());
          const insert = numbers(seq, seq + count).map((one) =>
            item(slot, one, { payload: payload() }),
          );
          await bench.commit({ insert });
          seq += count + below(3);
        }
        const seqs = numbers(0, 400).filter(() => below(3) > 0);
        await bench.commit({ remove: [{ slot, seqs }] });
      }
      for (let trial = 0; trial < 50; trial += 1) {
        const spans = slots.map((slot) => ({ slot, from: below(420), before: below(420) }));
        const heads = await bench.store.heads(spans);
        for (const { slot, from, before } of spans) {
          const expected = await bench.store.items(slot, from, before, all);
          const found = heads.get(slot) ?? [];
          expect(seqsOf(found)).toEqual(seqsOf(expected.slice(0, found.length)));
          if (heads.has(slot)) expect(found.length).toBeGreaterThan(0);
        }
      }
    },
  );
}

function payloadRules(rule: Rule): void {
  rule("payload: bytes of every kind come back unchanged, strings as UTF-8", async (bench) => {
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
    const sent = written.map((item, outboundSeq) => ({
      ...item,
      outboundSeq,
      targetShard: 1,
      targetSlot: 2,
    }));
    await bench.commit({ insert: written, schedule: later, send: sent });
    await bench.nowAndReopened(async (store) => {
      const items = await store.items(0, 0, end, all);
      for (const [index, { payload }] of items.entries()) {
        expect(payload).toBeInstanceOf(Uint8Array);
        expect(payload).toEqual(bytesOf(payloads[index] ?? "missing"));
      }
      expect(items).toEqual(written.map(readOf));
      expect(await store.scheduled(1, 0, end, all)).toEqual(later.map(readOf));
      expect((await store.load()).outbound).toEqual(sent.map(keptOf));
    });
  });

  rule("payload: a view, or a Buffer, is stored as the bytes that it shows", async (bench) => {
    const bytes = Uint8Array.from(numbers(0, 100));
    const insert = [
      item(0, 1, { payload: bytes.subarray(10, 20) }),
      item(0, 2, { payload: Buffer.from(bytes.buffer, 30, 5) }),
    ];
    await bench.commit({ insert });
    const items = await bench.store.items(0, 0, end, all);
    expect(items.map(({ payload }) => Array.from(bytesOf(payload)))).toEqual([
      numbers(10, 20),
      numbers(30, 35),
    ]);
  });

  rule("payload: what its writer or reader does to the bytes does not show", async (bench) => {
    const given = [Uint8Array.of(1, 2, 3), Buffer.from([1, 2, 3])];
    await bench.commit({ insert: given.map((payload, seq) => item(0, seq, { payload })) });
    for (const bytes of given) bytes.fill(9);
    for (let read = 0; read < 2; read += 1) {
      for (const { payload } of await bench.store.items(0, 0, end, all)) {
        expect(payload).toEqual(Uint8Array.of(1, 2, 3));
        if (typeof payload !== "string") payload.fill(9);
      }
    }
  });
}

function lookupRules(rule: Rule): void {
  rule("seqs: bounds and order are those of items", async (bench) => {
    const insert = [4, 5, 6, 9].map((seq) => item(7, seq));
    await bench.commit({
      insert: [...insert, item(6, 5), item(8, 5)],
      schedule: [scheduledItem(7, 8)],
    });
    await bench.nowAndReopened(async (store) => {
      const seqs = insert.map(({ seq, createdAt }) => ({ seq, createdAt }));
      expect(await store.seqs(7, 0, end, 9)).toEqual(seqs);
      expect(await store.seqs(7, 5, 9, 9)).toEqual(seqs.slice(1, 3));
      expect(await store.seqs(7, 5, end, 2)).toEqual(seqs.slice(1, 3));
      expect(await store.seqs(7, 9, 9, 9)).toEqual([]);
    });
  });

  rule("present: names what is stored in the slot, scheduled ones aside", async (bench) => {
    await bench.commit({
      insert: [item(1, 1), item(1, 3), item(2, 4), item(1, seqMax)],
      schedule: [scheduledItem(1, 5)],
    });
    await bench.commit({ remove: [{ slot: 1, seqs: [3] }] });
    await bench.nowAndReopened(async (store) => {
      expect(rising(await store.present(1, [5, seqMax, 4, 3, 2, 1, 0]))).toEqual([1, seqMax]);
      expect(await store.present(1, [])).toEqual([]);
      expect(await store.present(9, [1])).toEqual([]);
    });
  });

  rule(
    "presentSources: names the source ids of the slot, scheduled ones included",
    async (bench) => {
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
        ],
      });
      await bench.commit({
        remove: [{ slot: 1, seqs: [2, 4] }],
        unschedule: [{ slot: 1, seqs: [7] }],
      });
      const asked = [
        "ready",
        "twice",
        "gone",
        "elsewhere",
        "scheduled",
        "unscheduled",
        "ünï",
        "Ready",
        "",
      ];
      await bench.nowAndReopened(async (store) => {
        const found = await store.presentSources(1, asked);
        expect(found.toSorted()).toEqual(["ready", "scheduled", "twice", "ünï"]);
        expect(await store.presentSources(2, asked)).toEqual(["elsewhere"]);
        expect(await store.presentSources(3, asked)).toEqual([]);
        expect(await store.presentSources(1, [])).toEqual([]);
      });
    },
  );
}

function scheduledRules(rule: Rule): void {
  rule("scheduled: every field comes back, bounds and order are those of items", async (bench) => {
    const written = [
      scheduledItem(1, 3, { dueAt: 9_000 }),
      scheduledItem(1, 4, { dueAt: 1_000, retried: true, attempts: 3, kind: "k", sourceId: "s" }),
      scheduledItem(1, 7, { dueAt: 253_402_300_799_999, reference: "☃" }),
      scheduledItem(1, 8, { payload: "" }),
    ];
    await bench.commit({ schedule: written.toReversed(), insert: [item(1, 5)] });
    await bench.nowAndReopened(async (store) => {
      expect(await store.scheduled(1, 0, end, all)).toEqual(written.map(readOf));
      expect(seqsOf(await store.scheduled(1, 4, 8, all))).toEqual([4, 7]);
      expect(seqsOf(await store.scheduled(1, 4, end, { ...all, items: 2 }))).toEqual([4, 7]);
      expect(seqsOf(await store.scheduled(1, 0, end, { items: 9, payloadBytes: 10 }))).toEqual([
        3, 4,
      ]);
      expect(await store.scheduled(2, 0, end, all)).toEqual([]);
    });
  });

  rule(
    "waking: earliest first, of all slots, the deadline counts when it comes first",
    async (bench) => {
      await bench.commit({
        schedule: [
          scheduledItem(1, 1, { dueAt: 5_000 }),
          scheduledItem(2, 1, { dueAt: 3_000 }),
          scheduledItem(3, 9, { dueAt: 8_000, expireDeadline: 2_000 }),
          scheduledItem(3, 8, { dueAt: 4_000, expireDeadline: 4_001 }),
          scheduledItem(4, 1, { dueAt: 5_001 }),
        ],
      });
      const waking = async (now: number, limit = all): Promise<number[]> =>
        (await bench.store.waking(now, limit)).map(wakeAt);
      await bench.nowAndReopened(async (store) => {
        expect(await waking(1_999)).toEqual([]);
        expect(await waking(2_000)).toEqual([2_000]);
        expect(await waking(5_000)).toEqual([2_000, 3_000, 4_000, 5_000]);
        expect(await waking(9_999, { ...all, items: 2 })).toEqual([2_000, 3_000]);
        expect(await waking(9_999, { items: 9, payloadBytes: 10 })).toEqual([2_000, 3_000]);
        expect(await store.nextWake()).toBe(2_000);
      });
    },
  );

  rule("waking: what was to happen before 1970 is found like anything else", async (bench) => {
    const expireDeadline = -62_135_596_800_000;
    const schedule = [
      scheduledItem(1, 1, { dueAt: 5_000, expireDeadline }),
      scheduledItem(1, 2, { dueAt: 5_000, expireDeadline: -1 }),
      scheduledItem(1, 3, { dueAt: 5_000, expireDeadline: 0 }),
    ];
    await bench.commit({ schedule });
    await bench.nowAndReopened(async (store) => {
      expect(seqsOf(await store.waking(0, all))).toEqual([1, 2, 3]);
      expect(seqsOf(await store.waking(-1, { items: 1, payloadBytes: 1 }))).toEqual([1]);
      expect(await store.nextWake()).toBe(expireDeadline);
    });
  });

  rule("waking: ties come in order of seq, also over many items", async (bench) => {
    const seqs = numbers(0, 500);
    const below = seeded(3);
    const schedule = seqs.map((seq) =>
      scheduledItem(5, seq, { dueAt: 1_000 + below(3), payload: "x".repeat(below(200)) }),
    );
    const expected = schedule.toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
    await bench.commit({ schedule: schedule.toReversed() });
    expect(await bench.store.waking(1_002, all)).toEqual(expected.map(readOf));
    for (let trial = 0; trial < 50; trial += 1) {
      const limit = { items: 1 + below(500), payloadBytes: 1 + below(60_000) };
      const found = await bench.store.waking(1_002, limit);
      expect(seqsOf(found)).toEqual(seqsOf(bounded(expected, limit)));
    }
  });

  rule(
    "nextWake: follows what is scheduled and unscheduled, null when nothing is",
    async (bench) => {
      expect(await bench.store.nextWake()).toBeNull();
      await bench.commit({
        schedule: [scheduledItem(1, 1, { dueAt: 7_000 }), scheduledItem(2, 1, { dueAt: 6_000 })],
      });
      expect(await bench.store.nextWake()).toBe(6_000);
      await bench.commit({ unschedule: [{ slot: 2, seqs: [1] }] });
      expect(await bench.store.nextWake()).toBe(7_000);
      await bench.commit({ unschedule: [{ slot: 1, seqs: [1] }], insert: [item(1, 2)] });
      await bench.nowAndReopened(async (store) => {
        expect(await store.nextWake()).toBeNull();
        expect(await store.waking(9_999, all)).toEqual([]);
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
    item(slot, seq, { expireDeadline, early: true }),
  );

  rule("early: by deadline, slot and seq, of all slots, early items alone", async (bench) => {
    await bench.commit({
      insert: [...insert.toReversed(), item(1, 1, { expireDeadline: 50 })],
      schedule: [scheduledItem(1, 2, { expireDeadline: 60 })],
      lease: [lease(9, 5)],
    });
    await bench.nowAndReopened(async (store) => {
      expect(await store.early(first, 99)).toEqual([...refs]);
      expect(await store.early(first, 2)).toEqual(refs.slice(0, 2));
    });
    await bench.commit({ remove: [{ slot: 1, seqs: [8] }] });
    expect(await bench.store.early(first, 2)).toEqual([refs[0], refs[2]] as EarlyRef[]);
  });

  rule("early: begins strictly after the place it is given", async (bench) => {
    await bench.commit({ insert });
    for (const [index, ref] of refs.entries()) {
      expect(await bench.store.early(ref, 99)).toEqual(refs.slice(index + 1));
    }
    const between = { expireDeadline: 200, slot: 1, seq: 9 };
    expect(await bench.store.early(between, 1)).toEqual(refs.slice(2, 3));
  });
}

function commitRules(rule: Rule): void {
  const before = {
    insert: [item(1, 1), item(1, 2)],
    schedule: [scheduledItem(1, 3)],
    lease: [lease(1, 1)],
    tally: [tally(1, { itemCount: 2 })],
    send: [{ ...item(1, 4), outboundSeq: 1, targetShard: 2, targetSlot: 3 }],
    receive: [{ sourceShard: 4, outboundSeq: 5 }],
    catalogPut: [entry(1, "kept")],
  };
  const tried = {
    insert: [item(2, 1), item(1, 9, { early: true, sourceId: "tried" })],
    remove: [{ slot: 1, seqs: [2] }],
    schedule: [scheduledItem(2, 2, { dueAt: 1 })],
    unschedule: [{ slot: 1, seqs: [3] }],
    quarantine: [{ slot: 1, seqs: [1] }],
    lease: [lease(2, 1)],
    unlease: [lease(1, 1)],
    tally: [tally(1, { itemCount: 77 }), tally(2)],
    send: [{ ...item(2, 3), outboundSeq: 2, targetShard: 2, targetSlot: 3 }],
    unsend: [1],
    receive: [{ sourceShard: 4, outboundSeq: 6 }],
    catalogPut: [entry(2, "tried")],
    catalogRemove: [1],
  };
  const spoiled: readonly [string, Partial<Changes>][] = [
    ["an item under a taken seq", { insert: [...tried.insert, item(1, 1)] }],
    ["two items under one seq", { insert: [...tried.insert, item(2, 1)] }],
    ["a scheduled item under a taken seq", { schedule: [...tried.schedule, scheduledItem(1, 3)] }],
    ["two scheduled items under one seq", { schedule: [...tried.schedule, scheduledItem(2, 2)] }],
    ["two outbound items under one number", { send: [...tried.send, ...tried.send] }],
  ];
  for (const [what, changes] of spoiled) {
    rule(`commit: ${what} refuses the turn, and nothing of it remains`, async (bench) => {
      await bench.commit(before);
      const was = await contents(bench.store);
      const valid = { ...tried, unschedule: [], quarantine: [] };
      const failure = await bench.commit({ ...valid, ...changes }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreError);
      await bench.reopen();
      expect(await contents(bench.store)).toEqual(was);
    });
  }

  rule("commit: changes of every kind in one turn take effect together", async (bench) => {
    await bench.commit(before);
    await bench.commit(tried);
    await bench.nowAndReopened(async (store) => {
      const found = await contents(store);
      expect(found.items).toEqual([
        readOf(item(1, 9, { early: true, sourceId: "tried" })),
        readOf(item(2, 1)),
      ]);
      expect(found.scheduled).toEqual(tried.schedule.map(readOf));
      expect(found.early).toEqual([{ expireDeadline: 1_000_000, slot: 1, seq: 9 }]);
      expect(found.image).toMatchObject({
        leases: tried.lease,
        tallies: tried.tally,
        outbound: tried.send.map(keptOf),
        inbound: tried.receive,
        catalog: tried.catalogPut,
        quarantinedCount: 1,
      });
    });
  });

  rule("remove: runs, scattered seqs and the whole of a slot", async (bench) => {
    const left = async (slot: number): Promise<number[]> =>
      seqsOf(await bench.store.items(slot, 0, end, all));
    const insert = [1, 2, 3].flatMap((slot) => numbers(0, 40).map((seq) => item(slot, seq)));
    await bench.commit({ insert });
    await bench.commit({
      remove: [
        { slot: 1, seqs: numbers(0, 10) },
        { slot: 2, seqs: [0, 2, 3, 4, 8, 20, 21, 39] },
      ],
    });
    expect(await left(1)).toEqual(numbers(10, 40));
    const gone = [0, 2, 3, 4, 8, 20, 21, 39];
    expect(await left(2)).toEqual(numbers(0, 40).filter((seq) => !gone.includes(seq)));
    await bench.commit({
      remove: [
        { slot: 1, seqs: numbers(10, 40) },
        { slot: 2, seqs: [] },
      ],
    });
    expect(await left(1)).toEqual([]);
    await bench.nowAndReopened(async () => {
      expect(await left(3)).toEqual(numbers(0, 40));
      expect((await left(2)).length).toBe(32);
    });
  });

  rule("remove, unschedule: each leaves alone what the other one removes", async (bench) => {
    await bench.commit({
      insert: [item(1, 1), item(1, 2)],
      schedule: [scheduledItem(1, 3), scheduledItem(1, 4)],
    });
    await bench.commit({
      remove: [{ slot: 1, seqs: [1, 3] }],
      unschedule: [{ slot: 1, seqs: [2, 4] }],
    });
    await bench.nowAndReopened(async (store) => {
      expect(seqsOf(await store.items(1, 0, end, all))).toEqual([2]);
      expect(seqsOf(await store.scheduled(1, 0, end, all))).toEqual([3]);
    });
  });

  rule(
    "quarantine: items ready or scheduled are set aside, counted, and found no more",
    async (bench) => {
      await bench.commit({
        insert: [item(1, 1, { sourceId: "a", early: true }), item(1, 2), item(2, 1)],
        schedule: [scheduledItem(1, 3, { sourceId: "b" }), scheduledItem(2, 2)],
      });
      await bench.commit({ quarantine: [{ slot: 1, seqs: [1, 3] }] });
      expect((await bench.store.load()).quarantinedCount).toBe(2);
      await bench.commit({ quarantine: [{ slot: 2, seqs: [1] }] });
      await bench.nowAndReopened(async (store) => {
        expect((await store.load()).quarantinedCount).toBe(3);
        expect(seqsOf(await store.items(1, 0, end, all))).toEqual([2]);
        expect(seqsOf(await store.items(2, 0, end, all))).toEqual([]);
        expect(seqsOf(await store.scheduled(1, 0, end, all))).toEqual([]);
        expect(seqsOf(await store.waking(9_999, all))).toEqual([2]);
        expect(await store.present(1, [1, 2])).toEqual([2]);
        expect(await store.presentSources(1, ["a", "b"])).toEqual([]);
        expect(await store.early(first, 9)).toEqual([]);
      });
    },
  );
}

function recordRules(rule: Rule): void {
  rule("lease: replaced by slot and first, removed by them", async (bench) => {
    const kept = [
      lease(1, 5, { last: 9 }),
      lease(2, 5),
      lease(slotMax, seqMax - 1, { last: seqMax, leaseDeadline: 253_402_300_799_999, leasedAt: 0 }),
    ];
    await bench.commit({ lease: [lease(1, 5), lease(1, 6), lease(2, 6), ...kept.slice(1)] });
    await bench.commit({ lease: kept.slice(0, 1), unlease: [lease(1, 6), { slot: 2, first: 6 }] });
    await bench.nowAndReopened(async (store) => {
      expect(byKey((await store.load()).leases, "slot")).toEqual(kept);
    });
  });

  rule("tally: replaced by slot, and its numbers come back exactly", async (bench) => {
    const big = tally(slotMax, {
      nextSeq: seqMax,
      itemCount: 2 ** 40,
      createdAtSum: 2n ** 70n + 1n,
      scheduledCount: 2 ** 40 + 1,
      retriedCount: 2 ** 40 + 2,
      expireDeadlineMax: 253_402_300_799_999,
      clearReadyBelow: seqMax - 1,
      clearScheduledBelow: seqMax - 2,
      clearRetriedBelow: seqMax - 3,
    });
    await bench.commit({
      tally: [tally(1, { nextSeq: 7 }), tally(2, { createdAtSum: 2n ** 63n }), big],
    });
    await bench.commit({ tally: [tally(1, { nextSeq: 8, itemCount: 3 })] });
    await bench.nowAndReopened(async (store) => {
      expect(byKey((await store.load()).tallies, "slot")).toEqual([
        tally(1, { nextSeq: 8, itemCount: 3 }),
        tally(2, { createdAtSum: 2n ** 63n }),
        big,
      ]);
    });
  });

  rule("send: outbound items come back whole until they are unsent", async (bench) => {
    const sent: OutboundItem[] = [
      { ...item(1, 7), outboundSeq: 1, targetShard: 0, targetSlot: 0 },
      {
        ...item(1, 8, { early: true, attempts: 9, kind: "☃", sourceId: "s" }),
        outboundSeq: 2,
        targetShard: 3,
        targetSlot: 4,
      },
      {
        ...item(slotMax, seqMax, { queuedAt: 1 }),
        outboundSeq: 2 ** 45,
        targetShard: 63,
        targetSlot: slotMax,
      },
    ];
    await bench.commit({ send: sent });
    await bench.nowAndReopened(async (store) => {
      expect(byKey((await store.load()).outbound, "outboundSeq")).toEqual(sent.map(keptOf));
    });
    await bench.commit({ unsend: [1, 2 ** 45] });
    await bench.nowAndReopened(async (store) => {
      expect((await store.load()).outbound).toEqual(sent.slice(1, 2).map(keptOf));
    });
  });

  rule("send: an outbound item is not an item of its slot", async (bench) => {
    await bench.commit({
      send: [
        {
          ...item(1, 7, { sourceId: "s", early: true }),
          outboundSeq: 1,
          targetShard: 0,
          targetSlot: 0,
        },
      ],
    });
    expect(await bench.store.items(1, 0, end, all)).toEqual([]);
    expect(await bench.store.presentSources(1, ["s"])).toEqual([]);
    expect(await bench.store.early(first, 9)).toEqual([]);
  });

  rule("receive: the last number from each shard", async (bench) => {
    await bench.commit({
      receive: [
        { sourceShard: 1, outboundSeq: 5 },
        { sourceShard: 63, outboundSeq: 2 ** 45 },
      ],
    });
    await bench.commit({ receive: [{ sourceShard: 1, outboundSeq: 6 }] });
    await bench.nowAndReopened(async (store) => {
      expect(byKey((await store.load()).inbound, "sourceShard")).toEqual([
        { sourceShard: 1, outboundSeq: 6 },
        { sourceShard: 63, outboundSeq: 2 ** 45 },
      ]);
    });
  });

  rule(
    "catalog: entries come back whole, with names of any script and 10,000 places",
    async (bench) => {
      const places = numbers(0, 10_000).map(
        (partition): PartitionPlace => ({
          partition,
          shard: partition % 64,
          slot: slotMax - partition,
          state: partition % 3 === 0 ? "draining" : "active",
        }),
      );
      const whole = entry(2, "очередь-队列-ñ-\u{1f600}-'\"\\", places);
      const catalog: CatalogEntry[] = [
        entry(1, "plain"),
        {
          ...whole,
          deleting: true,
          definition: {
            ...whole.definition,
            deadQueue: "ファイル",
            reference: "line\nbreak, tab\t, \u0000 and \u2028",
            maxAttempts: 65_536,
            expireTimeoutMs: 366 * 24 * 3_600_000,
          },
        },
        entry(Number.MAX_SAFE_INTEGER, "x".repeat(512)),
      ];
      await bench.commit({ catalogPut: catalog });
      await bench.nowAndReopened(async (store) => {
        expect(byKey((await store.load()).catalog, "queueId")).toEqual(catalog);
      });
    },
  );

  rule("catalog: replaced and removed by queueId", async (bench) => {
    await bench.commit({ catalogPut: [entry(1, "old"), entry(2, "gone"), entry(3, "same")] });
    await bench.commit({ catalogPut: [entry(1, "new")], catalogRemove: [2] });
    await bench.nowAndReopened(async (store) => {
      const { catalog } = await store.load();
      expect(byKey(catalog, "queueId")).toEqual([entry(1, "new"), entry(3, "same")]);
    });
  });
}

function lifeRules(rule: Rule): void {
  rule("tidy: comes to an end and changes nothing", async (bench) => {
    const payload = new Uint8Array(4_000);
    const insert = numbers(0, 3_000).map((seq) => item(0, seq, { payload }));
    await bench.commit({ insert });
    await bench.commit({ remove: [{ slot: 0, seqs: numbers(0, 2_900) }] });
    const was = await contents(bench.store);
    for (const idle of [true, false]) await bench.store.relieve(idle);
    for (let pieces = 0; await bench.store.tidy(); pieces += 1) expect(pieces).toBeLessThan(1_000);
    await bench.nowAndReopened(async (store) => {
      expect(await contents(store)).toEqual(was);
    });
  });

  rule("size: is never negative, and there is room", async (bench) => {
    await bench.commit({ insert: [item(0, 1)] });
    const { logBytes, fileBytes, full } = bench.store.size();
    expect(logBytes).toBeGreaterThanOrEqual(0);
    expect(fileBytes).toBeGreaterThanOrEqual(0);
    expect(full).toBe(false);
  });

  rule("close: may be called again", async (bench) => {
    await bench.commit({ insert: [item(0, 1)] });
    await bench.store.close();
    await bench.store.close();
    await bench.reopen();
    expect(seqsOf(await bench.store.items(0, 0, end, all))).toEqual([1]);
  });
}

const modelTurns = 300;

function modelRules(rule: Rule): void {
  for (const seed of [1, 2, 3]) {
    rule(`random turns: the store holds what a plain model holds; seed ${seed}`, async (bench) => {
      const { tag } = await bench.store.load();
      const model = new Model(seeded(seed), tag);
      for (let turn = 1; turn <= modelTurns; turn += 1) {
        const changes = model.nextChanges();
        model.apply({ ...changes, turn: await bench.commit(changes) });
        await model.compareReads(bench.store);
        if (turn % 25 === 0) {
          await bench.nowAndReopened(async (store) => {
            expect(await contents(store)).toEqual(model.contents());
          });
        }
      }
    });
  }
}
