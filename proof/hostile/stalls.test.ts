import { expect, test } from "bun:test";
import { tryStalls } from "./stalls.ts";
import { openTarget } from "./target.ts";

test("stalls: an expensive body delays no other request, and leaves nothing behind", async () => {
  await using target = await openTarget();
  for (let round = 0; round < 20; round += 1) await target.canary();
  const { figures, faults } = await tryStalls(target);
  expect(faults).toEqual([]);
  expect(figures["stalls"]).toBeGreaterThan(15);
});
