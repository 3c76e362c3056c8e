// One process on its own machine, of several in a world. It can be stopped for a while or killed,
// and its clock may be wrong. All input from outside, and its own timers, pass through here.

import type { Clock, Timer } from "../model/clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export class Host {
  readonly world: VirtualClock;
  /** The error of the machine's clock; negative = behind. */
  readonly aheadMs: number;
  #isStopped = false;
  #stops = 0;
  #isDead = false;
  /** Input that arrived while the process was stopped is not delivered yet. */
  #isBehind = false;
  #held: (() => void)[] = [];

  constructor(world: VirtualClock, aheadMs: number) {
    this.world = world;
    this.aheadMs = aheadMs;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get stops(): number {
    return this.#stops;
  }

  /** Delivers input to the process, unless it is dead; held back while it is stopped. */
  deliver(run: () => void): void {
    if (this.#isDead) return;
    if (this.#isStopped || this.#isBehind) this.#held.push(run);
    else run();
  }

  /** As SIGSTOP does. */
  stop(): void {
    this.#isStopped = true;
    this.#stops += 1;
  }

  /** Continues as SIGCONT does, and delivers the held input one by one. */
  goOn(): void {
    this.#isStopped = false;
    if (this.#isBehind) return;
    this.#isBehind = true;
    this.#hearNext();
  }

  #hearNext(): void {
    const next = this.#isStopped ? undefined : this.#held.shift();
    if (next === undefined) {
      this.#isBehind = false;
      return;
    }
    next();
    this.world.nextTick(() => this.#hearNext());
  }

  kill(): void {
    this.#isDead = true;
    this.#held = [];
  }

  /** The clock of the machine. */
  get clock(): Clock {
    return new HostClock(this, this.aheadMs);
  }

  /** A clock that shows this instant now, and runs at the usual pace. */
  clockFrom(instant: number): Clock {
    return new HostClock(this, instant - this.world.now());
  }
}

class HostClock implements Clock {
  readonly #host: Host;
  #aheadMs: number;

  constructor(host: Host, aheadMs: number) {
    this.#host = host;
    this.#aheadMs = aheadMs;
  }

  now(): number {
    return this.#host.world.now() + this.#aheadMs;
  }

  stamp(): number {
    return this.#host.world.stamp() + this.#aheadMs;
  }

  advanceTo(instant: number): void {
    this.#aheadMs += Math.max(0, instant - this.now());
  }

  precise(): number {
    return this.#host.world.precise();
  }

  at(deadline: number, run: () => void): Timer {
    let isOver = false;
    const fire = (): void => {
      if (isOver) return;
      isOver = true;
      run();
    };
    const host = this.#host;
    const timer = host.world.at(deadline - this.#aheadMs, () => host.deliver(fire));
    return {
      cancel: () => {
        isOver = true;
        timer.cancel();
      },
    };
  }

  nextTick(run: () => void): void {
    const host = this.#host;
    host.world.nextTick(() => host.deliver(run));
  }

  get machine(): Clock {
    return this;
  }
}
