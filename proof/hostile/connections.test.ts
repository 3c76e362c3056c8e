import { expect, test } from "bun:test";
import { tryCrowd, tryHalfClosed, trySlow, trySlowReaders } from "./connections.ts";
import { hostile } from "./hostile.ts";
import { openTarget } from "./target.ts";

const quick = process.env["HOLDFAST_QUICK"] === "1";
/** On a machine that does nothing else it is 100; a machine that is slow proves nothing. */
const canaryMsMax = 10_000;

test("connections: clients who leave or do not read hold nothing, and keep nobody waiting", async () => {
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
}, 180_000);

test.skipIf(quick)(
  "connections: clients who trickle are closed in time",
  async () => {
    await using target = await openTarget();
    const baseline = await target.holdings();
    const [{ faults, figures }] = await Promise.all([trySlow(target)]);
    expect(faults).toEqual([]);
    expect(figures["slowClients"]).toBe(7);
    expect(await target.settled(baseline)).toEqual([]);
  },
  180_000,
);

test.skipIf(quick)(
  "hostile: one call does all of it and returns figures without faults",
  async () => {
    const lines: string[] = [];
    const say = (line: string) => void lines.push(line);
    const { figures, faults } = await hostile({ bodies: 250, rawRequests: 500, seed: 2, say });
    expect(faults).toEqual([]);
    expect(figures).toMatchObject({ bodies: 250, rawRequests: 500, slowClients: 7, crowd: 1_000 });
    expect(lines).not.toEqual([]);
  },
  300_000,
);
