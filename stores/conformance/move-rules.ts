// Rules for moves: the store keeps the producer's fields, and the move sets all others.

import { expect } from "bun:test";
import type { Item, OutboundItem, ScheduledItem } from "../item.ts";
import type { Move, MoveDestination } from "../store.ts";
import type { Bench, Rule } from "./bench.ts";
import {
  alike,
  all,
  bare,
  item,
  leaving,
  markOf,
  moveOf,
  numbers,
  outboundItem,
  readOf,
  scheduledItem,
  seeded,
  seqsOf,
  toItems,
  toOutbox,
  toScheduled,
} from "./values.ts";

export function moveRules(rule: Rule): void {
  placeRules(rule);
  manyRules(rule);
}

const given: readonly Pick<
  Item,
  "kind" | "encoding" | "reference" | "sourceId" | "headers" | "payload"
>[] = [
  { kind: "", encoding: "", reference: "", sourceId: "", headers: "", payload: "" },
  {
    kind: "kind ☃",
    encoding: "",
    reference: "\u0000 'r'",
    sourceId: "old",
    headers: '{"a":"\\u0000 ☃"}',
    payload: "naïve \ufeff",
  },
  {
    ...{ kind: "", encoding: "e", reference: "r".repeat(5_000), sourceId: "", headers: "" },
    payload: Uint8Array.from(numbers(0, 256)),
  },
  {
    ...{ kind: "k", encoding: "e", reference: "r", sourceId: "öld", headers: "{}" },
    payload: Uint8Array.of(0, 0),
  },
  { kind: "", encoding: "", reference: "", sourceId: "", headers: '{"a":"b"}', payload: "123" },
];

/** All fields that a move may change. */
const changed = {
  slot: 2,
  createdAt: 77,
  queuedAt: 78,
  expireDeadline: 79,
  early: false,
  attempts: 9,
  past: '{"origin":"ö"}',
};

function placeRules(rule: Rule): void {
  const stored = (from: Move["from"]): ScheduledItem[] =>
    given.map((texts, index) =>
      scheduledItem(1, 10 + index, { ...texts, retried: from === "scheduled" }),
    );
  const write = async (bench: Bench, from: Move["from"]): Promise<ScheduledItem[]> => {
    const items = stored(from);
    const plain = items.map(({ dueAt: _, retried: __, ...one }) => one);
    await bench.commit(from === "items" ? { insert: plain } : { schedule: items });
    return items;
  };
  /** Every second item gets a new source id. */
  const sourceIdOf = (index: number): string | null => (index % 2 === 0 ? null : `new ${index}`);

  for (const from of ["items", "scheduled"] as const) {
    const expectGone = async (bench: Bench): Promise<void> => {
      expect(await bench.items(1)).toEqual([]);
      expect(await bench.scheduled(1)).toEqual([]);
      expect(await bench.sources(1, ["", "old", "öld"])).toEqual([]);
    };
    /** Moves each item to what `placed` returns for it, and checks the result. */
    const moveAll = async <T extends Item>(
      bench: Bench,
      placed: (one: ScheduledItem, index: number) => T,
      to: (moved: Omit<T, "sourceId"> & { sourceId: string | null }) => MoveDestination,
      found: () => Promise<readonly T[]>,
    ): Promise<void> => {
      const items = await write(bench, from);
      const moves = items.map((one, index) =>
        moveOf(one, to({ ...placed(one, index), sourceId: sourceIdOf(index) }), from),
      );
      await bench.commit(leaving(moves));
      await bench.nowAndReopened(async () => {
        const expected = items.map((one, index) =>
          readOf({ ...placed(one, index), sourceId: sourceIdOf(index) ?? one.sourceId }),
        );
        expect(await found()).toEqual(expected);
        await expectGone(bench);
      });
    };

    rule(`move: from ${from} to items, with every field`, async (bench) => {
      await moveAll(
        bench,
        ({ dueAt: _, retried: __, ...one }, index): Item => ({
          ...{ ...one, ...changed, seq: 500 + index },
          early: index === 3,
        }),
        toItems,
        () => bench.items(2),
      );
      expect(await bench.sources(2, ["", "old", "öld", "new 1", "new 3"])).toEqual([
        "new 1",
        "new 3",
      ]);
      expect(seqsOf((await bench.early()).found)).toEqual([503]);
    });

    rule(`move: from ${from} to scheduled, with every field`, async (bench) => {
      await moveAll(
        bench,
        (one, index): ScheduledItem => ({
          ...{ ...one, ...changed, seq: 500 + index },
          ...{ dueAt: 60 + index, retried: index % 2 === 0 },
        }),
        toScheduled,
        () => bench.scheduled(2),
      );
      expect(await bench.sources(2, ["old", "new 1", "new 3"])).toEqual(["new 1", "new 3"]);
      expect(seqsOf((await bench.waking(63)).found)).toEqual([500, 501, 502, 503]);
    });

    rule(`move: from ${from} to the outbox, with every field`, async (bench) => {
      await moveAll(
        bench,
        ({ dueAt: _, retried: __, ...one }, index): OutboundItem => ({
          ...{ ...one, ...changed, slot: 1, early: index === 2 },
          ...{ outboundSeq: 700 + index, targetShard: 3, targetOwner: 5 + index },
        }),
        toOutbox,
        () => bench.outbound(3),
      );
    });

    rule(`move: from ${from} to nowhere`, async (bench) => {
      const items = await write(bench, from);
      await bench.commit(leaving(items.map((one) => moveOf(one, null, from))));
      await bench.nowAndReopened(() => expectGone(bench));
    });
  }

  rule("move: to several destinations in one turn, each item to its own", async (bench) => {
    const [one, two, three, four, five] = alike(1, 1, 6);
    const later = scheduledItem(1, 6);
    await bench.commit({ insert: alike(1, 1, 6), schedule: [later] });
    if (!(one && two && three && four && five)) throw new Error("unreachable");
    const moves = [
      moveOf(five, toOutbox(outboundItem(9, { seq: 5 }))),
      moveOf(one, toItems(item(1, 7))),
      moveOf(later, toItems(item(1, 8)), "scheduled"),
      moveOf(two, null),
      moveOf(three, toScheduled(scheduledItem(1, 9))),
    ];
    await bench.commit(leaving(moves));
    await bench.nowAndReopened(async () => {
      expect(await bench.items(1)).toEqual([
        readOf(four),
        readOf(item(1, 7, { payload: "payload 1" })),
        readOf(item(1, 8, { payload: "payload 6" })),
      ]);
      expect(await bench.scheduled(1)).toEqual([
        readOf(scheduledItem(1, 9, { payload: "payload 3" })),
      ]);
      expect(await bench.outbound(2)).toEqual([
        readOf(outboundItem(9, { seq: 5, payload: "payload 5" })),
      ]);
    });
  });
}

function manyRules(rule: Rule): void {
  rule(
    "move: thousands at once, in any order, out of packs that others have left",
    async (bench) => {
      const below = seeded(6);
      const insert = alike(1, 0, 6_000).map((one) => ({
        ...one,
        kind: `kind ${below(3)}`,
        payload: new Uint8Array(below(300)).fill(one.seq),
      }));
      await bench.commit({ insert });
      const gone = numbers(0, 6_000).filter(() => below(7) === 0);
      await bench.commit({ remove: [{ slot: 1, seqs: gone }] });
      const left = insert.filter(({ seq }) => !gone.includes(seq));
      const turned = [...left.slice(2_000), ...left.slice(0, 2_000).toReversed()];
      const moved = turned.map((one, index) => ({
        ...{ ...one, slot: 2 + (index % 2), seq: index },
        attempts: 1,
      }));
      const moves = turned.map((one, index) => moveOf(one, toItems(moved[index] ?? one)));
      // Names items again that have left before, like a clear that removes a whole slot.
      await bench.commit({ ...leaving(moves), remove: [{ slot: 1, seqs: numbers(0, 6_000) }] });
      await bench.nowAndReopened(async () => {
        expect(await bench.items(1)).toEqual([]);
        for (const slot of [2, 3]) {
          const expected = moved.filter((one) => one.slot === slot).map(readOf);
          expect(await bench.items(slot)).toEqual(expected);
        }
      });
      const again = moved.filter(({ slot }) => slot === 2).map((one) => ({ ...one, slot: 4 }));
      await bench.commit(leaving(again.map((one) => moveOf({ ...one, slot: 2 }, toItems(one)))));
      await bench.nowAndReopened(async () => {
        expect(await bench.items(2)).toEqual([]);
        expect(await bench.items(4)).toEqual(again.map(readOf));
      });
    },
  );

  rule("past: neighbours keep their own, in reads, in marks and in moves", async (bench) => {
    const insert = alike(1, 0, 300).map((one, index) => ({
      ...one,
      past: index % 3 === 0 ? "" : `{"group":"é \u0000 ${index}","rank":${index}}`,
    }));
    await bench.commit({ insert });
    await bench.commit({ remove: [{ slot: 1, seqs: [0, 4, 5, 150, 299] }] });
    const left = insert.filter(({ seq }) => ![0, 4, 5, 150, 299].includes(seq));
    const span = { from: 0, before: 300 };
    await bench.nowAndReopened(async () => {
      expect(await bench.items(1)).toEqual(left.map(readOf));
      const { marks, picks } = await bench.read({
        marks: [{ name: "all", slot: 1, ...span, limit: all }],
        picks: [{ slot: 1, seqs: [3, 4, 7, 200] }],
      });
      expect(bare(marks.get("all")?.found ?? [])).toEqual(left.map(markOf));
      const picked = left.filter(({ seq }) => [3, 7, 200].includes(seq));
      expect(bare(picks.get(1)?.ready.values() ?? [])).toEqual(picked.map(markOf));
    });
    const moved = left.map((one) => ({ ...one, slot: 2, attempts: 1, past: `${one.past} again` }));
    await bench.commit(
      leaving(left.map((one, index) => moveOf(one, toItems(moved[index] ?? one)))),
    );
    await bench.nowAndReopened(async () => {
      expect(await bench.items(2)).toEqual(moved.map(readOf));
    });
  });

  rule("move: payloads of all sizes, megabytes of them in one turn", async (bench) => {
    const below = seeded(7);
    const sizes = [1, 1_500_000, 700_000, 700_000, 0, 3_000_000, 1, 1, 1_048_576, 16_385, 5];
    const payloads = sizes.map((size) => Uint8Array.from(numbers(0, size), () => below(256)));
    const insert = payloads.map((payload, seq) => item(1, seq, { payload }));
    const schedule = payloads.map((payload, seq) => scheduledItem(2, seq, { payload }));
    await bench.commit({ insert, schedule });
    const moves = [
      ...insert.map((one) => moveOf(one, toScheduled({ ...scheduledItem(1, one.seq), slot: 3 }))),
      ...schedule.map((one) => moveOf(one, toItems({ ...one, slot: 3 }), "scheduled")),
    ];
    await bench.commit(leaving(moves));
    await bench.nowAndReopened(async () => {
      const [items, scheduled] = [await bench.items(3), await bench.scheduled(3)];
      for (const found of [items, scheduled]) {
        expect(found.map(({ payload }) => payload)).toEqual(payloads);
      }
    });
  });
}
