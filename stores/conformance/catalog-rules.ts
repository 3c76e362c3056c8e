// Rules of what keeps the definitions of queues.

import { expect } from "bun:test";
import type { CatalogEntry, PartitionPlace } from "../queue.ts";
import type { Rule } from "./bench.ts";
import { byKey, entry, item, numbers, slotMax } from "./values.ts";

export function catalogRules(rule: Rule): void {
  rule("catalog: a new one has version 0 and no entries", async (bench) => {
    await bench.nowAndReopened(async () => {
      expect(await bench.backend.catalog.load()).toEqual({ version: 0, entries: [] });
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
      const put: CatalogEntry[] = [
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
            leasedMax: 2 ** 31 - 1,
            leaseRate: "100/1s",
            uniqueForMs: 86_400_000,
            uniqueForText: "1d",
            pause: { lease: true, produce: false, reason: "переезд\n" },
          },
        },
        entry(Number.MAX_SAFE_INTEGER, "x".repeat(512)),
      ];
      expect(await bench.backend.catalog.write({ version: 1, put, remove: [] })).toBe(true);
      await bench.nowAndReopened(async () => {
        const { version, entries } = await bench.backend.catalog.load();
        expect({ version, entries: byKey(entries, "queueId") }).toEqual({
          version: 1,
          entries: put,
        });
      });
    },
  );

  rule("catalog: entries are replaced and removed by queueId", async (bench) => {
    const put = [entry(1, "old"), entry(2, "gone"), entry(3, "same")];
    await bench.backend.catalog.write({ version: 1, put, remove: [] });
    await bench.backend.catalog.write({ version: 2, put: [entry(1, "new")], remove: [2, 9] });
    await bench.nowAndReopened(async () => {
      const { entries } = await bench.backend.catalog.load();
      expect(byKey(entries, "queueId")).toEqual([entry(1, "new"), entry(3, "same")]);
    });
  });

  rule("catalog: a change that was planned on another version changes nothing", async (bench) => {
    const write = (version: number, name: string): Promise<boolean> =>
      bench.backend.catalog.write({ version, put: [entry(version, name)], remove: [version - 1] });
    const refuse = async (...versions: readonly number[]): Promise<void> => {
      const was = await bench.backend.catalog.load();
      for (const version of versions) expect(await write(version, "refused")).toBe(false);
      expect(await bench.backend.catalog.load()).toEqual(was);
    };
    await bench.nowAndReopened(() => refuse(0, 2));
    expect(await write(1, "first")).toBe(true);
    await bench.nowAndReopened(() => refuse(0, 1, 3));
    expect(await write(2, "second")).toBe(true);
    await bench.nowAndReopened(() => refuse(1, 2, 4));
    const entries = [entry(2, "second")];
    expect(await bench.backend.catalog.load()).toEqual({ version: 2, entries });
  });

  rule("catalog: turns leave it alone, and it them", async (bench) => {
    await bench.commit({ insert: [item(1, 1)] });
    const { catalog: _, ...items } = await bench.contents();
    await bench.backend.catalog.write({ version: 1, put: [entry(1, "a")], remove: [] });
    expect(await bench.contents()).toEqual({
      ...items,
      catalog: { version: 1, entries: [entry(1, "a")] },
    });
    await bench.commit({ remove: [{ slot: 1, seqs: [1] }] });
    await bench.nowAndReopened(async () => {
      const { catalog, items } = await bench.contents();
      expect({ catalog, items }).toEqual({
        catalog: { version: 1, entries: [entry(1, "a")] },
        items: [],
      });
    });
  });
}
