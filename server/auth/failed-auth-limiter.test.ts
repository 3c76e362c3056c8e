import { expect, test } from "bun:test";
import { FailedAuthLimiter, failedAuthLimits, networkOf } from "./failed-auth-limiter.ts";

const { countMax, windowMs, addressesMax } = failedAuthLimits;

function setup() {
  let time = 0;
  const failures = new FailedAuthLimiter(() => time);
  return {
    failures,
    pass: (ms: number) => {
      time += ms;
    },
    fail: (address: string, times: number) =>
      Array.from({ length: times }, () => failures.add(address)).at(-1),
  };
}

test("failed-auth limiter: after the allowed number, an address waits until its window ends", () => {
  const { fail, pass } = setup();
  expect(fail("a", countMax)).toEqual({ waitMs: 0, isFirstTooMany: false });
  pass(1_000);
  expect(fail("a", 1)).toEqual({ waitMs: windowMs - 1_000, isFirstTooMany: true });
  expect(fail("a", 1)).toEqual({ waitMs: windowMs - 1_000, isFirstTooMany: false });
  expect(fail("b", 1)).toEqual({ waitMs: 0, isFirstTooMany: false });
  pass(windowMs - 1_000);
  expect(fail("a", 1)).toEqual({ waitMs: 0, isFirstTooMany: false });
});

test("failed-auth limiter: each thread allows its share", () => {
  const failures = new FailedAuthLimiter(() => 0, 3);
  const added = Array.from({ length: 8 }, () => failures.add("a").isFirstTooMany);
  expect(added.indexOf(true)).toBe(Math.ceil(countMax / 3));
});

test("failed-auth limiter: the table is bounded, and the oldest window is evicted", () => {
  const { failures, fail } = setup();
  fail("first", countMax + 1);
  for (let index = 0; index < addressesMax - 1; index += 1) failures.add(`other ${index}`);
  expect(failures.addressCount).toBe(addressesMax);
  expect(fail("first", 1)?.waitMs).toBe(windowMs);
  failures.add("one more");
  expect(failures.addressCount).toBe(addressesMax);
  expect(fail("first", 1)?.waitMs).toBe(0);
});

test.each([
  ["10.1.2.3", "10.1.2.3"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"],
  ["2001:0db8::1", "2001:db8:0:0::/64"],
  ["2001:db8::ffff:1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["unknown", "unknown"],
])("networkOf: %s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
