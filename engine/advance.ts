// Advances a test clock. Time moves from each instant at which something is due to the next. Before
// it moves on, everything set off by that instant is committed: in every shard, on the way to dead
// queues, and for waiting leases. So advancing twice equals advancing once by the sum.

import type { Hold } from "./catalog-changes.ts";
import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import type { TestClock } from "./model/clock.ts";
import { failure, type Late, QueueError } from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import { checkAdvance, checkHandlerTimeout } from "./model/validate.ts";
import { OpenWork } from "./open-work.ts";
import type { OutboxRelay } from "./relay/outbox-relay.ts";
import type { Catalog } from "./state/catalog.ts";
import type { Timing } from "./turn/inbox.ts";
import type { Shard } from "./turn/shard.ts";

const inPart = failure(
  "in_part",
  "the clock was advanced in part; a shard is down or busy, or the server stops",
);
const late: Late = { beforeSend: inPart, afterSend: inPart };

export interface AdvanceOptions {
  readonly clock: TestClock;
  /** `null` = a shard that has not started. */
  readonly shards: () => readonly (Advancing | null)[];
}

/** The parts of a shard that an advance needs. */
export interface Advancing {
  readonly shard: Shard;
  readonly catalog: Pick<Catalog, "queues" | "deadQueueNames">;
  readonly outboxRelay: Pick<OutboxRelay, "isBusy" | "isQuiet" | "hold" | "departures">;
  readonly sampling: Sampling;
}

/** Periodic samples are taken as time passes; they do not make time stop. */
export interface Sampling {
  /** The end of the interval that contains the present. */
  nextAt(): number;
  sample(): void;
}

export class Advance {
  readonly #options: AdvanceOptions;
  /** Serializes advances. */
  #last: Promise<unknown> = Promise.resolve();
  /** Called once, then `null`. */
  #letGo: (() => void) | null = null;

  constructor(options: AdvanceOptions) {
    this.#options = options;
  }

  /**
   * Brings every shard to the instant to which the first one to open raised the clock. `letGo` is
   * called once the shards may send items.
   */
  begin(letGo: () => void): Promise<number> {
    this.#letGo = letGo;
    return this.#settle(this.#deadline(), false);
  }

  #shards(): readonly Advancing[] {
    return this.#options.shards().map((shard) => {
      if (shard === null) throw QueueError.from(inPart);
      return shard;
    });
  }

  /** Returns the instant that the clock then shows. */
  advance(byMs: number, options: api.AdvanceOptions = {}): Promise<number> {
    const advanced = this.#last.then(() => this.#advance(byMs, options));
    this.#last = advanced.catch(() => undefined);
    return advanced;
  }

  #deadline(): number {
    return this.#options.clock.machine.now() + limits.requestTimeoutMsDefault;
  }

  async #advance(byMs: number, { handlerTimeoutMs }: api.AdvanceOptions): Promise<number> {
    const { clock } = this.#options;
    const shards = () => this.#shards();
    checkAdvance(byMs, clock.now());
    checkHandlerTimeout(handlerTimeoutMs);
    const catalogs = () => shards().map(({ catalog }) => catalog);
    const work =
      handlerTimeoutMs === undefined ? null : new OpenWork({ catalogs, clock, handlerTimeoutMs });
    const target = clock.now() + byMs;
    const deadline = this.#deadline();
    for (;;) {
      const isLast = clock.now() >= target;
      let settled = await this.#settle(deadline, isLast);
      while (await work?.wait(deadline)) settled = await this.#settle(deadline, isLast);
      const next = Math.min(settled, target);
      if (isLast) return clock.now();
      const samplings = shards().map(({ sampling }) => sampling);
      for (const instant of [Math.min(next, ...samplings.map((one) => one.nextAt())), next]) {
        clock.advanceTo(instant);
        for (const sampling of samplings) sampling.sample();
      }
    }
  }

  /** Returns the next due instant, once everything due by now is committed. */
  async #settle(deadline: number, isKept: boolean): Promise<number> {
    const { clock } = this.#options;
    const now = clock.now();
    for (let rounds = 0; ; ) {
      const before = this.#departures();
      const next = await this.#advanceShards(deadline, isKept);
      const isQuiet = before !== null && before === this.#departures();
      // Consumers that lease and release without end do not stop the clock.
      if (next > now && (isQuiet || rounds >= limits.advanceRoundsMax)) return next;
      if (next > now) rounds += 1;
      if (!(await this.#isQuiet(deadline))) throw QueueError.from(inPart);
    }
  }

  /** Counts everything that ever departed; `null` = something is on its way. */
  #departures(): number | null {
    let count = 0;
    for (const { outboxRelay, shard } of this.#shards()) {
      if (outboxRelay.isBusy || shard.lines.isGranting) return null;
      count += outboxRelay.departures + shard.lines.grantedCount;
    }
    return count;
  }

  /** Whether everything has arrived before the deadline. */
  async #isQuiet(deadline: number): Promise<boolean> {
    const { clock } = this.#options;
    for (const { outboxRelay } of this.#shards()) {
      const leftMs = deadline - clock.machine.now();
      if (leftMs <= 0 || !(await outboxRelay.isQuiet(leftMs))) return false;
    }
    return true;
  }

  /**
   * Brings every shard to this instant, one after the other and before anything departs, so that
   * the order of what follows is deterministic. Returns the next instant at which a shard or a
   * lease has to be woken.
   */
  async #advanceShards(deadline: number, isKept: boolean): Promise<number> {
    const { clock } = this.#options;
    const timing: Timing = { deadline, late };
    let next = Number.POSITIVE_INFINITY;
    const all = this.#shards();
    const holds: Hold[] = [];
    try {
      for (const { outboxRelay } of all) holds.push(await outboxRelay.hold(inPart));
      this.#letGo?.();
      this.#letGo = null;
      for (const { shard } of all) {
        const result = await shard.ask({ kind: "advance", isKept }, timing);
        if (!result.ok) throw QueueError.from(inPart);
        const { value } = result;
        assert(value.kind === "due", "an advance was answered with something else");
        next = Math.min(next, value.at ?? Number.POSITIVE_INFINITY);
      }
    } finally {
      // Items from one shard arrive before the next shard sends any.
      for (const [index, { release }] of holds.entries()) {
        release();
        await all[index]?.outboxRelay.isQuiet(deadline - clock.machine.now());
      }
    }
    return Math.min(next, clock.next);
  }
}
