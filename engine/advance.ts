// Moves a test clock on. Time goes from each instant at which something is due to the next, and each
// is left when all that it sets off is committed: in every shard, on the way to dead queues, and for
// the leases that wait. So to advance twice is to advance once by the sum.

import type { AdvanceOptions } from "./model/api.ts";
import { assert } from "./model/assert.ts";
import type { TestClock } from "./model/clock.ts";
import { failure, type Late, QueueError } from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import { checkAdvance, checkHandlerTimeout } from "./model/validate.ts";
import { OpenWork } from "./open-work.ts";
import type { Courier } from "./relay/courier.ts";
import type { Catalog } from "./state/catalog.ts";
import type { Timing } from "./turn/inbox.ts";
import type { Shard } from "./turn/shard.ts";

const inPart = failure(
  "in_part",
  "the clock was advanced in part; a shard is down or busy, or the server stops",
);
const late: Late = { untaken: inPart, taken: inPart };

export interface AdvanceParts {
  readonly clock: TestClock;
  readonly catalog: Pick<Catalog, "queues">;
  readonly ports: () => readonly Shard[];
  readonly courier: Pick<Courier, "isBusy" | "isQuiet" | "hold" | "departures">;
  readonly sampling: Sampling;
}

/** What is told of the past is noted as time passes: it is no reason for time to stand still. */
export interface Sampling {
  /** The end of the interval to which what happens now belongs. */
  nextAt(): number;
  sample(): void;
}

export class Advance {
  readonly #options: AdvanceParts;
  /** One at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: AdvanceParts) {
    this.#options = options;
  }

  /** Has every shard come to the instant to which the first to open has raised the clock. */
  begin(): Promise<number> {
    return this.#settle(this.#deadline(), false);
  }

  /** The instant at which the clock then is. */
  advance(byMs: number, options: AdvanceOptions = {}): Promise<number> {
    const advanced = this.#last.then(() => this.#advance(byMs, options));
    this.#last = advanced.catch(() => undefined);
    return advanced;
  }

  #deadline(): number {
    return this.#options.clock.machine.now() + limits.requestTimeoutMsDefault;
  }

  async #advance(byMs: number, { handlerTimeoutMs }: AdvanceOptions): Promise<number> {
    const { catalog, clock, sampling } = this.#options;
    checkAdvance(byMs, clock.now());
    checkHandlerTimeout(handlerTimeoutMs);
    const work =
      handlerTimeoutMs === undefined ? null : new OpenWork({ catalog, clock, handlerTimeoutMs });
    const target = clock.now() + byMs;
    const deadline = this.#deadline();
    for (;;) {
      const isLast = clock.now() >= target;
      let settled = await this.#settle(deadline, isLast);
      while (await work?.wait(deadline)) settled = await this.#settle(deadline, isLast);
      const next = Math.min(settled, target);
      if (isLast) return clock.now();
      for (const instant of [Math.min(sampling.nextAt(), next), next]) {
        clock.raise(instant);
        sampling.sample();
      }
    }
  }

  /** The next instant at which something is due, once all that is due by now is committed. */
  async #settle(deadline: number, isKept: boolean): Promise<number> {
    const { clock, courier } = this.#options;
    const now = clock.now();
    for (let rounds = 0; ; ) {
      const before = this.#underWay();
      const next = await this.#tell(deadline, isKept);
      const isQuiet = before !== null && before === this.#underWay();
      // Consumers who lease and give back without end keep no clock from going on.
      if (next > now && (isQuiet || rounds >= limits.advanceRoundsMax)) return next;
      if (next > now) rounds += 1;
      const leftMs = deadline - clock.machine.now();
      if (leftMs <= 0 || !(await courier.isQuiet(leftMs))) throw QueueError.from(inPart);
    }
  }

  /** Counts what has ever set out; `null`: something is on its way. */
  #underWay(): number | null {
    const { courier, ports } = this.#options;
    const lines = ports().map((port) => port.lines);
    if (courier.isBusy || lines.some(({ isGranting }) => isGranting)) return null;
    return lines.reduce((sum, { grantedCount }) => sum + grantedCount, courier.departures);
  }

  /**
   * Every shard comes to this instant, one after the other and before anything sets out, so that
   * the order of all that follows is certain. Returns the next instant at which one of them, or a
   * lease, has to be woken.
   */
  async #tell(deadline: number, isKept: boolean): Promise<number> {
    const { clock, courier, ports } = this.#options;
    const timing: Timing = { deadline, late };
    let next = Number.POSITIVE_INFINITY;
    const { release } = await courier.hold(inPart);
    try {
      for (const port of ports()) {
        const result = await port.ask({ kind: "advance", isKept }, timing);
        if (!result.ok) throw QueueError.from(inPart);
        const { value } = result;
        assert(value.kind === "due", "an advance was answered with something else");
        next = Math.min(next, value.at ?? Number.POSITIVE_INFINITY);
      }
    } finally {
      release();
    }
    return Math.min(next, clock.next);
  }
}
