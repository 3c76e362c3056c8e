import { expect, test } from "bun:test";
import { never } from "../model/duration.ts";
import { slotFor } from "../model/priority.ts";
import { type Lane, Lanes } from "./lanes.ts";

const now = 100_000;

/** In partition `slot`, items of a priority, of which the first has waited for so many seconds. */
interface Given extends Partial<Lane> {
  readonly priority: number;
  readonly waited?: number;
}

function setup(given: readonly Given[], agingMs = 10_000): Lanes {
  const lanes = new Lanes({ now, agingMs });
  for (const { priority, waited = 0, slot = 0, ready = 1, isRead = true } of given) {
    lanes.add({ slot: slotFor(slot, priority), ready, isRead, since: now - waited * 1_000 });
  }
  return lanes;
}

/** The slots of as many leases as there are. */
function lentBy(lanes: Lanes, priorityMin = 0, itemCount = 1): number[] {
  const lent: number[] = [];
  for (let slot = 0; slot >= 0; ) {
    slot = lanes.lend(priorityMin, itemCount);
    if (slot >= 0) lent.push(slot);
  }
  return lent;
}

test("lanes: the highest priority first, while it has an item for each lease", () => {
  const lanes = setup([{ priority: 0 }, { priority: 9, ready: 2 }, { priority: 5 }]);
  expect(lentBy(lanes)).toEqual([slotFor(0, 9), slotFor(0, 9), slotFor(0, 5), 0]);
});

test.each([
  [49, [slotFor(0, 5), 0]],
  [50, [0, slotFor(0, 5)]],
  [1_000, [0, slotFor(0, 5)]],
])("lanes: after %i s of waiting, with a priority for each 10 s", (waited, expected) => {
  expect(lentBy(setup([{ priority: 0, waited }, { priority: 5 }]))).toEqual(expected);
});

test("lanes: with aging never, waiting changes nothing", () => {
  const lanes = setup([{ priority: 0, waited: 90 }, { priority: 1 }], never);
  expect(lentBy(lanes)).toEqual([slotFor(0, 1), 0]);
});

test("lanes: equal ones are served by waiting, and then by what each has to spare", () => {
  const old = { priority: 0, slot: 1, waited: 3 };
  expect(lentBy(setup([{ priority: 0 }, old]))).toEqual([1, 0]);
  const lanes = setup(
    [
      { priority: 0, ready: 3 },
      { priority: 0, slot: 1, ready: 5 },
    ],
    never,
  );
  expect(lentBy(lanes, 0, 3)).toEqual([1, 0, 1, 0, 1, 0, 1, 1]);
});

test("lanes: a lease for urgent items gets nothing else, and waiting does not make up for it", () => {
  const lanes = setup([{ priority: 4, waited: 90 }, { priority: 5 }]);
  expect(lentBy(lanes, 5)).toEqual([slotFor(0, 5)]);
  expect(lanes.lend(0, 1)).toBe(slotFor(0, 4));
});

test("lanes: nothing is served before items that were not read", () => {
  const lanes = setup([{ priority: 0 }, { priority: 5, isRead: false }, { priority: 9 }]);
  expect(lentBy(lanes)).toEqual([slotFor(0, 9)]);
  const equal = setup([
    { priority: 5, slot: 1, isRead: false, waited: 1 },
    { priority: 5, isRead: true },
  ]);
  expect(lentBy(equal)).toEqual([slotFor(0, 5)]);
});

test("lanes: items whose age is unknown have to be read first", () => {
  const lanes = setup([{ priority: 0, waited: now / 1_000, isRead: false }, { priority: 5 }]);
  expect(lanes.unknownSlots).toEqual([0]);
  expect(lentBy(lanes)).toEqual([]);
});

test("lanes: a batch goes on only up to items that others come before", () => {
  const lanes = setup([{ priority: 0, waited: 60, ready: 9 }, { priority: 4 }]);
  expect(lanes.lend(0, 9)).toBe(0);
  expect(lanes.readyUntil(0, 0)).toBe(now - 40_000);
  // A lease for urgent items cannot take the others, so it does not have to wait for them.
  expect(lanes.readyUntil(slotFor(0, 4), 4)).toBe(Number.POSITIVE_INFINITY);
  expect(lanes.readyUntil(slotFor(0, 4), 0)).toBe(now - 20_000);
});

test("lanes: what a turn has left of a lane comes before lanes behind it", () => {
  const lanes = setup([
    { priority: 0, ready: 2 },
    { priority: 5, ready: 2 },
  ]);
  expect(lentBy(lanes)).toEqual([slotFor(0, 5), slotFor(0, 5), 0, 0]);
  expect(lanes.readyUntil(0, 0)).toBe(Number.POSITIVE_INFINITY);
  lanes.leave(slotFor(0, 5), { ready: 1, since: now });
  expect(lanes.readyUntil(0, 0)).toBe(now - 50_000);
});
