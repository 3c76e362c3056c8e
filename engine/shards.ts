// The shards of a server, from its start to its end: each is an engine of its own. What concerns them all
// is here: they begin together, are opened again together if one of them lost what was acknowledged, and
// are copied as of one moment.

import { Advance } from "./advance.ts";
import { type EngineOptions, ShardEngine, type Whole } from "./engine.ts";
import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import { TestClock } from "./model/clock.ts";
import { noTestClock, QueueError } from "./model/errors.ts";
import { limits } from "./model/limits.ts";
import type { Hold } from "./registrar.ts";
import type { Standing } from "./relay/other-shard.ts";
import { stepsBack } from "./relay/passed.ts";

export type { Notice } from "./model/api.ts";

export type ShardsOptions<Items> = Omit<EngineOptions<Items>, "shard" | "reach" | "whole" | "lost">;

export interface OpenShards<Items> extends Whole {
  /** By number; each knows the queues of its shard alone. */
  readonly engines: readonly api.Engine<Items>[];
  /**
   * Ends at once, whatever the stores are doing: what they have and did not answer is told
   * `unknown`. For shards that have become another's.
   */
  abandon(): void;
}

/** Opens every shard. Throws `StoreError` when a store cannot be opened. */
export async function openShards<Items>(options: ShardsOptions<Items>): Promise<OpenShards<Items>> {
  const shards = new Shards(options);
  await shards.open();
  return shards;
}

/** One shard that has all queues. */
export async function openEngine<Items>(
  options: Omit<ShardsOptions<Items>, "shardCount">,
): Promise<api.Engine<Items>> {
  const { engines } = await openShards({ ...options, shardCount: 1 });
  return engines[0] as api.Engine<Items>;
}

class Shards<Items> implements OpenShards<Items> {
  readonly #options: ShardsOptions<Items>;
  readonly engines: readonly ShardEngine<Items>[];
  readonly #advance: Advance | null;
  #isReopening = false;
  #closing: Promise<void> | null = null;

  constructor(options: ShardsOptions<Items>) {
    this.#options = options;
    const { clock, shardCount } = options;
    const numbers = Array.from({ length: shardCount }, (_, shard) => shard);
    const whole: Whole = {
      backup: (folder) => this.backup(folder),
      advance: (byMs, how) => this.advance(byMs, how),
      close: () => this.close(),
    };
    const lost = (): void => void this.#reopen();
    this.engines = numbers.map(
      (shard) =>
        new ShardEngine({
          ...options,
          shard,
          whole,
          lost,
          reach: (other) => this.#at(other).other,
        }),
    );
    this.#advance =
      clock instanceof TestClock
        ? new Advance({ clock, shards: () => this.engines.map(({ advancing }) => advancing) })
        : null;
  }

  #at(shard: number): ShardEngine<Items> {
    const engine = this.engines[shard];
    assert(engine !== undefined, "a shard is asked that was not opened");
    return engine;
  }

  /** Throws the first cause, and gives notice of any other. */
  async open(): Promise<void> {
    const { notice } = this.#options;
    const failures: { readonly shard: number; readonly cause: unknown }[] = [];
    const load = (engine: ShardEngine<Items>, shard: number) =>
      engine.load().catch((cause: unknown) => {
        failures.push({ shard, cause });
        throw cause;
      });
    try {
      // If two servers start at once, the one that gets the first store gets the others too.
      const first = await load(this.#at(0), 0);
      const others = this.engines.slice(1).map((engine, index) => load(engine, index + 1));
      // Each says only once what its store has lost.
      await Promise.allSettled(others);
      const standings: Standing[] = [first, ...(await Promise.all(others))];
      for (const { shard, count } of stepsBack(standings.map(({ passed }) => passed))) {
        notice?.({ kind: "store_went_back", shard, count });
      }
      await Promise.all(this.engines.map((engine) => engine.begin(standings)));
      await this.#advance?.begin();
    } catch (cause) {
      await Promise.all(this.engines.map((engine) => engine.giveUp()));
      const [one, ...more] = failures;
      for (const other of more) notice?.({ kind: "shard_down", ...other });
      this.#failed = one?.shard ?? 0;
      throw one?.cause ?? cause;
    }
  }

  /** Of which `open` has thrown the cause. */
  #failed = 0;

  /** Forgets all that may be newer than what is stored, and begins from that. */
  async #reopen(): Promise<void> {
    const { clock, notice } = this.#options;
    if (this.#isReopening || this.#closing !== null) return;
    this.#isReopening = true;
    for (;;) {
      await Promise.all(this.engines.map((engine) => engine.drop()));
      if (this.#closing !== null) return;
      try {
        await this.open();
        break;
      } catch (cause) {
        if (this.#closing !== null) return;
        notice?.({ kind: "shard_down", shard: this.#failed, cause });
      }
      await new Promise<void>((resolve) => {
        clock.machine.at(clock.machine.now() + limits.restartMsMin, resolve);
      });
      if (this.#closing !== null) return;
    }
    this.#isReopening = false;
    for (const shard of this.engines.keys()) notice?.({ kind: "shard_up", shard });
  }

  async backup(folder: string): Promise<readonly api.StoreCopy[]> {
    const holds = await this.#holdAll();
    try {
      return await Promise.all(this.engines.map((engine) => engine.copy(folder)));
    } finally {
      for (const { release } of holds) release();
    }
  }

  /** Until all are released no queue changes, and nothing is on its way from one shard to another. */
  async #holdAll(): Promise<Hold[]> {
    const holding = await Promise.allSettled(this.engines.map((engine) => engine.hold()));
    const holds = holding.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const refused = holding.find((one) => one.status === "rejected");
    if (refused === undefined) return holds;
    for (const { release } of holds) release();
    throw refused.reason;
  }

  async advance(byMs: number, options?: api.AdvanceOptions): Promise<number> {
    if (this.#advance === null) throw QueueError.from(noTestClock);
    return this.#advance.advance(byMs, options);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all(this.engines.map((engine) => engine.end())).then(() => undefined);
    return this.#closing;
  }

  abandon(): void {
    this.#closing ??= Promise.resolve();
    for (const engine of this.engines) engine.abandon();
  }
}
