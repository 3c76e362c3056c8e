import { expect, test } from "bun:test";
import { effects, tryEffects } from "./effects.ts";
import { openTarget } from "./target.ts";

test("effects: a produce is written if and only if it is answered 200, whatever follows it on the wire", async () => {
  await using target = await openTarget();
  const { figures, faults } = await tryEffects(target);
  expect(faults).toEqual([]);
  expect(figures["effects"]).toBe(3 * Object.keys(effects).length);
});
