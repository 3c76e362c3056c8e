// A virtual clock that moves only on command, so that hours pass in milliseconds and tests are
// deterministic.

import { setImmediate as pendingEvents } from "node:timers/promises";
import type { Clock, Timer } from "../model/clock.ts";
import { TimerSet } from "../model/timer-set.ts";

/** More rounds of events than this count as an endless loop. */
const roundsMax = 3_000;

export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new TimerSet();
  #nextTick: (() => void)[] = [];

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return Math.floor(this.#now);
  }

  stamp(): number {
    return Math.ceil(this.#now);
  }

  advanceTo(instant: number): void {
    this.#now = Math.max(this.#now, instant);
  }

  precise(): number {
    return this.#now;
  }

  at(deadline: number, run: () => void): Timer {
    const { entry, timer } = this.#timers.set(deadline, run);
    if (deadline <= this.#now) this.nextTick(() => this.#timers.fire(entry));
    return timer;
  }

  nextTick(run: () => void): void {
    this.#nextTick.push(run);
  }

  get machine(): Clock {
    return this;
  }

  /** Runs all events that need no time to pass. */
  async settle(): Promise<void> {
    await this.rounds(roundsMax);
    if (this.#nextTick.length > 0) throw new Error(`events do not end; at ${this.#now}`);
  }

  /** Runs events like `settle`, for at most `max` rounds. */
  async rounds(max: number): Promise<void> {
    for (let round = 0; round < max; round += 1) {
      const runs = this.#nextTick;
      this.#nextTick = [];
      for (const run of runs) run();
      await pendingEvents();
      if (this.#nextTick.length === 0) return;
    }
  }

  /** Lets time pass, from timer to timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.settle();
    for (;;) {
      const next = this.#timers.earliest();
      if (next === undefined || next.deadline > end) break;
      this.#now = Math.max(this.#now, next.deadline);
      this.#timers.fire(next);
      await this.settle();
    }
    this.#now = end;
    await this.settle();
  }
}
