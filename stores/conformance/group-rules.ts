// Rules for the index of grouped items.

import { expect } from "bun:test";
import type { Item } from "../item.ts";
import type { GroupCount, GroupedItem, GroupHead, GroupPlace } from "../store.ts";
import { beforeGrouped, type GroupedKey } from "../transfer.ts";
import type { Bench, Rule } from "./bench.ts";
import {
  alike,
  countsOf,
  end,
  grouped,
  groupsOf,
  item,
  numbers,
  readOf,
  seeded,
  seqMax,
  slotMax,
} from "./values.ts";

export function groupRules(rule: Rule): void {
  headRules(rule);
  boundRules(rule);
  changeRules(rule);
  countRules(rule);
}

/** Plans end with the bytes of all tests unless they are about them. */
const headBytes = 1_000_000;

const head = (group: string, fields: Partial<GroupHead> = {}): GroupHead => ({
  ...{ partition: 1, group, from: 0, items: 1 },
  ...fields,
});

function headRules(rule: Rule): void {
  rule(
    "groups: the first rows at queued, in order of rank, and one without its item",
    async (bench) => {
      const insert = [item(1, 5), item(9, 2), item(1, 7), item(1, 8)];
      await bench.commit({
        insert,
        group: [
          grouped("a", 30, { seq: 7 }),
          grouped("a", 10, { seq: 5 }),
          grouped("a", 40, { seq: 8 }),
          grouped("a", 20, { slot: 9, seq: 2 }),
          grouped("a", 1, { place: "scheduled" }),
          grouped("a", 2, { place: "retried" }),
          grouped("a", 3, { partition: 2 }),
          grouped("b", 4),
        ],
      });
      const [first, second, third, fourth] = [
        { rank: 10, slot: 1, seq: 5 },
        { rank: 20, slot: 9, seq: 2 },
        { rank: 30, slot: 1, seq: 7 },
        { rank: 40, slot: 1, seq: 8 },
      ];
      const [ofFirst, ofSecond, ofThird, ofFourth] = insert.map(readOf);
      const groups = [
        head("a"),
        head("a", { items: 2, from: 20 }),
        head("a", { items: 3 }),
        head("a", { items: 4 }),
        head("a", { items: 9, from: 40 }),
        head("a", { from: 41 }),
        head("none"),
      ];
      await bench.nowAndReopened(async () => {
        expect((await bench.read({ groups, headBytes })).groups).toEqual([
          { found: [{ ...first, item: ofFirst }, second], isAll: false },
          {
            found: [{ ...second, item: ofSecond }, { ...third, item: ofThird }, fourth],
            isAll: true,
          },
          {
            found: [
              { ...first, item: ofFirst },
              { ...second, item: ofSecond },
              { ...third, item: ofThird },
              fourth,
            ],
            isAll: true,
          },
          {
            found: [
              { ...first, item: ofFirst },
              { ...second, item: ofSecond },
              { ...third, item: ofThird },
              { ...fourth, item: ofFourth },
            ],
            isAll: true,
          },
          { found: [{ ...fourth, item: ofFourth }], isAll: true },
          { found: [], isAll: true },
          { found: [], isAll: true },
        ] as never);
      });
    },
  );

  rule("groups: names of all bytes, and the highest numbers", async (bench) => {
    const names = ["", "\u0000", "a", "a\u0000", "a\u0000b", "A", "é", "\uff5e", "\u{1f600}"];
    names.push("x".repeat(256), "€".repeat(85));
    const insert = names.map((_, index) => item(slotMax, seqMax - index));
    const group = names.map((name, index) =>
      grouped(name, end - index, { partition: slotMax, slot: slotMax, seq: seqMax - index }),
    );
    await bench.commit({ insert, group });
    const groups = names.map((name) => head(name, { partition: slotMax, from: end - 99 }));
    await bench.nowAndReopened(async () => {
      const found = (await bench.read({ groups, headBytes })).groups;
      expect(found).toEqual(
        group.map(({ rank, slot, seq }, index) => ({
          found: [{ rank, slot, seq, item: readOf(insert[index] as Item) }],
          isAll: true,
        })),
      );
    });
  });

  rule("groups: an item that is not in its place is null", async (bench) => {
    const texts = { past: '{"group":"a"}' };
    await bench.commit({
      insert: [...alike(1, 0, 4, texts), item(1, 9)],
      group: [0, 1, 2, 4, 7].map((seq) => grouped("a", seq, { seq })),
    });
    await bench.commit({ remove: [{ slot: 1, seqs: [1] }] });
    await bench.nowAndReopened(async () => {
      const groups = [head("a", { items: 9 })];
      const [some] = (await bench.read({ groups, headBytes })).groups;
      expect(some?.found.map((row) => [row.rank, row.item?.seq ?? row.item])).toEqual([
        [0, 0],
        [1, null],
        [2, 2],
        [4, null],
        [7, null],
      ]);
    });
  });

  rule(
    "groups: hundreds of groups whose items share packs that others have left",
    async (bench) => {
      const below = seeded(8);
      const insert = alike(1, 0, 2_000).map((one, index) => ({
        ...one,
        past: `{"group":"customer-${below(300)}","rank":${2_000 - index}}`,
      }));
      const group = insert.map(({ past, seq }) => {
        const { group, rank } = JSON.parse(past) as GroupedItem;
        return grouped(group, rank, { seq });
      });
      await bench.commit({ insert, group });
      const gone = insert.filter(() => below(4) === 0).map(({ seq }) => seq);
      const leaving = group.filter(({ seq }) => gone.includes(seq));
      await bench.commit({ remove: [{ slot: 1, seqs: gone }], ungroup: leaving });
      const left = insert.filter(({ seq }) => !gone.includes(seq));
      const rows = group.filter((one) => !leaving.includes(one));
      const groups = numbers(0, 300).map((number) =>
        head(`customer-${number}`, { from: below(3) * below(1_000), items: 1 + below(6) }),
      );
      await bench.nowAndReopened(async () => {
        const plan = { heads: [], groups, headBytes };
        expect((await bench.read(plan)).groups).toEqual(groupsOf(rows, left, plan));
      });
    },
  );
}

function boundRules(rule: Rule): void {
  rule("groups: the result ends where the bytes that heads leave are used up", async (bench) => {
    const payload = new Uint8Array(10);
    const insert = [0, 1, 2, 3, 4].map((seq) => item(1, seq, { payload }));
    const group = [
      ...[0, 1, 2].map((seq) => grouped("a", seq, { seq })),
      ...[3, 4].map((seq) => grouped("b", seq, { seq })),
    ];
    await bench.commit({ insert, group });
    const groups = [head("a", { items: 2 }), head("b", { items: 9 }), head("none")];
    const cases: [headBytes: number, heads: number, expected: [number, boolean][]][] = [
      [1, 0, [[1, false]]],
      [10, 0, [[1, false]]],
      [11, 0, [[2, false]]],
      [20, 0, [[2, false]]],
      [
        21,
        0,
        [
          [3, true],
          [1, false],
        ],
      ],
      [
        31,
        0,
        [
          [3, true],
          [2, true],
        ],
      ],
      [
        41,
        0,
        [
          [3, true],
          [2, true],
          [0, true],
        ],
      ],
      [30, 3, []],
      [31, 3, [[1, false]]],
    ];
    for (const [headBytes, count, expected] of cases) {
      const heads = count === 0 ? [] : [{ slot: 1, from: 0, before: end, items: count }];
      const found = await bench.read({ heads, groups, headBytes });
      expect(found.groups.map((some) => [some.found.length, some.isAll])).toEqual(expected);
    }
  });

  rule("groups: bounds hold over payloads of all sizes", async (bench) => {
    const below = seeded(9);
    const sizes = [0, 1, 20_000, 300_000, 5, 1_048_576, 7, 16_385, 2, 100];
    const insert = numbers(0, 60).map((seq) =>
      item(1, seq, { payload: new Uint8Array(sizes[below(sizes.length)] ?? 0).fill(seq) }),
    );
    const group = insert.map(({ seq }) => grouped(`${below(9)}`, seq, { seq }));
    await bench.commit({ insert, group });
    for (let trial = 0; trial < 20; trial += 1) {
      const groups = numbers(0, 9).map((number) => head(`${number}`, { items: 1 + below(5) }));
      const plan = { heads: [], groups, headBytes: 1 + below(1 << below(23)) };
      expect((await bench.read(plan)).groups).toEqual(groupsOf(group, insert, plan));
    }
  });
}

async function rowsIn({ backend }: Bench, limit = 2): Promise<GroupedItem[]> {
  const rows: GroupedItem[] = [];
  for (let after: GroupedKey | null = beforeGrouped; after !== null; ) {
    const page: Awaited<ReturnType<typeof backend.transfer.grouped>> =
      await backend.transfer.grouped(after, limit);
    expect(page.found.length).toBeLessThanOrEqual(limit);
    rows.push(...page.found);
    after = page.next;
  }
  return rows;
}

function changeRules(rule: Rule): void {
  rule("ungroup: removes the row of this item, in this place, and no other", async (bench) => {
    const kept = grouped("a", 1, { seq: 5 });
    const rows = [kept, grouped("a", 2, { place: "retried" }), grouped("a\u0000", 3)];
    await bench.commit({ group: rows });
    await bench.commit({
      ungroup: [
        { ...kept, seq: 6 },
        { ...kept, slot: 2 },
        { ...kept, rank: 2 },
        { ...kept, place: "retried" },
        { ...kept, group: "A" },
        { ...kept, partition: 2 },
        grouped("none", 99),
      ],
    });
    await bench.nowAndReopened(async () => expect(await rowsIn(bench)).toEqual(rows));
    await bench.commit({ ungroup: rows.slice(1) });
    await bench.nowAndReopened(async () => expect(await rowsIn(bench)).toEqual([kept]));
  });

  rule("group: an item that moves in its group keeps its rank, in one commit", async (bench) => {
    const before = [1, 2].map((rank) => grouped("a", rank, { seq: rank }));
    const after = before.map((one) => ({ ...one, seq: one.seq + 10 }));
    await bench.commit({ group: before });
    await bench.commit({ group: after, ungroup: before });
    await bench.nowAndReopened(async () => expect(await rowsIn(bench)).toEqual(after));
    // It is added last, even if it is the same row.
    await bench.commit({ group: after, ungroup: after });
    expect(await rowsIn(bench)).toEqual(after);
    // The old item is unknown, as its text is damaged.
    await bench.commit({ group: before, ungroup: [{ ...grouped("a", 1), seq: 99 }] });
    await bench.nowAndReopened(async () => expect(await rowsIn(bench)).toEqual(before));
    await bench.commit({
      ungroup: before,
      group: before.map((one) => ({ ...one, place: "scheduled" })),
    });
    await bench.nowAndReopened(async () => {
      const places = (await rowsIn(bench)).map(({ place }) => place);
      expect(places).toEqual(["scheduled", "scheduled"]);
    });
  });

  rule("group, ungroup: a failed commit changes no row", async (bench) => {
    const rows = [grouped("a", 1), grouped("b", 2)];
    await bench.commit({ insert: [item(1, 1)], group: rows });
    const refused = bench.commit({
      insert: [item(1, 1)],
      ungroup: rows,
      group: [grouped("c", 3)],
    });
    await expect(refused).rejects.toThrow();
    await bench.reopen();
    expect(await rowsIn(bench)).toEqual(rows);
  });
}

function countRules(rule: Rule): void {
  /** In the order of a start. */
  const names = ["", "\u0000", "A", "a", "a\u0000", "b", "é", "\uff5e", "\u{1f600}"];
  const places: readonly GroupPlace[] = ["queued", "scheduled", "retried"];
  const rows = [0, 1, 300].flatMap((partition) =>
    names.flatMap((name) =>
      places.flatMap((place, index) =>
        numbers(0, index + 1).map((rank) =>
          grouped(name, 5 * rank, { partition, place, slot: 7, seq: 9 - rank }),
        ),
      ),
    ),
  );

  rule("load: groups are counted by place, with their first row, in order", async (bench) => {
    const below = seeded(10);
    const mixed = rows.toSorted(() => below(3) - 1);
    await bench.commit({ group: mixed.slice(0, 50) });
    await bench.commit({ group: mixed.slice(50) });
    const all = countsOf(rows);
    expect(all).toHaveLength(3 * names.length * places.length);
    expect(all.slice(0, 3)).toEqual(
      places.map((place, index): GroupCount => {
        const first = { rank: 0, slot: 7, seq: 9 };
        return { partition: 0, group: "", place, count: index + 1, first, rankLast: 5 * index };
      }),
    );
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).groups).toEqual(all);
    });
    const ungroup = rows.filter(({ place, rank }) => place === "retried" && rank === 0);
    await bench.commit({ ungroup });
    const left = countsOf(rows.filter((row) => !ungroup.includes(row)));
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).groups).toEqual(left);
    });
  });

  rule("transfer: rows of groups are returned in order, page by page", async (bench) => {
    await bench.commit({ group: rows.toReversed() });
    await bench.nowAndReopened(async () => {
      for (const limit of [1, 7, 1_000]) expect(await rowsIn(bench, limit)).toEqual(rows);
    });
  });
}
