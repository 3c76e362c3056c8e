import { expect, test } from "bun:test";
import { initialSimulation, type SimEvent, step } from "./model.ts";
import { partitionOf, type Simulation, waitingMax } from "./queue.ts";

const empty: Simulation = {
  ...initialSimulation,
  now: 0,
  automatic: false,
  ready: [],
  holds: [],
  log: [],
  nextId: 1,
  producedCount: 0,
  consumers: initialSimulation.consumers.map((consumer) => ({ ...consumer, work: null })),
};

function run(events: readonly SimEvent[], from = empty): Simulation {
  return events.reduce(step, from);
}

const one = "worker-1";
const two = "worker-2";
const produce = (count = 1): SimEvent => ({ kind: "produce", count });
const tick = (ms: number): SimEvent => ({ kind: "tick", ms });
const lease = (consumer: string): SimEvent => ({ kind: "lease", consumer });
const complete = (consumer: string): SimEvent => ({ kind: "complete", consumer });

function codes({ log }: Simulation): (number | null)[] {
  return log.map(({ code }) => code).reverse();
}

test("lease: an item has one holder, and keeps its position in the partition", () => {
  const state = run([produce(2), lease(one), lease(two), lease(one)]);
  expect(state.holds.map(({ item, consumer }) => [item.label, consumer])).toEqual([
    ["a", one],
    ["b", two],
  ]);
  expect(partitionOf(state).map(({ item }) => item.id)).toEqual([1, 2]);
});

test("lease: waiting leases are served in order of arrival", () => {
  const state = run([lease(two), lease(one), produce(1)]);
  expect(state.holds.map(({ consumer }) => consumer)).toEqual([two]);
  expect(state.line).toEqual([one]);
});

test("lease: 454 if no item arrives in time", () => {
  const state = run([lease(one), tick(10_000)]);
  expect(codes(state)).toEqual([454]);
  expect(state.line).toEqual([]);
});

test("complete: removes the item", () => {
  const state = run([produce(), lease(one), complete(one)]);
  expect(state.completed).toEqual(["a"]);
  expect(partitionOf(state)).toEqual([]);
  expect(codes(state)).toEqual([200, 200, 200]);
});

test("lapse: the item is at the tail under a new id, with one more attempt", () => {
  const state = run([produce(2), lease(one), tick(6_000)]);
  expect(state.ready.map(({ label, id, attempts }) => [label, id, attempts])).toEqual([
    ["b", 2, 0],
    ["a", 3, 1],
  ]);
});

test("complete: a late one is refused with 453, also while a new holder has the item", () => {
  const late = run([produce(), lease(one), tick(6_000), lease(two), complete(one)]);
  expect(late.log[0]).toMatchObject({ who: "worker-1 complete", code: 453 });
  expect(late.completed).toEqual([]);
  expect(step(late, complete(two)).completed).toEqual(["a"]);
});

test("complete: accepted just before the deadline, refused at the deadline", () => {
  const leased = run([produce(), lease(one)]);
  expect(run([tick(5_999), complete(one)], leased).log[0]?.code).toBe(200);
  expect(run([tick(6_000), complete(one)], leased).log[0]?.code).toBe(453);
});

test("max_attempts: the last lapse sends the item to the dead queue, once", () => {
  const round = [lease(one), tick(6_000), complete(one)];
  const state = run([produce(), ...round, ...round, ...round, ...round]);
  expect(state.dead.map(({ label, death }) => [label, death])).toEqual([["a", "failed"]]);
  expect(partitionOf(state)).toEqual([]);
});

test("max_attempts: 0 means no limit", () => {
  const round = [lease(one), tick(6_000), complete(one)];
  const state = run([
    { kind: "settings", settings: { maxAttempts: 0 } },
    produce(),
    ...round,
    ...round,
    ...round,
    ...round,
  ]);
  expect(state.ready.map(({ attempts }) => attempts)).toEqual([4]);
});

test("retry: the item is at the tail at once", () => {
  const state = run([produce(2), lease(one), { kind: "retry", consumer: one }]);
  expect(state.ready.map(({ label, attempts }) => [label, attempts])).toEqual([
    ["b", 0],
    ["a", 1],
  ]);
});

test("settings: a running lease keeps its deadline", () => {
  const state = run([
    produce(),
    lease(one),
    { kind: "settings", settings: { leaseTimeoutMs: 2_000 } },
    tick(5_999),
  ]);
  expect(state.holds).toHaveLength(1);
});

test("crash: the item stays leased until its deadline", () => {
  const state = run([produce(), lease(one), { kind: "crash", consumer: one }, tick(5_999)]);
  expect(state.holds).toHaveLength(1);
  expect(step(state, tick(1)).ready.map(({ label }) => label)).toEqual(["a"]);
});

test("stall: a consumer that resumes too late gets 453", () => {
  const state = run([
    produce(),
    lease(one),
    { kind: "stall", consumer: one },
    tick(7_000),
    { kind: "resume", consumer: one },
  ]);
  expect(state.log[0]).toMatchObject({ code: 453 });
});

test("expire: an item that waits too long is in the dead queue", () => {
  const state = run([produce(), tick(120_000)]);
  expect(state.dead.map(({ death }) => death)).toEqual(["expired"]);
});

test("produce: limited to the items that fit the view", () => {
  expect(run([produce(100), produce(1)]).ready).toHaveLength(waitingMax);
});

test("tick: the step size does not matter", () => {
  const big = step(initialSimulation, tick(60_000));
  const small = run(
    Array.from({ length: 1_200 }, () => tick(50)),
    initialSimulation,
  );
  expect(small).toEqual(big);
});

test("automatic: each item is in one state at any time, and none is lost", () => {
  let state = step(initialSimulation, { kind: "produce", count: 8 });
  for (let count = 0; count < 1_000; count += 1) {
    if (count === 40) state = step(state, { kind: "crash", consumer: two });
    state = step(state, tick(50));
    const ids = partitionOf(state).map(({ item }) => item.id);
    expect(new Set(ids).size).toBe(ids.length);
  }
  const labels = [
    ...state.completed,
    ...state.dead.map(({ label }) => label),
    ...partitionOf(state).map(({ item }) => item.label),
  ];
  expect(labels).toHaveLength(state.producedCount);
  expect(new Set(labels).size).toBe(labels.length);
});
