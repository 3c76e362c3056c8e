// Bounds that apply per shard.

import { expect, test } from "bun:test";
import { setup } from "./simulation/bundle.ts";

test("lease: a queue of a server with four shards may have as many waiting leases as with one", async () => {
  for (const shardCount of [1, 4]) {
    const bundle = await setup({ shardCount, waitingLeasesMax: 8 });
    await bundle.createQueue({ name: "orders" });
    const waiting = [];
    for (let count = 0; count < 8; count += 1) waiting.push(await bundle.beginLease("orders"));
    expect([shardCount, waiting.filter(({ ending }) => ending === null).length]).toEqual([
      shardCount,
      8,
    ]);
  }
});
