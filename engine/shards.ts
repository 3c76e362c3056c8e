// The shards of a server, from start to end. Each is an engine of its own, in this thread or
// another. They start together, end together, and are copied at one moment.

import { Advance } from "./advance.ts";
import type { Hold } from "./catalog-changes.ts";
import { type EngineOptions, ShardEngine, type Whole } from "./engine.ts";
import type * as api from "./model/api.ts";
import { assert } from "./model/assert.ts";
import { TestClock } from "./model/clock.ts";
import { noTestClock, QueueError } from "./model/errors.ts";
import type { OtherShard } from "./relay/other-shard.ts";

export type { Notice } from "./model/api.ts";

export type ShardsOptions<Items> = Omit<EngineOptions<Items>, "shard" | "reach" | "whole">;

/** A shard in any thread; see `ShardEngine`. */
export interface Member {
  readonly other: OtherShard;
  load(): Promise<void>;
  meet(): Promise<void>;
  start(): void;
  giveUp(): Promise<void>;
  hold(): Promise<Hold>;
  copy(folder: string): Promise<api.StoreCopy>;
  end(): Promise<void>;
  abandon(): void;
}

/** Opens every shard in this thread. Throws `StoreError` if a store cannot be opened. */
export async function openShards<Items>(options: ShardsOptions<Items>): Promise<Shards<Items>> {
  const shards = new Shards<Items>(options);
  await shards.open();
  return shards;
}

/** Opens a single shard that has all queues. */
export async function openEngine<Items>(
  options: Omit<ShardsOptions<Items>, "shardCount">,
): Promise<api.Engine<Items>> {
  const { engines } = await openShards({ ...options, shardCount: 1 });
  return engines[0];
}

export type ShardEngines<Items> = readonly [ShardEngine<Items>, ...ShardEngine<Items>[]];

export function createEngines<Items>(
  [first, ...others]: readonly number[],
  options: Omit<EngineOptions<Items>, "shard">,
): ShardEngines<Items> {
  assert(first !== undefined, "no shard is in this thread");
  const create = (shard: number) => new ShardEngine<Items>({ ...options, shard });
  return [create(first), ...others.map(create)];
}

export class Shards<Items> implements Whole {
  /** The engines of this thread, by shard number; each knows only the queues of its shard. */
  readonly engines: ShardEngines<Items>;
  readonly #options: ShardsOptions<Items>;
  /** By number. */
  readonly #members: readonly Member[];
  readonly #advance: Advance | null;
  #closing: Promise<void> | null = null;

  /** `elsewhere`: the members in other threads, by number. `open` opens all members. */
  constructor(
    options: ShardsOptions<Items>,
    elsewhere: ReadonlyMap<number, Member> = new Map<number, Member>(),
  ) {
    const { clock, shardCount } = options;
    const numbers = Array.from({ length: shardCount }, (_, shard) => shard);
    const here = numbers.filter((shard) => !elsewhere.has(shard));
    this.#options = options;
    this.engines = createEngines<Items>(here, {
      ...{ ...options, whole: this, reach: (shard) => this.#at(shard).other },
    });
    const engines = new Map(this.engines.map((engine) => [engine.shard, engine]));
    this.#members = numbers.flatMap((shard) => elsewhere.get(shard) ?? engines.get(shard) ?? []);
    this.#advance =
      clock instanceof TestClock
        ? new Advance({ clock, shards: () => this.engines.map(({ advancing }) => advancing) })
        : null;
  }

  #at(shard: number): Member {
    const member = this.#members[shard];
    assert(member !== undefined, "a shard is asked that is not there");
    return member;
  }

  /** Throws the first cause, and notifies of any other. */
  async open(): Promise<void> {
    const { notice } = this.#options;
    const members = this.#members;
    const failures: { readonly shard: number; readonly cause: unknown }[] = [];
    const noting = <T>(work: Promise<T>, shard: number): Promise<T> =>
      work.catch((cause: unknown) => {
        failures.push({ shard, cause });
        throw cause;
      });
    const load = (member: Member, shard: number) => noting(member.load(), shard);
    try {
      const [first, ...others] = members;
      // If two servers start at once, the one that gets the first store gets the others too.
      if (first !== undefined) await load(first, 0);
      const loading = others.map((member, index) => load(member, index + 1));
      // Wait for all: each shard reports only once what its store has lost.
      await Promise.allSettled(loading);
      await Promise.all(loading);
      const meeting = members.map((member, shard) => noting(member.meet(), shard));
      await Promise.allSettled(meeting);
      await Promise.all(meeting);
      for (const member of members) member.start();
      await this.reopened();
    } catch (cause) {
      await Promise.all(members.map((member) => member.giveUp()));
      const [one, ...more] = failures;
      for (const other of more) notice?.({ kind: "shard_down", ...other });
      throw one?.cause ?? cause;
    }
  }

  async reopened(): Promise<void> {
    await this.#advance?.begin(() => {
      for (const engine of this.engines) engine.letGo();
    });
  }

  async advance(...how: Parameters<Whole["advance"]>): ReturnType<Whole["advance"]> {
    if (this.#advance === null) throw QueueError.from(noTestClock);
    return await this.#advance.advance(...how);
  }

  async backup(folder: string): Promise<readonly api.StoreCopy[]> {
    const holds = await this.#holdAll();
    try {
      return await Promise.all(this.#members.map((member) => member.copy(folder)));
    } finally {
      for (const { release } of holds) release();
    }
  }

  /** Until all are released no queue changes, and nothing is on its way between shards. */
  async #holdAll(): Promise<Hold[]> {
    const holding = await Promise.allSettled(this.#members.map((member) => member.hold()));
    const holds = holding.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const refused = holding.find((one) => one.status === "rejected");
    if (refused === undefined) return holds;
    for (const { release } of holds) release();
    throw refused.reason;
  }

  close(): Promise<void> {
    this.#closing ??= Promise.all(this.#members.map((member) => member.end())).then(
      () => undefined,
    );
    return this.#closing;
  }

  /**
   * Closes at once, without waiting for the stores. Calls without a reply so far are answered
   * `unknown`. For shards that another node now owns.
   */
  abandon(): void {
    this.#closing ??= Promise.resolve();
    for (const member of this.#members) member.abandon();
  }
}
