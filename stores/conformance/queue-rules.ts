// Rules for the definitions of queues, which turns change together with the items.

import { expect } from "bun:test";
import type { CatalogEntry, PartitionPlace } from "../queue.ts";
import type { Rule } from "./bench.ts";
import { entry, item, numbers, readOf, slotMax } from "./values.ts";

export function queueRules(rule: Rule): void {
  rule("queue: returned completely, with names of any script and 10,000 places", async (bench) => {
    const places = numbers(0, 10_000).map(
      (partition): PartitionPlace => ({
        partition,
        slot: slotMax - partition,
        state: partition % 3 === 0 ? "draining" : "active",
      }),
    );
    const whole = entry(2, "очередь-队列-ñ-\u{1f600}-'\"\\", places);
    const queue: CatalogEntry[] = [
      entry(1, "plain"),
      {
        ...whole,
        deadOwner: Number.MAX_SAFE_INTEGER,
        deleting: true,
        definition: {
          ...whole.definition,
          deadQueue: "ファイル",
          reference: "line\nbreak, tab\t, \u0000 and \u2028",
          maxAttempts: 65_536,
          expireTimeoutMs: 366 * 24 * 3_600_000,
          leasedMax: 2 ** 31 - 1,
          waitingMax: 2 ** 31 - 1,
          retryBackoff: "1s..5m",
          leaseRate: "100/1s",
          uniqueForMs: 86_400_000,
          uniqueForText: "1d",
          pause: { lease: true, produce: false, reason: "переезд\n" },
        },
      },
      entry(Number.MAX_SAFE_INTEGER, "x".repeat(512)),
    ];
    await bench.commit({ queue });
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).queues).toEqual(queue);
    });
  });

  rule("queue: replaced and removed by queueId, in the order of queueIds", async (bench) => {
    await bench.commit({ queue: [entry(30, "old"), entry(4, "gone"), entry(200, "same")] });
    await bench.commit({ queue: [entry(30, "new"), entry(1, "added")], unqueue: [4, 9] });
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).queues).toEqual([
        entry(1, "added"),
        entry(30, "new"),
        entry(200, "same"),
      ]);
    });
    await bench.commit({ unqueue: [1, 30, 200] });
    await bench.nowAndReopened(async () => {
      expect((await bench.store.load()).queues).toEqual([]);
    });
  });

  rule(
    "queue: changes of the entry object after the commit, or after loading, have no effect",
    async (bench) => {
      const place: PartitionPlace = { partition: 0, slot: 2, state: "active" };
      const given = entry(1, "a", [place]);
      await bench.commit({ queue: [given] });
      Object.assign(given.definition, { name: "b" });
      const [loaded] = (await bench.store.load()).queues;
      Object.assign(loaded?.places[0] ?? {}, { state: "draining" });
      expect((await bench.store.load()).queues).toEqual([entry(1, "a", [place])]);
    },
  );

  rule(
    "queue: a turn without queue changes leaves queues alone, and one with them leaves items alone",
    async (bench) => {
      await bench.commit({ insert: [item(1, 1), item(1, 2)] });
      await bench.commit({ queue: [entry(1, "a")] });
      await bench.commit({ remove: [{ slot: 1, seqs: [1] }] });
      await bench.nowAndReopened(async () => {
        const { image, items } = await bench.contents();
        expect({ queues: image.queues, items }).toEqual({
          queues: [entry(1, "a")],
          items: [readOf(item(1, 2))],
        });
      });
    },
  );

  rule("queue: a failed commit stores none, and removes none", async (bench) => {
    await bench.commit({ insert: [item(0, 1)], queue: [entry(1, "a"), entry(2, "b")] });
    const refused = bench.commit({
      insert: [item(0, 2), item(0, 1)],
      queue: [entry(1, "changed"), entry(3, "c")],
      unqueue: [2],
    });
    await expect(refused).rejects.toThrow();
    await bench.reopen();
    const { image, items } = await bench.contents();
    expect({ queues: image.queues, items }).toEqual({
      queues: [entry(1, "a"), entry(2, "b")],
      items: [readOf(item(0, 1))],
    });
  });
}
