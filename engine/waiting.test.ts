import { expect, test } from "bun:test";
import { VirtualClock } from "./simulation/virtual-clock.ts";
import { Line, type WaitingLease } from "./waiting.ts";

function setupLine() {
  const clock = new VirtualClock(1_000);
  const line = new Line(clock);
  const lease = (arrival: number, deadline = 2_000): WaitingLease => ({
    request: { queue: "q", clientId: String(arrival), batchSize: 1, requestTimeoutMs: 1_000 },
    key: undefined,
    since: 0,
    arrival,
    deadline,
    settle: () => undefined,
    timer: null,
    hangUp: null,
    isSent: false,
    next: null,
    over: false,
  });
  return { clock, line, lease };
}

const nobody = (): void => undefined;

test("join: the first to come is the first in the line", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 2, 3]) line.join(lease(arrival), nobody);
  expect([line.size, line.first()?.arrival]).toEqual([3, 1]);
});

test("join: one that comes back takes its old place", () => {
  const { line, lease } = setupLine();
  const leases = [1, 2, 3].map((arrival) => lease(arrival));
  for (const one of leases) line.join(one, nobody);
  const order: number[] = [];
  for (const one of leases.slice(0, 2)) line.leave(one);
  for (const one of leases.slice(0, 2).reverse()) line.join(one, nobody);
  for (let first = line.first(); first !== undefined; first = line.first()) {
    order.push(first.arrival);
    line.leave(first);
  }
  expect(order).toEqual([1, 2, 3]);
});

test("join: the deadline is kept through leaving and coming back, and counts once", async () => {
  const { clock, line, lease } = setupLine();
  const expired: number[] = [];
  const one = lease(1);
  for (let round = 0; round < 3; round += 1) {
    line.join(one, ({ arrival }) => expired.push(arrival));
    line.leave(one);
  }
  line.join(one, ({ arrival }) => expired.push(arrival));
  await clock.advance(999);
  expect(expired).toEqual([]);
  await clock.advance(1);
  await clock.advance(5_000);
  expect(expired).toEqual([1]);
});

test("leave: one that is not in the line takes nobody else out of it", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 3]) line.join(lease(arrival), nobody);
  for (const arrival of [0, 1, 2, 4]) line.leave(lease(arrival));
  expect(line.clear().map(({ arrival }) => arrival)).toEqual([1, 3]);
});

test("clear: gives all in order and leaves none", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 2]) line.join(lease(arrival), nobody);
  expect(line.clear().map(({ arrival }) => arrival)).toEqual([1, 2]);
  expect([line.size, line.first()]).toEqual([0, undefined]);
});
