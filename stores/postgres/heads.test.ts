import { expect, test } from "bun:test";
import fc from "fast-check";
import { item, nothing } from "../conformance/values.ts";
import type { Changes, Span } from "../store.ts";
import { Heads } from "./heads.ts";

const bytesMax = 1_000_000;
const limit = { items: 100, payloadBytes: bytesMax };
const span = (from: number, before: number): Span => ({ slot: 1, from, before });
const read = (seq: number) => ({ ...item(1, seq), damaged: false });

function seqs(heads: Heads, of: Span, items = limit.items): readonly number[] | null {
  return heads.first(of, { ...limit, items })?.found.map(({ seq }) => seq) ?? null;
}

function commit(heads: Heads, changes: Partial<Changes>): void {
  heads.committed({ ...nothing, turn: { turn: 1, at: 1, tag: "" }, ...changes });
}

test("heads: written items are cached up to the end", () => {
  const heads = new Heads(bytesMax);
  commit(heads, { insert: [item(1, 5), item(1, 6)] });
  commit(heads, { insert: [item(1, 7)] });
  expect(seqs(heads, span(5, 8))).toEqual([5, 6, 7]);
  expect(seqs(heads, span(4, 8))).toBeNull();
  expect(seqs(heads, span(5, 9))).toBeNull();
  expect(seqs(heads, span(5, 9), 2)).toEqual([5, 6]);
});

test("heads: removed items are not returned", () => {
  const heads = new Heads(bytesMax);
  commit(heads, { insert: [5, 6, 7].map((seq) => item(1, seq)) });
  commit(heads, { remove: [{ slot: 1, seqs: [5] }], quarantine: [{ slot: 1, seqs: [7] }] });
  expect(seqs(heads, span(5, 8))).toEqual([6]);
});

test("heads: the cache ends before items that moved into a partition", () => {
  const heads = new Heads(bytesMax);
  commit(heads, { insert: [item(1, 5)] });
  const to = { into: "items", item: { ...item(1, 6), sourceId: null } } as const;
  commit(heads, { move: [{ slot: 2, seq: 1, from: "items", to }], insert: [item(1, 7)] });
  expect(seqs(heads, span(5, 8))).toBeNull();
  expect(heads.endOf(span(5, 8))).toBe(6);
  heads.add(span(5, 8), [read(6), read(7)]);
  expect(seqs(heads, span(5, 8))).toEqual([5, 6, 7]);
});

test("heads: a partition whose head moved back is read again", () => {
  const heads = new Heads(bytesMax);
  heads.add(span(1, 10), [read(3), read(8)]);
  expect(seqs(heads, span(4, 10))).toEqual([8]);
  expect(seqs(heads, span(1, 10))).toBeNull();
});

test("heads: memory is bounded", () => {
  const heads = new Heads(2_000);
  commit(heads, { insert: Array.from({ length: 100 }, (_, index) => item(1, 1 + index)) });
  expect(heads.endOf(span(1, 101))).toBeLessThan(10);
  heads.add({ slot: 2, from: 1, before: 51 }, [{ ...read(1), slot: 2 }]);
  heads.add(
    { slot: 3, from: 1, before: 51 },
    Array.from({ length: 50 }, (_, index) => ({ ...read(1 + index), slot: 3 })),
  );
  heads.trim();
  expect(heads.endOf({ slot: 2, from: 1, before: 51 })).toBe(1);
  expect(heads.endOf({ slot: 3, from: 1, before: 51 })).toBe(51);
});

test("heads: after random changes the cache equals the store", () => {
  const step = fc.record({
    kind: fc.constantFrom("write", "write", "move in", "take", "pass", "read"),
    count: fc.integer({ min: 1, max: 4 }),
    skipped: fc.constantFrom(0, 0, 0, 1),
    pick: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heads = new Heads(4_000);
      let stored: number[] = [];
      let next = 1;
      let head = 1;
      for (const { kind, count, skipped, pick } of steps) {
        const numbers = Array.from({ length: count }, (_, index) => next + skipped + index);
        const gone = stored.filter((_, index) => (index + pick) % 3 === 0);
        if (kind === "write" || kind === "move in") {
          stored.push(...numbers);
          next += skipped + count;
          const item0 = { ...item(1, numbers[0] ?? 0), sourceId: null };
          const move = {
            slot: 2,
            seq: 1,
            from: "items",
            to: { into: "items", item: item0 },
          } as const;
          const [written, moved] = kind === "write" ? [numbers, []] : [numbers.slice(1), [move]];
          commit(heads, { insert: written.map((seq) => item(1, seq)), move: moved });
        } else if (kind === "take") {
          stored = stored.filter((seq) => !gone.includes(seq));
          commit(heads, { remove: [{ slot: 1, seqs: gone }] });
        } else if (kind === "pass") {
          head = Math.min(next, head + count);
        } else {
          const from = heads.endOf(span(head, next));
          heads.add(span(from, next), stored.filter((seq) => seq >= from).map(read));
          heads.trim();
        }
        const found = seqs(heads, span(head, next), count);
        const there = stored.filter((seq) => seq >= head).slice(0, count);
        if (found !== null) expect(found).toEqual(there);
      }
    }),
    { numRuns: 500 },
  );
});
