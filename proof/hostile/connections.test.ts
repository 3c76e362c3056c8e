// Clients that send slowly take half a minute until they are closed: `bun run proof` covers them.

import { expect, test } from "bun:test";
import { tryCrowd, tryHalfClosed, trySlowReaders, tryStalledUploads } from "./connections.ts";
import { openTarget } from "./target.ts";

/**
 * Bound for the canary's calls, shorter than the time for which the slow readers do not read. On an
 * otherwise idle machine they take 100 ms; a slow or stalled machine proves nothing.
 */
const canaryMsMax = 60_000;

test("connections: clients that leave or do not read hold nothing and delay no other client", async () => {
  await using target = await openTarget();
  for (let round = 0; round < 20; round += 1) await target.canary();
  const baseline = await target.holdings();
  for (const run of [tryHalfClosed, trySlowReaders, tryCrowd]) {
    const { figures, faults } = await run(target);
    expect(faults).toEqual([]);
    for (const [name, value] of Object.entries(figures)) {
      if (name.includes("CanaryMs")) expect(value).toBeLessThan(canaryMsMax);
    }
  }
  expect(await target.settled(baseline)).toEqual([]);
});

test("connections: stalled uploads block no other call", async () => {
  const bodiesMax = 20_000_000;
  await using target = await openTarget(["--bodies-max", String(bodiesMax)]);
  const { faults } = await tryStalledUploads(target, bodiesMax);
  expect(faults).toEqual([]);
});
