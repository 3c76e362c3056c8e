// Makes the same calls to two servers: the routes of one engine that has all queues, and the merged
// routes of three engines with one shard each. Both use one clock, which only tests advance.

import { expect } from "bun:test";
import type { Engine } from "../../../engine/model/api.ts";
import { VirtualClock } from "../../../engine/simulation/virtual-clock.ts";
import { operations, type RequestOf, type ResponseOf } from "../../../openapi/operations.ts";
import type { OverviewMachine } from "../../../openapi/schemas.ts";
import type { MemoryImage } from "../../../stores/memory/store.ts";
import type { KeyIdentity } from "../../auth/key-rights.ts";
import { type Engines, shardRoutesOf } from "../../http/operation-handlers.ts";
import { Audit } from "../../observability/audit.ts";
import { Caller, JsonText, type Route } from "../../routes/route.ts";
import { memoryEngine, memoryEngines, newImage, silentLog } from "../../testing/memory-engine.ts";
import { type ShardRoutes, shardedRoutes } from "../routes.ts";

export const start = Date.UTC(2026, 0, 1);
export const second = 1_000;
export const minute = 60 * second;
export const shardCount = 3;
export const timeouts = { lease_timeout: "60m", expire_timeout: "24h" };
const bytes = { seriesBytes: 1_000_000, historyBytes: 1_000_000 };

interface Shard {
  readonly engine: Engine<string>;
  readonly routes: ShardRoutes;
}

export type ShardId = keyof ShardRoutes;

export class Twins {
  readonly clock = new VirtualClock(start);
  readonly #images: readonly MemoryImage[] = Array.from({ length: shardCount }, newImage);
  #one: Shard | null = null;
  #shards: readonly Shard[] = [];
  #merged: ShardRoutes | null = null;
  readonly #downs = new Map<number, Error>();

  static async open(): Promise<Twins> {
    const twins = new Twins();
    const { clock } = twins;
    twins.#one = twins.#shardOf(await twins.through(memoryEngine({ clock, ...bytes })));
    await twins.#openShards();
    const numbers = Array.from({ length: shardCount }, (_, shard) => shard);
    twins.#merged = shardedRoutes(numbers.map((shard) => twins.#forwarding(shard)));
    return twins;
  }

  async #openShards(): Promise<void> {
    const options = { clock: this.clock, images: this.#images, ...bytes };
    const engines: Engines = await this.through(memoryEngines(options));
    this.#shards = engines.map((engine) => this.#shardOf(engine));
  }

  #shardOf(engine: Engine<string>): Shard {
    const audit = new Audit({ log: silentLog, now: () => this.clock.now() });
    return { engine, routes: shardRoutesOf(engine, { machine: () => machine, audit }) };
  }

  /** Forwards to the present engine of the shard, unless the shard is set to fail. */
  #forwarding(shard: number): ShardRoutes {
    return new Proxy({} as ShardRoutes, {
      get: (_, id: ShardId) => async (body: never, caller: Caller) => {
        const down = this.#downs.get(shard);
        if (down !== undefined) throw down;
        return await (this.shard(shard)[id] as Route<ShardId>)(body, caller);
      },
    });
  }

  get one(): ShardRoutes {
    return opened(this.#one).routes;
  }

  get engine(): Engine<string> {
    return opened(this.#one).engine;
  }

  get engines(): readonly Engine<string>[] {
    return this.#shards.map(({ engine }) => engine);
  }

  get merged(): ShardRoutes {
    return opened(this.#merged);
  }

  shard(shard: number): ShardRoutes {
    return opened(this.#shards[shard] ?? null).routes;
  }

  /** Makes all calls to the routes of the shard fail with the cause; `null` ends this. */
  fail(shard: number, cause: Error | null): void {
    if (cause === null) this.#downs.delete(shard);
    else this.#downs.set(shard, cause);
  }

  /** Closes all shards through one engine, and reopens them with the stored data. */
  async restart(shard = 0): Promise<void> {
    await this.close(shard);
    await this.#openShards();
  }

  /** Closes all shards through one engine. */
  async close(shard = 0): Promise<void> {
    await this.through(opened(this.#shards[shard] ?? null).engine.close());
  }

  /** Runs rounds of events until the work has ended, without advancing the clock. */
  async through<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    for (let round = 0; !isOver && round < 2_000; round += 1) await this.clock.settle();
    if (!isOver) throw new Error("it still waits");
    return work;
  }

  async ask<Id extends ShardId>(
    routes: ShardRoutes,
    id: Id,
    body: RequestOf<Id>,
    identity: KeyIdentity | null = null,
  ): Promise<ResponseOf<Id>> {
    const caller = new Caller({ client: new AbortController(), requestKey: null, identity });
    const route: Route<Id> = routes[id];
    const reply = await this.through(route(body, caller));
    return reply instanceof JsonText ? JSON.parse(reply.text) : reply;
  }

  /** Calls the merged routes. */
  all<Id extends ShardId>(
    id: Id,
    body: RequestOf<Id>,
    identity?: KeyIdentity,
  ): Promise<ResponseOf<Id>> {
    return this.ask(this.merged, id, body, identity);
  }

  /** Calls both, and returns the reply of the single engine first. */
  async both<Id extends ShardId>(
    id: Id,
    body: RequestOf<Id>,
    identity?: KeyIdentity,
  ): Promise<readonly [ResponseOf<Id>, ResponseOf<Id>]> {
    return [await this.ask(this.one, id, body, identity), await this.all(id, body, identity)];
  }

  /** Expects equal replies of both, and returns the reply. */
  async same<Id extends ShardId>(
    id: Id,
    body: RequestOf<Id>,
    identity?: KeyIdentity,
  ): Promise<ResponseOf<Id>> {
    const [one, all] = await this.both(id, body, identity);
    expect(all).toEqual(one);
    return all;
  }

  /** Does the same work with each server, expects equal results, and returns the result. */
  async alike<T>(work: (routes: ShardRoutes) => Promise<T>): Promise<T> {
    const [one, all] = [await work(this.one), await work(this.merged)];
    expect(all).toEqual(one);
    return all;
  }

  /** Expects both to refuse with the same text, and returns the text. */
  async refused<Id extends ShardId>(
    id: Id,
    body: RequestOf<Id>,
    identity?: KeyIdentity,
  ): Promise<string> {
    const [one, all] = [
      await refusalOf(this.ask(this.one, id, body, identity)),
      await refusalOf(this.all(id, body, identity)),
    ];
    expect(all).toEqual(one);
    return all;
  }

  async create(name: string, settings: object = {}): Promise<void> {
    await this.same("createQueue", { queue_name: name, ...timeouts, ...settings });
  }

  async produce(name: string, ...texts: string[]): Promise<void> {
    const items = texts.map((utf8) => ({ utf8 }));
    await this.same("produce", { queue_name: name, request_timeout: "1m", items });
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.through(this.engine.close());
    await this.close();
  }
}

const { machine }: { readonly machine: OverviewMachine } = operations.overview.replies[200].example;

function opened<T>(part: T | null): T {
  if (part === null) throw new Error("the servers are not open");
  return part;
}

export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("it was not refused");
}
