import { expect, test } from "bun:test";
import type { ScheduledItem } from "../../stores/item.ts";
import { never } from "./duration.ts";
import { expireDeadlineOf, hasExpired, lapse, reject, release, retry, wake } from "./lifecycle.ts";

const rules = { leaseTimeoutMs: 10, expireTimeoutMs: 100, maxAttempts: 0 };
const now = 1_000;
const fresh = { attempts: 0, expireDeadline: now + 1 };

test.each([
  { attempts: 0, maxAttempts: 0, to: "queue" },
  { attempts: 99, maxAttempts: 0, to: "queue" },
  { attempts: 0, maxAttempts: 2, to: "queue" },
  { attempts: 0, maxAttempts: 1, to: "dead" },
  { attempts: 1, maxAttempts: 2, to: "dead" },
  { attempts: 5, maxAttempts: 2, to: "dead" },
])(
  "lapse, retry: lease $attempts + 1 of $maxAttempts goes to $to",
  ({ to, attempts, maxAttempts }) => {
    const item = { ...fresh, attempts };
    const bounded = { ...rules, maxAttempts };
    for (const fate of [lapse(item, bounded, now), retry(item, bounded, now, null)]) {
      expect(fate).toEqual(
        to === "dead"
          ? { to: "dead", death: "failed", attempts: attempts + 1 }
          : { to: "queue", attempts: attempts + 1 },
      );
    }
  },
);

test.each([
  { retryAt: null, fate: { to: "queue", attempts: 1 } },
  { retryAt: now - 1, fate: { to: "queue", attempts: 1 } },
  { retryAt: now, fate: { to: "queue", attempts: 1 } },
  { retryAt: now + 1, fate: { to: "schedule", attempts: 1, dueAt: now + 1 } },
] as const)("retry: at $retryAt becomes $fate.to", ({ retryAt, fate }) => {
  expect(retry(fresh, rules, now, retryAt)).toEqual(fate);
});

test.each([
  { expireDeadline: now - 1, expired: true },
  { expireDeadline: now, expired: true },
  { expireDeadline: now + 1, expired: false },
])("expire: deadline $expireDeadline at 1000 is past: $expired", ({ expireDeadline, expired }) => {
  const item = { attempts: 3, expireDeadline };
  const held = { to: "dead", death: "expired", attempts: 4 } as const;
  const waiting = { ...held, attempts: 3 } as const;
  expect(hasExpired(item, now)).toBe(expired);
  expect(lapse(item, rules, now)).toEqual(expired ? held : { to: "queue", attempts: 4 });
  expect(retry(item, rules, now, null)).toEqual(expired ? held : { to: "queue", attempts: 4 });
  expect(release(item, now)).toEqual(expired ? waiting : { to: "queue", attempts: 3 });
  expect(wake(item as ScheduledItem, now)).toEqual(
    expired ? waiting : { to: "queue", attempts: 3 },
  );
});

test("expire: `never` is the last instant that can be written, from any start", () => {
  expect(expireDeadlineOf(rules, now)).toBe(now + 100);
  for (const availableAt of [0, now, never]) {
    expect(expireDeadlineOf({ expireTimeoutMs: never }, availableAt)).toBe(
      Date.UTC(9999, 11, 31, 23, 59, 59, 999),
    );
  }
});

test("lapse: an item that failed and expired counts as failed", () => {
  const item = { attempts: 0, expireDeadline: now };
  const fate = lapse(item, { ...rules, maxAttempts: 1 }, now);
  expect(fate).toEqual({ to: "dead", death: "failed", attempts: 1 });
});

test("reject: sends an item to the dead queue whatever attempts remain", () => {
  expect(reject({ attempts: 2 })).toEqual({ to: "dead", death: "rejected", attempts: 3 });
});

test("expireDeadlineOf: counts from when the item becomes available", () => {
  expect(expireDeadlineOf(rules, now)).toBe(now + 100);
});
