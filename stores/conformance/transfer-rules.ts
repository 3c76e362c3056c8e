// Rules for the reads and writes that only a reshard needs.

import { expect } from "bun:test";
import type { Quarantined } from "../transfer.ts";
import type { Bench, Rule } from "./bench.ts";
import { all, item, outboundItem, readOf, scheduledItem, seqMax, slotMax } from "./values.ts";

const one = { items: 1, payloadBytes: 2 ** 40 };

async function quarantinedIn({ backend }: Bench, limit: number): Promise<Quarantined[]> {
  const items: Quarantined[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { found, next } = await backend.transfer.quarantined(after, limit);
    expect(found.length).toBeLessThanOrEqual(limit);
    items.push(...found);
    after = next;
  }
  return items;
}

export function transferRules(rule: Rule): void {
  rule(
    "transfer: outbound items of all targets are returned in order, page by page",
    async (bench) => {
      const send = [1, 4, 5, 900].map((seq) =>
        outboundItem(seq, { targetShard: seq % 3, payload: `payload ${seq}`, past: "{}" }),
      );
      await bench.commit({ send });
      await bench.nowAndReopened(async () => {
        const { transfer } = bench.backend;
        expect(await transfer.outbound(0, all)).toEqual(send.map(readOf));
        expect(await transfer.outbound(1, one)).toEqual(send.slice(1, 2).map(readOf));
        expect(await transfer.outbound(3, { items: 10, payloadBytes: 10 })).toEqual(
          send.slice(1, 3).map(readOf),
        );
        expect(await transfer.outbound(900, all)).toEqual([]);
      });
    },
  );

  rule(
    "transfer: unique keys are returned in the order of their items, page by page",
    async (bench) => {
      const unique = [
        { slot: 0, seq: 0, digest: "f".repeat(32), until: 7 },
        { slot: 1, seq: 2, digest: "a".repeat(32), until: 900 },
        { slot: 1, seq: 3, digest: "0".repeat(32), until: 8 },
        { slot: slotMax, seq: seqMax, digest: "b".repeat(32), until: 1 },
      ];
      await bench.commit({ unique: unique.toReversed() });
      await bench.nowAndReopened(async () => {
        const { transfer } = bench.backend;
        const before = { slot: 0, seq: -1 };
        expect(await transfer.uniques(before, 9)).toEqual({ found: unique, next: null });
        const first = await transfer.uniques(before, 2);
        expect(first.found).toEqual(unique.slice(0, 2));
        expect(await transfer.uniques(first.next ?? before, 9)).toMatchObject({
          found: unique.slice(2),
          next: null,
        });
      });
    },
  );

  rule("transfer: quarantined items can be quarantined again, unchanged", async (bench) => {
    const payload = Uint8Array.of(0, 1, 255);
    const texts = { kind: "k", sourceId: "s", past: "{}", headers: '{"a":"b"}' };
    await bench.commit({
      insert: [item(1, 1, { payload, ...texts })],
      schedule: [scheduledItem(2, 1, { payload })],
      send: [outboundItem(3, { payload })],
    });
    const quarantine = [1, 2].map((slot) => ({ slot, seqs: [1] }));
    await bench.commit({ quarantine, quarantineOutbound: [3] });
    const before = await quarantinedIn(bench, 2);
    expect(before.map(({ slot }) => slot).toSorted()).toEqual([1, 1, 2]);
    for (const one of before) expect(one.payload).toEqual(payload);
    const made = { slot: 7, seq: 9, columns: JSON.stringify({ kind: "k" }), payload };
    await bench.backend.transfer.quarantine([...before.map((row) => ({ ...row, slot: 5 })), made]);
    await bench.nowAndReopened(async () => {
      const after = await quarantinedIn(bench, 2);
      expect(after.slice(0, 3)).toEqual(before);
      expect(after.slice(3, 6).map((row) => row.payload)).toEqual([payload, payload, payload]);
      expect(after.slice(3).map(({ slot }) => slot)).toEqual([5, 5, 5, 7]);
      expect((await bench.store.load()).quarantinedCount).toBe(7);
    });
  });
}
