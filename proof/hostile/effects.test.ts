import { expect, test } from "bun:test";
import { effects, tryEffects } from "./effects.ts";
import { openTarget } from "./target.ts";

test("effects: whatever follows a produce on the wire, it is written if and only if it is answered 200", async () => {
  await using target = await openTarget();
  const { figures, faults } = await tryEffects(target);
  expect(faults).toEqual([]);
  expect(figures["effects"]).toBe(3 * Object.keys(effects).length);
});
