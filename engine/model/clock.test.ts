import { afterEach, expect, setSystemTime, test } from "bun:test";
import { setImmediate as eventsAtHand } from "node:timers/promises";
import { VirtualClock } from "../simulation/virtual-clock.ts";
import { systemClock, TestClock } from "./clock.ts";

const wall = 1_700_000_000_000;

afterEach(() => setSystemTime());

test("systemClock: never goes back, even if the machine's time does", () => {
  setSystemTime(wall);
  const clock = systemClock();
  const before = clock.now();
  setSystemTime(wall - 3_600_000);
  const after = clock.now();
  expect(after).toBeGreaterThanOrEqual(before);
  expect(after).toBeLessThan(before + 60_000);
  setSystemTime(wall + 3_600_000);
  expect(clock.now()).toBe(wall + 3_600_000);
});

test("systemClock: is never before the instant to which it was advanced", () => {
  setSystemTime(wall);
  const clock = systemClock();
  clock.advanceTo(wall - 1);
  expect(clock.now()).toBeLessThan(wall + 60_000);
  clock.advanceTo(wall + 3_600_000);
  expect(clock.now()).toBeGreaterThanOrEqual(wall + 3_600_000);
});

test("systemClock: a stamp is after every moment of the present millisecond", () => {
  setSystemTime(wall);
  const clock = systemClock();
  expect(clock.stamp()).toBe(wall + 1);
  expect(clock.now()).toBe(wall);
});

test.each([0, -1, -(2 ** 40)])(
  "at: a deadline %d ms away runs in the next tick, not before at returns",
  async (ms) => {
    const clock = systemClock();
    let ran = 0;
    clock.at(clock.now() + ms, () => {
      ran += 1;
    });
    expect(ran).toBe(0);
    await eventsAtHand();
    await eventsAtHand();
    expect(ran).toBe(1);
  },
);

test.each([2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER - wall * 2])(
  "at: a deadline %d ms away does not fire at once",
  async (ms) => {
    const clock = systemClock();
    let ran = false;
    const timer = clock.at(clock.now() + ms, () => {
      ran = true;
    });
    for (let round = 0; round < 20; round += 1) await eventsAtHand();
    expect(ran).toBe(false);
    timer.cancel();
    timer.cancel();
  },
);

test("at: a cancelled callback does not run", async () => {
  const clock = systemClock();
  let ran = false;
  clock
    .at(0, () => {
      ran = true;
    })
    .cancel();
  await eventsAtHand();
  await eventsAtHand();
  expect(ran).toBe(false);
});

test("at: a callback runs even if the machine's time jumps to the deadline", async () => {
  setSystemTime(wall);
  const clock = systemClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.at(wall + 3_600_000, resolve);
  const never = clock.at(wall + 3_600_000, () => {
    throw new Error("it was cancelled");
  });
  const later = clock.at(wall + 7_200_001, () => {
    throw new Error("its deadline has not come");
  });
  never.cancel();
  setSystemTime(wall + 7_200_000);
  await promise;
  later.cancel();
});

test("TestClock: stands still, and timers fire in order when it is advanced", async () => {
  const clock = new TestClock(systemClock(), 100);
  const ran: string[] = [];
  clock.at(130, () => ran.push("b"));
  clock.at(120, () => ran.push("a"));
  clock.at(125, () => ran.push("never")).cancel();
  clock.at(500, () => ran.push("c"));
  clock.at(100, () => ran.push("at once"));
  expect([clock.next, ran]).toEqual([100, []]);
  await eventsAtHand();
  expect([clock.now(), clock.stamp(), clock.next, ran]).toEqual([100, 100, 120, ["at once"]]);
  clock.advanceTo(200);
  clock.advanceTo(150);
  await eventsAtHand();
  expect([clock.now(), clock.next, ran]).toEqual([200, 500, ["at once", "a", "b"]]);
});

test("VirtualClock: timers fire in the order of their deadlines, each at its own instant", async () => {
  const clock = new VirtualClock(100);
  const ran: [string, number][] = [];
  const note = (name: string) => () => {
    ran.push([name, clock.now()]);
  };
  clock.at(130, note("c"));
  clock.at(120, () => {
    note("a")();
    clock.at(120, note("b"));
    clock.at(500, note("e"));
  });
  clock.at(125, note("never")).cancel();
  clock.at(130, note("d"));
  await clock.advance(50);
  expect(ran).toEqual([
    ["a", 120],
    ["b", 120],
    ["c", 130],
    ["d", 130],
  ]);
  expect(clock.now()).toBe(150);
});

test("VirtualClock: settle handles events without advancing the time", async () => {
  const clock = new VirtualClock(100);
  const ran: number[] = [];
  clock.nextTick(() => clock.nextTick(() => ran.push(clock.now())));
  clock.at(101, () => ran.push(0));
  expect(ran).toEqual([]);
  await clock.settle();
  expect(ran).toEqual([100]);
});
