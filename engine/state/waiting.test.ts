import { expect, test } from "bun:test";
import { Line, type WaitingLease } from "./waiting.ts";

function setupLine() {
  const line = new Line();
  const lease = (arrival: number): WaitingLease => ({
    request: { queue: "q", clientId: String(arrival), batchSize: 1, requestTimeoutMs: 1_000 },
    key: undefined,
    since: 0,
    arrival,
    deadline: 2_000,
    settle: () => undefined,
    timer: null,
    hangUp: null,
    isSent: false,
    next: null,
    over: false,
  });
  return { line, lease };
}

test("join: the first to come is the first in the line", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 2, 3]) line.join(lease(arrival));
  expect([line.size, line.first()?.arrival]).toEqual([3, 1]);
});

test("join: one that comes back takes its old place", () => {
  const { line, lease } = setupLine();
  const leases = [1, 2, 3].map((arrival) => lease(arrival));
  for (const one of leases) line.join(one);
  const order: number[] = [];
  for (const one of leases.slice(0, 2)) line.leave(one);
  for (const one of leases.slice(0, 2).reverse()) line.join(one);
  for (let first = line.first(); first !== undefined; first = line.first()) {
    order.push(first.arrival);
    line.leave(first);
  }
  expect(order).toEqual([1, 2, 3]);
});

test("leave: one that is not in the line takes nobody else out of it", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 3]) line.join(lease(arrival));
  for (const arrival of [0, 1, 2, 4]) line.leave(lease(arrival));
  expect(line.clear().map(({ arrival }) => arrival)).toEqual([1, 3]);
});

test("clear: gives all in order and leaves none", () => {
  const { line, lease } = setupLine();
  for (const arrival of [1, 2]) line.join(lease(arrival));
  expect(line.clear().map(({ arrival }) => arrival)).toEqual([1, 2]);
  expect([line.size, line.first()]).toEqual([0, undefined]);
});
