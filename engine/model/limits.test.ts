import { expect, test } from "bun:test";
import { bounds } from "../../openapi/bounds.ts";
import { limits } from "./limits.ts";

test("limits: equal those of the contract", () => {
  const shared = Object.keys(limits).filter((name) => name in bounds);
  expect(shared).toContain("produceItemsMax");
  const pick = (from: object) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => shared.includes(name)));
  expect(pick(bounds)).toEqual(pick(limits));
});

test("limits: a slot and a seq fill the 63 bits of a SQLite key", () => {
  expect(limits.slotLast).toBe(limits.slotsMax * (limits.priorityMax + 1) - 1);
  const slots = BigInt(limits.slotLast + 1);
  expect(slots * (BigInt(limits.seqMax) + 1n)).toBeLessThanOrEqual(2n ** 63n);
  expect((slots + 10n) * (BigInt(limits.seqMax) + 1n)).toBeGreaterThan(2n ** 63n);
});

test("limits: each fits within those it depends on", () => {
  expect(limits.requestTimeoutMsMin).toBeLessThan(limits.requestTimeoutMsDefault);
  expect(limits.requestTimeoutMsDefault).toBeLessThanOrEqual(limits.requestTimeoutMsMax);
  const largestRequest = Math.max(
    limits.produceItemsMax,
    limits.leaseBatchMax,
    limits.completeIdsMax,
  );
  expect(largestRequest).toBeLessThanOrEqual(limits.turnWeightMax);
  expect(limits.partitionsMax).toBeLessThanOrEqual(limits.slotsMax);
  expect(limits.restartMsMin).toBeLessThan(limits.restartMsMax);
  expect(limits.waitingLeasesMax).toBeLessThanOrEqual(limits.shardBacklogMax);
});
