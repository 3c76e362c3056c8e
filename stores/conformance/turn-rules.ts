// Rules for the changes of a turn, the load of a start, and work outside of turns.

import { expect } from "bun:test";
import { type Changes, StoreError, type TurnRecord } from "../store.ts";
import type { Rule } from "./bench.ts";
import {
  alike,
  bare,
  byKey,
  entry,
  instantMax,
  item,
  lease,
  leaving,
  markOf,
  moveOf,
  nothing,
  numbers,
  outboundItem,
  readOf,
  scheduledItem,
  seqMax,
  seqsOf,
  slotMax,
  tally,
  toItems,
  toOutbox,
  toScheduled,
} from "./values.ts";

export function turnRules(rule: Rule): void {
  loadRules(rule);
  receiptRules(rule);
  uniqueRules(rule);
  commitRules(rule);
  removeRules(rule);
  recordRules(rule);
  lifeRules(rule);
}

function loadRules(rule: Rule): void {
  rule("load: a new store is empty and keeps the tag of its creation", async (bench) => {
    const { tags } = await bench.store.load();
    expect(tags).toMatch(/^[0-9A-Za-z]{12}$/);
    await bench.nowAndReopened(async () => {
      expect(await bench.store.load()).toEqual({
        tags,
        turns: [],
        tallies: [],
        groups: [],
        leases: [],
        outbox: [],
        inbound: [],
        receipts: [],
        tasks: [],
        queues: [],
        quarantinedCount: 0,
      });
    });
  });

  rule("load: the last written tags replace the first", async (bench) => {
    const tags = "0000a:0 ".repeat(5_000);
    await bench.commit({ tags: "first" });
    await bench.commit({ tags });
    await bench.commit({});
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).tags).toBe(tags);
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
    await bench.nowAndReopened(async () => {
      const kept = (await bench.store.load()).turns;
      expect(kept.slice(-64)).toEqual(turns.slice(-64));
      expect(kept).toEqual(turns.slice(-kept.length));
    });
  });

  rule("load: a turn's numbers are returned unchanged", async (bench) => {
    const turn = { turn: 2 ** 45, at: instantMax, tag: "zzzzz" };
    await bench.store.commit({ ...nothing, turn });
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).turns).toEqual([turn]);
    });
  });
}

function receiptRules(rule: Rule): void {
  const entries = Uint8Array.from({ length: 70 }, (_, index) => (index * 37) % 256);
  const kept = ({ turn, at }: TurnRecord) => ({ turn, at, entries });

  rule("receipts: kept with their turn, until it is removed", async (bench) => {
    const given = entries.slice();
    const turns: TurnRecord[] = [];
    for (const receipts of [given, null, given, given])
      turns.push(await bench.commit({ receipts }));
    given.fill(0);
    const [first, , third, fourth] = turns as [TurnRecord, TurnRecord, TurnRecord, TurnRecord];
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).receipts).toEqual([first, third, fourth].map(kept));
    });
    await bench.commit({ forgetTurn: third.turn });
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).receipts).toEqual([kept(fourth)]);
    });
  });

  rule("receipts: a failed commit stores none, and removes none", async (bench) => {
    const turn = await bench.commit({ insert: [item(0, 1)], receipts: entries });
    const refused = bench.commit({
      insert: [item(0, 1)],
      receipts: entries,
      forgetTurn: turn.turn,
    });
    await expect(refused).rejects.toThrow();
    await bench.reopen();
    expect((await bench.store.load()).receipts).toEqual([kept(turn)]);
  });

  rule(
    "tasks: replaced by their id, removed by an empty text, in the order of ids",
    async (bench) => {
      const text = 'é "0" \n';
      await bench.commit({
        tasks: [
          { taskId: "b", text },
          { taskId: "B", text: "1" },
        ],
      });
      await bench.commit({
        tasks: [
          { taskId: "a", text },
          { taskId: "b", text: "2" },
        ],
      });
      await bench.nowAndReopened(async () => {
        expect((await bench.store.load()).tasks).toEqual([
          { taskId: "B", text: "1" },
          { taskId: "a", text },
          { taskId: "b", text: "2" },
        ]);
      });
      await bench.commit({ tasks: ["a", "b", "none"].map((taskId) => ({ taskId, text: "" })) });
      await bench.nowAndReopened(async () => {
        expect((await bench.store.load()).tasks).toEqual([{ taskId: "B", text: "1" }]);
      });
    },
  );

  rule("receipts: not read if the caller already has them", async (bench) => {
    await bench.commit({ receipts: entries });
    expect((await bench.store.load({ receipts: false })).receipts).toEqual([]);
  });
}

function uniqueRules(rule: Rule): void {
  const [a, b, c] = ["a", "b", "c"].map((letter) => letter.repeat(32)) as [string, string, string];
  const ofA = { slot: 1, seq: 5, digest: a, until: instantMax };
  const ofB = { slot: 1, seq: 6, digest: b, until: 200 };
  const ofC = { slot: slotMax, seq: seqMax, digest: c, until: 100 };
  const unique = [ofA, ofB, ofC];
  const uniques = [a, b, c];

  rule("unique: a key is found until it expires, even if its item has left", async (bench) => {
    await bench.commit({ insert: [item(1, 5), item(1, 6)], unique });
    await bench.commit({ remove: [{ slot: 1, seqs: [5] }] });
    await bench.nowAndReopened(async () => {
      const found = await bench.read({ uniques: [...uniques, "d".repeat(32)] });
      expect(found.uniques).toEqual(new Map(unique.map((one) => [one.digest, one])));
      expect((await bench.read({ uniques: [b] })).uniques).toEqual(new Map([[b, ofB]]));
    });
  });

  rule("unique: replaced by digest, removed by the place of its item", async (bench) => {
    await bench.commit({ unique });
    const latest = { slot: 1, seq: 9, digest: a, until: 300 };
    await bench.commit({ unique: [latest] });
    await bench.commit({
      ununique: [
        { slot: 1, seqs: [4, 5, 6, 7] },
        { slot: 2, seqs: [9] },
      ],
    });
    await bench.nowAndReopened(async () => {
      expect((await bench.read({ uniques })).uniques).toEqual(
        new Map([
          [a, latest],
          [c, ofC],
        ]),
      );
    });
    await bench.commit({ ununique: [{ slot: 1, seqs: [9] }] });
    await bench.nowAndReopened(async () => {
      expect((await bench.read({ uniques })).uniques).toEqual(new Map([[c, ofC]]));
    });
  });

  rule("unique: expired keys are returned earliest first, with the next one", async (bench) => {
    expect(await bench.ended(instantMax)).toEqual({ found: [], next: null });
    await bench.commit({ unique });
    const [first, second, third] = [
      { slot: slotMax, seq: seqMax },
      { slot: 1, seq: 6 },
      { slot: 1, seq: 5 },
    ] as const;
    await bench.nowAndReopened(async () => {
      expect(await bench.ended(99)).toEqual({ found: [], next: 100 });
      expect(await bench.ended(100)).toEqual({ found: [first], next: 200 });
      expect(await bench.ended(200, 1)).toEqual({ found: [first], next: 200 });
      expect(await bench.ended(instantMax)).toEqual({
        found: [first, second, third],
        next: null,
      });
    });
  });

  rule("unique: a failed commit stores none, and removes none", async (bench) => {
    await bench.commit({ insert: [item(0, 1)], unique: unique.slice(0, 1) });
    const refused = bench.commit({
      insert: [item(0, 1)],
      unique: unique.slice(1),
      ununique: [{ slot: 1, seqs: [5] }],
    });
    await expect(refused).rejects.toThrow();
    await bench.reopen();
    expect((await bench.read({ uniques })).uniques).toEqual(new Map([[a, ofA]]));
  });
}

function commitRules(rule: Rule): void {
  const sent = outboundItem(1);
  const before = {
    insert: [item(1, 1), item(1, 2), item(1, 6), ...alike(1, 20, 26)],
    schedule: [scheduledItem(1, 3), scheduledItem(1, 7)],
    lease: [lease(1, 1)],
    tally: [tally(1, { itemCount: 2 })],
    receive: [{ sourceShard: 4, outboundSeq: 5 }],
    queue: [entry(1, "old"), entry(2, "gone")],
  };
  const tried = {
    insert: [item(2, 1), item(1, 9, { early: true, sourceId: "tried" })],
    move: [
      moveOf(item(1, 6), toItems(item(3, 1))),
      ...alike(1, 20, 23).map((one) => moveOf(one, toOutbox(outboundItem(one.seq)))),
      moveOf(item(1, 7), toScheduled(scheduledItem(3, 2)), "scheduled"),
    ],
    remove: [{ slot: 1, seqs: [2, 6, 20, 21, 22] }],
    schedule: [scheduledItem(2, 2, { dueAt: 1 })],
    unschedule: [{ slot: 1, seqs: [7] }],
    lease: [lease(2, 1)],
    unlease: [lease(1, 1)],
    tally: [tally(1, { itemCount: 77 }), tally(2)],
    send: [outboundItem(40, { targetOwner: 5, queuedAt: 9_000 })],
    unsend: [1],
    receive: [{ sourceShard: 4, outboundSeq: 6 }],
    queue: [entry(1, "new"), entry(3, "added")],
    unqueue: [2],
  };
  const moving = (...moves: Changes["move"]) => ({ move: [...tried.move, ...moves] });
  const elsewhere = toItems(item(4, 1));
  const corrupted: readonly [string, Partial<Changes>][] = [
    ["an item under a taken seq", { insert: [...tried.insert, item(1, 1)] }],
    ["two items under one seq", { insert: [...tried.insert, item(2, 1)] }],
    ["a scheduled item under a taken seq", { schedule: [...tried.schedule, scheduledItem(1, 3)] }],
    ["two scheduled items under one seq", { schedule: [...tried.schedule, scheduledItem(2, 2)] }],
    ["a move of an item that is not there", moving(moveOf(item(1, 5), elsewhere))],
    ["a move of an item that was in a pack", moving(moveOf(item(1, 24), elsewhere))],
    ["a move to nowhere of an item that is not there", moving(moveOf(item(1, 5), null))],
    [
      "a run of moves with a gap",
      moving(...[23, 24, 25].map((seq) => moveOf(item(1, seq), toItems(item(4, seq))))),
    ],
    ["a move of a scheduled item as a ready one", moving(moveOf(item(1, 3), elsewhere))],
    [
      "a move of a ready item as a scheduled one",
      moving(moveOf(item(1, 1), elsewhere, "scheduled")),
    ],
    ["a move to a taken seq", moving(moveOf(item(1, 2), toItems(item(1, 1))))],
    ["a move to the seq of an inserted item", moving(moveOf(item(1, 2), toItems(item(2, 1))))],
    [
      "a move to a taken seq of a scheduled item",
      moving(moveOf(item(1, 2), toScheduled(scheduledItem(1, 3)))),
    ],
    ["two moves to one outbound number", moving(moveOf(item(1, 2), toOutbox(outboundItem(21))))],
    ["an item under a taken outbound number", { send: [...tried.send, sent] }],
    ["two items under one outbound number", { send: [...tried.send, outboundItem(40)] }],
    ["an item and a move under one outbound number", { send: [outboundItem(21)] }],
    ["a move to a taken outbound number", moving(moveOf(item(1, 2), toOutbox(sent)))],
  ];
  for (const [what, changes] of corrupted) {
    rule(`commit: ${what} refuses the turn, and nothing of it is stored`, async (bench) => {
      await bench.send([{ ...sent, seq: 30 }]);
      await bench.commit(before);
      await bench.commit({ remove: [{ slot: 1, seqs: [24] }] });
      const was = await bench.contents();
      const { unsend: _, ...valid } = tried;
      const failure = await bench.commit({ ...valid, ...changes }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreError);
      await bench.reopen();
      expect(await bench.contents()).toEqual(was);
      await bench.commit(valid);
    });
  }

  rule("commit: changes of every kind in one turn take effect together", async (bench) => {
    await bench.send([{ ...sent, seq: 30 }, outboundItem(2, { seq: 31 })]);
    await bench.commit(before);
    await bench.commit({
      ...tried,
      quarantine: [{ slot: 1, seqs: [1, 3] }],
      quarantineOutbound: [2],
    });
    await bench.nowAndReopened(async () => {
      const found = await bench.contents();
      expect(found.items).toEqual([
        readOf(item(1, 9, { early: true, sourceId: "tried" })),
        ...alike(1, 23, 26).map(readOf),
        readOf(item(2, 1)),
        readOf(item(3, 1, { payload: "payload 6" })),
      ]);
      expect(found.scheduled).toEqual([
        ...tried.schedule.map(readOf),
        readOf(scheduledItem(3, 2, { payload: "payload 7" })),
      ]);
      expect(found.outbound).toEqual([
        ...[20, 21, 22].map((seq) => readOf(outboundItem(seq))),
        ...tried.send.map(readOf),
      ]);
      expect(seqsOf(found.early.found)).toEqual([9]);
      expect(found.image).toMatchObject({
        leases: [{ ...lease(2, 1), held: [markOf(item(2, 1))] }],
        tallies: tried.tally,
        outbox: [
          { targetShard: 2, targetOwner: 4, count: 3 },
          { targetShard: 2, targetOwner: 5, count: 1 },
        ],
        inbound: tried.receive,
        queues: tried.queue,
        quarantinedCount: 3,
      });
    });
  });
}

function removeRules(rule: Rule): void {
  rule("remove: runs, scattered seqs and the whole of a slot", async (bench) => {
    const left = async (slot: number): Promise<number[]> => seqsOf(await bench.items(slot));
    const insert = [1, 2, 3].flatMap((slot) => numbers(0, 40).map((seq) => item(slot, seq)));
    await bench.commit({ insert });
    const gone = [0, 2, 3, 4, 8, 20, 21, 39];
    await bench.commit({
      remove: [
        { slot: 1, seqs: numbers(0, 10) },
        { slot: 2, seqs: gone },
      ],
    });
    expect(await left(1)).toEqual(numbers(10, 40));
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

  rule("remove, unschedule: neither affects the items of the other", async (bench) => {
    await bench.commit({
      insert: [item(1, 1), item(1, 2)],
      schedule: [scheduledItem(1, 3), scheduledItem(1, 4)],
    });
    await bench.commit({
      remove: [{ slot: 1, seqs: [1, 3] }],
      unschedule: [{ slot: 1, seqs: [2, 4] }],
    });
    await bench.nowAndReopened(async () => {
      expect(seqsOf(await bench.items(1))).toEqual([2]);
      expect(seqsOf(await bench.scheduled(1))).toEqual([3]);
    });
  });

  rule(
    "quarantine: waiting and outbound items are set aside, counted, and no longer found",
    async (bench) => {
      await bench.send([4, 5, 6].map((seq) => outboundItem(seq)));
      await bench.commit({
        insert: [item(1, 1, { sourceId: "a", early: true }), item(1, 2), item(2, 1)],
        schedule: [scheduledItem(1, 3, { sourceId: "b" }), scheduledItem(2, 2)],
      });
      await bench.commit({ quarantine: [{ slot: 1, seqs: [1, 3] }] });
      expect((await bench.store.load()).quarantinedCount).toBe(2);
      await bench.commit({ quarantine: [{ slot: 2, seqs: [1] }], quarantineOutbound: [4, 6] });
      await bench.nowAndReopened(async () => {
        expect((await bench.store.load()).quarantinedCount).toBe(5);
        expect(seqsOf(await bench.items(1))).toEqual([2]);
        expect(await bench.items(2)).toEqual([]);
        expect(await bench.scheduled(1)).toEqual([]);
        expect(seqsOf((await bench.waking(9_999)).found)).toEqual([2]);
        expect(seqsOf(await bench.outbound(2))).toEqual([5]);
        expect(await bench.sources(1, ["a", "b"])).toEqual([]);
        expect(await bench.early()).toEqual({ found: [], next: null });
      });
    },
  );
}

function recordRules(rule: Rule): void {
  rule("lease: replaced by slot and first, removed by them", async (bench) => {
    const kept = [
      lease(1, 5, { last: 9 }),
      lease(2, 5),
      lease(slotMax, seqMax - 1, { last: seqMax, leaseDeadline: instantMax, leasedAt: 0 }),
    ];
    await bench.commit({ lease: [lease(1, 5), lease(1, 6), lease(2, 6), ...kept.slice(1)] });
    await bench.commit({ lease: kept.slice(0, 1), unlease: [lease(1, 6), { slot: 2, first: 6 }] });
    await bench.nowAndReopened(async () => {
      const { leases } = await bench.store.load();
      expect(byKey(leases, "slot")).toEqual(kept.map((lease) => ({ ...lease, held: [] })));
    });
  });

  rule(
    "lease: returned with marks of the items that it still holds, and of no others",
    async (bench) => {
      const insert = [
        ...alike(1, 0, 200),
        item(1, 300, { attempts: 2, payload: new Uint8Array(5_000) }),
        item(1, 303, { early: true, expireDeadline: 7 }),
        ...alike(2, 300, 304),
      ];
      const leases = [lease(1, 50, { last: 150 }), lease(1, 190, { last: 301 }), lease(1, 303)];
      const gone = [51, 52, 99, 150, 199];
      await bench.commit({ insert, schedule: [scheduledItem(1, 302)], lease: leases });
      const moved = moveOf(item(1, 60), toItems(item(1, 400)));
      await bench.commit({
        move: [moved],
        remove: [{ slot: 1, seqs: [51, 52, 60, 99, 150, 199] }],
      });
      await bench.nowAndReopened(async () => {
        const found = byKey((await bench.store.load()).leases, "first");
        const held = leases.map(({ first, last }) =>
          insert.filter(
            ({ slot, seq }) =>
              slot === 1 && seq >= first && seq <= last && seq !== 60 && !gone.includes(seq),
          ),
        );
        expect(held.map(({ length }) => length)).toEqual([96, 10, 1]);
        expect(found.map((lease) => bare(lease.held))).toEqual(
          held.map((some) => some.map(markOf)),
        );
      });
    },
  );

  rule("tally: replaced by slot, and its numbers are returned exactly", async (bench) => {
    const big = tally(slotMax, {
      nextSeq: seqMax,
      itemCount: 2 ** 40,
      createdAtSum: 2n ** 70n + 1n,
      scheduledCount: 2 ** 40 + 1,
      retriedCount: 2 ** 40 + 2,
      expireDeadlineMax: instantMax,
      doomedCount: 2 ** 40 + 3,
      clearReadyBelow: seqMax - 1,
      clearScheduledBelow: seqMax - 2,
      clearRetriedBelow: seqMax - 3,
    });
    await bench.commit({
      tally: [tally(1, { nextSeq: 7 }), tally(2, { createdAtSum: 2n ** 63n }), big],
    });
    await bench.commit({ tally: [tally(1, { nextSeq: 8, itemCount: 3 })] });
    await bench.nowAndReopened(async () => {
      expect(byKey((await bench.store.load()).tallies, "slot")).toEqual([
        tally(1, { nextSeq: 8, itemCount: 3 }),
        tally(2, { createdAtSum: 2n ** 63n }),
        big,
      ]);
    });
  });

  rule("receive: the last number from each shard", async (bench) => {
    await bench.commit({
      receive: [
        { sourceShard: 1, outboundSeq: 5 },
        { sourceShard: 63, outboundSeq: 2 ** 45 },
      ],
    });
    await bench.commit({ receive: [{ sourceShard: 1, outboundSeq: 6 }] });
    await bench.nowAndReopened(async () => {
      expect(byKey((await bench.store.load()).inbound, "sourceShard")).toEqual([
        { sourceShard: 1, outboundSeq: 6 },
        { sourceShard: 63, outboundSeq: 2 ** 45 },
      ]);
    });
  });
}

function lifeRules(rule: Rule): void {
  rule("relieve, tidy: end, and change no content", async (bench) => {
    const payload = new Uint8Array(4_000);
    const insert = numbers(0, 3_000).map((seq) => item(0, seq, { payload }));
    await bench.commit({ insert });
    await bench.commit({
      ...leaving(insert.slice(2_900).map((one) => moveOf(one, toItems({ ...one, slot: 1 })))),
      remove: [{ slot: 0, seqs: numbers(0, 3_000) }],
    });
    const was = await bench.contents();
    const { maintenance } = bench.backend;
    await maintenance.relieve();
    for (let pieces = 0; await maintenance.tidy(); pieces += 1) expect(pieces).toBeLessThan(1_000);
    await bench.nowAndReopened(async () => {
      expect(await bench.contents()).toEqual(was);
    });
  });

  rule("size: is never negative, and there is room", async (bench) => {
    await bench.commit({ insert: [item(0, 1)] });
    const { logBytes, fileBytes, full } = bench.backend.maintenance.size();
    expect(logBytes).toBeGreaterThanOrEqual(0);
    expect(fileBytes).toBeGreaterThanOrEqual(0);
    expect(full).toBe(false);
  });

  rule("close: may be called again, and later reads and writes fail", async (bench) => {
    await bench.commit({ insert: [item(0, 1)] });
    const { store } = bench.backend;
    await store.close();
    await store.close();
    const calls = [bench.items(0), bench.commit({ insert: [item(0, 2)] }), store.load()];
    for (const call of await Promise.allSettled<unknown>(calls)) {
      expect(call).toMatchObject({ status: "rejected", reason: expect.any(StoreError) });
    }
    await bench.reopen();
    expect(seqsOf(await bench.items(0))).toEqual([1]);
  });
}
