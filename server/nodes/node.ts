// This server as one of the nodes of a cluster: opens the engines of the shards that it owns, and
// closes or abandons them.

import { randomBytes } from "node:crypto";
import type { ShardEngine, Whole } from "../../engine/engine.ts";
import type { EngineStatus } from "../../engine/model/api.ts";
import { after, type Clock, steadyClock } from "../../engine/model/clock.ts";
import { noTestClock, QueueError } from "../../engine/model/errors.ts";
import type { OtherShard } from "../../engine/relay/other-shard.ts";
import {
  isUnreachable,
  type NodeRow,
  type NodeTable,
  type Ownership,
  ofShard,
  shardsOf,
} from "../../stores/nodes.ts";
import type { Engines } from "../http/operation-handlers.ts";
import type { Unserved } from "../observability/health.ts";
import type { Log } from "../observability/log.ts";
import type { NodeStats } from "../observability/metrics.ts";
import { CurrentEngine } from "./current-engine.ts";
import { type DrainRequest, requestDrain } from "./drain-requests.ts";
import { Membership, type MembershipOptions } from "./membership.ts";
import { type Connect, connectBySocket } from "./peer.ts";
import { Router } from "./router.ts";

/** The part of an engine's options that the node determines when it opens a shard. */
export interface NodeEngineOptions {
  readonly shard: number;
  readonly ownership: Ownership;
  /** The database's clock, in epoch milliseconds. */
  readonly now: number;
  readonly reach: (shard: number) => OtherShard;
  readonly whole: Whole;
}

export interface NodeOptions {
  /** Where the other nodes reach this one. */
  readonly url: string;
  readonly version: string;
  readonly leaseMs: number;
  /** The number of shards in the cluster. */
  readonly shardCount: number;
  /** One for each database. */
  readonly openNodes: readonly (() => Promise<NodeTable>)[];
  readonly createEngine: (options: NodeEngineOptions) => ShardEngine<string>;
  /** The status reported for a shard that another node owns. */
  readonly statusElsewhere: EngineStatus;
  readonly log: Log;
  /** Default: a steady clock of this process. */
  readonly clock?: Clock;
  readonly connect?: Connect;
}

const keyBytes = 32;

const unsupported = async (): Promise<never> => {
  throw new Error("a node does not back up or close all shards together");
};

const noClock = async (): Promise<never> => {
  throw QueueError.from(noTestClock);
};

export class Node {
  readonly key = randomBytes(keyBytes).toString("hex");
  /** One for each database: shard i is in database i modulo their number. */
  readonly memberships: readonly Membership[];
  readonly router: Router;
  /** One per shard, in order of number; that of a shard of another node refuses all calls. */
  readonly engines: Engines;
  readonly #options: NodeOptions;
  readonly #clock: Clock;
  /** The engines of the shards that this node owns, open or being opened. */
  readonly #owned = new Map<number, ShardEngine<string>>();

  constructor(options: NodeOptions) {
    const { openNodes, shardCount: shards, log } = options;
    const { clock = steadyClock(), connect = connectBySocket } = options;
    this.#options = options;
    this.#clock = clock;
    const databases = openNodes.length;
    this.memberships = openNodes.map((open, database) =>
      this.#membership(open, {
        shards: shardsOf({ shards, database, databases }),
        ...(databases > 1 && { name: `database ${database + 1}` }),
      }),
    );
    const { memberships } = this;
    const localShard = (shard: number) => this.#engineOf(shard)?.other ?? null;
    this.router = new Router({ memberships, localShard, clock, connect, log });
    const engineOf = (shard: number) =>
      new CurrentEngine(() => this.#owned.get(shard), options.statusElsewhere);
    const others = Array.from({ length: shards - 1 }, (_, index) => engineOf(index + 1));
    this.engines = [engineOf(0), ...others];
  }

  #membership(
    openNodes: () => Promise<NodeTable>,
    database: Pick<MembershipOptions, "shards" | "name">,
  ): Membership {
    const { url, version, leaseMs, log } = this.#options;
    return new Membership({
      self: { url, key: this.key, version, isDraining: false },
      ...{ ...database, leaseMs, clock: this.#clock, openNodes, log },
      open: (shard, epoch, now) => this.#open({ shard, ownership: { url, epoch }, now }),
      abandon: (shard) => this.#abandon(shard),
      close: (shard) => this.#close(shard),
      handedOver: (shard, node) => void this.router.requestPoll(shard, node),
    });
  }

  #of(shard: number): Membership {
    return ofShard(shard, this.memberships);
  }

  /** No other node can own the shard. */
  isTrusted(shard: number): boolean {
    return this.#of(shard).isTrusted(shard);
  }

  /** `undefined` if another node may own the shard. */
  #engineOf(shard: number): ShardEngine<string> | undefined {
    return this.#of(shard).isStale ? undefined : this.#owned.get(shard);
  }

  /** The shard as this node's shards call it: here, or at another node. */
  #shardAt(shard: number): OtherShard {
    return new Proxy({} as OtherShard, {
      get:
        (_, method: keyof OtherShard) =>
        async (...given: never[]) => {
          const other = this.#engineOf(shard)?.other;
          if (other === undefined) return await this.router.callShard(shard, method, given);
          return await (other[method] as (...given: never[]) => Promise<unknown>)(...given);
        },
    });
  }

  async #open(opened: Pick<NodeEngineOptions, "shard" | "ownership" | "now">): Promise<void> {
    const { shard } = opened;
    const engine = this.#options.createEngine({
      ...opened,
      reach: (other) => this.#shardAt(other),
      whole: { backup: unsupported, advance: noClock, close: unsupported },
    });
    this.#owned.set(shard, engine);
    const isOwned = (): boolean => this.#owned.get(shard) === engine;
    try {
      await engine.load();
      await engine.meet();
      if (isOwned()) engine.start();
    } catch (cause) {
      // The shard was lost meanwhile, so its engine is already abandoned.
      if (!isOwned()) return;
      this.#owned.delete(shard);
      await engine.giveUp();
      throw cause;
    }
  }

  #abandon(shard: number): void {
    this.#owned.get(shard)?.abandon();
    this.#owned.delete(shard);
  }

  async #close(shard: number): Promise<void> {
    const engine = this.#owned.get(shard);
    // Do not wait for a turn whose database does not answer.
    const late = after(this.#clock, this.#options.leaseMs, () => engine?.abandon());
    await engine?.end().finally(() => late.cancel());
    if (this.#owned.get(shard) === engine) this.#owned.delete(shard);
  }

  /** Throws if no database is reachable, or if one belongs to another cluster. */
  async join(): Promise<void> {
    const joins = await Promise.allSettled(this.memberships.map((one) => one.join()));
    const causes = joins.flatMap((join) => (join.status === "rejected" ? [join.reason] : []));
    const cause = causes.find((one) => !isUnreachable(one));
    if (cause !== undefined) throw cause;
    if (causes.length === joins.length) throw causes[0];
    for (const [database, { status }] of joins.entries()) {
      if (status === "rejected") void this.memberships[database]?.poll();
    }
  }

  /** The shards that no node served at the last polls, and why; `null`: all are served. */
  get unserved(): Unserved | null {
    const all = this.memberships.map(({ unserved }) => unserved);
    const some = all.filter((one) => one !== null);
    if (some.length === 0) return null;
    return {
      why: some.map(({ why }) => why).join("; "),
      shards: some.flatMap(({ shards }) => shards).sort((a, b) => a - b),
      isEverywhere: some.flatMap(({ shards }) => shards).length === this.#options.shardCount,
    };
  }

  figures(): NodeStats {
    const { forwarded, peersUp } = this.router;
    const held = this.memberships.flatMap(({ openShards }) => openShards);
    const live = this.memberships.flatMap((membership) => membership.live.map(({ url }) => url));
    return {
      ...{ forwarded, peersUp, held, nodes: new Set(live).size },
      isTrusted: this.memberships.every(({ isStale }) => !isStale),
      takeovers: this.memberships.flatMap((one) => Object.values(one.takeovers)),
      handOvers: this.memberships.reduce((sum, { handOvers }) => sum + handOvers.count, 0),
    };
  }

  /** Records a request that a node of the cluster drains, or takes shards again. */
  requestDrain(request: DrainRequest): Promise<NodeRow> {
    return requestDrain(this.memberships, request);
  }

  /** Hands this node's shards over. Later calls are forwarded to their new owners. */
  async drain(): Promise<void> {
    await Promise.all(this.memberships.map((membership) => membership.drain()));
    this.router.leave();
  }

  async leave(): Promise<void> {
    this.router.close();
    await Promise.all(this.memberships.map((membership) => membership.leave()));
  }
}
