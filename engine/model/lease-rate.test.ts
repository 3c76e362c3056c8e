import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseRate, RateWindow } from "./lease-rate.ts";
import { limits } from "./limits.ts";

const hour = 3_600_000;

test.each([
  ["100/1s", { items: 100, intervalMs: 1_000 }],
  ["1/24h", { items: 1, intervalMs: 24 * hour }],
  ["2147483647/1ms", { items: 2_147_483_647, intervalMs: 1 }],
  ["5/1m30s", { items: 5, intervalMs: 90_000 }],
])("parseRate: %s", (text, rate) => {
  expect(parseRate(text)).toEqual(rate);
});

test.each([
  ...["", "100", "/1s", "100/", "100/s", "0/1s", "-1/1s", "1.5/1s", "1e3/1s", " 1/1s", "1/1s "],
  ...["1/0s", "1/-1s", "1/8785h", "2147483648/1s", "1/367d", "1/1s/1s", "1/1000000000000000s"],
])("parseRate: '%s' is not a rate", (text) => {
  expect(parseRate(text)).toBe(null);
});

test("left: grants count for an interval, to the millisecond if it is short", () => {
  const window = new RateWindow({ items: 3, intervalMs: 1_000 });
  expect([window.left(0), window.moreAt]).toEqual([3, null]);
  window.spend(2, 0);
  window.spend(1, 400);
  expect([window.left(400), window.moreAt]).toEqual([0, 1_000]);
  expect(window.left(999)).toBe(0);
  expect([window.left(1_000), window.moreAt]).toEqual([2, 1_400]);
  expect([window.left(1_400), window.moreAt]).toEqual([3, null]);
});

/** Consumers that arrive after a while, each for some items. */
const takers = fc.array(
  fc.record({ afterMs: fc.nat(500), wanted: fc.integer({ min: 1, max: 9 }) }),
  {
    maxLength: 60,
  },
);

test.each([1, 10, 999, 1_000, 1_001, 2_500, hour])(
  "spend: no interval of %i ms exceeds the rate, and all is available again at most one grain late",
  (intervalMs) => {
    fc.assert(
      fc.property(takers, fc.integer({ min: 1, max: 12 }), (all, items) => {
        const window = new RateWindow({ items, intervalMs });
        const grants: { at: number; count: number }[] = [];
        let now = 0;
        for (const { afterMs, wanted } of all) {
          now += Math.ceil((afterMs * intervalMs) / 1_000);
          const count = Math.min(wanted, window.left(now));
          window.spend(count, now);
          grants.push({ at: now, count });
          const within = grants.filter(({ at }) => at > now - intervalMs);
          expect(within.reduce((sum, grant) => sum + grant.count, 0)).toBeLessThanOrEqual(items);
        }
        const grainMs = Math.ceil(intervalMs / limits.leaseRateGrains);
        expect(window.left(now + intervalMs + grainMs)).toBe(items);
      }),
      { numRuns: 1_000, seed: 1 },
    );
  },
);

test("spend: memory is bounded by the grains of an interval", () => {
  const window = new RateWindow({ items: 1_000_000, intervalMs: hour });
  const seen = new Set<number | null>();
  for (let at = 0; at < hour; at += 200) window.spend(1, at);
  for (let now = hour; window.left(now) < 1_000_000; now = window.moreAt ?? now) {
    seen.add(window.moreAt);
  }
  expect(seen.size).toBeLessThanOrEqual(limits.leaseRateGrains + 1);
});
