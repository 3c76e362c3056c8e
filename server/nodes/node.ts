// This server as one of the nodes of a cluster: opens the engines of the shards that it owns, and
// closes or abandons them.

import { randomBytes } from "node:crypto";
import type { ShardEngine, Whole } from "../../engine/engine.ts";
import type { Engine, EngineStatus } from "../../engine/model/api.ts";
import { after, type Clock, steadyClock } from "../../engine/model/clock.ts";
import { closingFailure, noTestClock, QueueError } from "../../engine/model/errors.ts";
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
import { type DrainRequest, requestDrain } from "./drain-requests.ts";
import { Membership, type MembershipOptions } from "./membership.ts";
import { type Connect, connectBySocket } from "./peer.ts";
import { Router } from "./router.ts";

/** What a node gives an engine that it opens. */
export interface Place {
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
  readonly createEngine: (place: Place) => ShardEngine<string>;
  /** The status reported for a shard that another node owns. */
  readonly statusElsewhere: EngineStatus;
  readonly log: Log;
  /** Default: a steady clock of this process. */
  readonly clock?: Clock;
  readonly connect?: Connect;
}

const keyBytes = 32;

const alone = async (): Promise<never> => {
  throw new Error("a node does nothing with all shards together");
};

const noClock = async (): Promise<never> => {
  throw QueueError.from(noTestClock);
};

export class Node {
  readonly key = randomBytes(keyBytes).toString("hex");
  /** One for each database: shard i is in database i modulo their number. */
  readonly memberships: readonly Membership[];
  readonly router: Router;
  /** One per shard, in order of number. Those of shards that this node lacks refuse all calls. */
  readonly engines: Engines;
  readonly #options: NodeOptions;
  readonly #clock: Clock;
  /** The engines of the shards that this node owns, open or being opened. */
  readonly #held = new Map<number, ShardEngine<string>>();

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
    const held = (shard: number) => this.#engineOf(shard)?.other ?? null;
    this.router = new Router({ memberships, held, clock, connect, log });
    const others = Array.from({ length: shards - 1 }, (_, at) => this.#engine(at + 1));
    this.engines = [this.#engine(0), ...others];
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
      handedOver: (shard, node) => void this.router.nudge(shard, node),
    });
  }

  #of(shard: number): Membership {
    return ofShard(shard, this.memberships);
  }

  /** No other node can own the shard yet. */
  isTrusted(shard: number): boolean {
    return this.#of(shard).isTrusted(shard);
  }

  /** `undefined` if another node may already own the shard. */
  #engineOf(shard: number): ShardEngine<string> | undefined {
    return this.#of(shard).isStale ? undefined : this.#held.get(shard);
  }

  #engine(shard: number): Engine<string> {
    return new Proxy({} as Engine<string>, {
      get: (_, name: keyof Engine<string>) => {
        const engine = this.#held.get(shard);
        if (engine !== undefined) return engine[name].bind(engine);
        if (name === "status") return () => this.#options.statusElsewhere;
        if (name === "advance") return noClock;
        return () => {
          throw QueueError.from(closingFailure);
        };
      },
    });
  }

  /** The shard as seen by this node's shards: local, or at another node. */
  #reach(shard: number): OtherShard {
    return new Proxy({} as OtherShard, {
      get:
        (_, method: keyof OtherShard) =>
        async (...given: never[]) => {
          const other = this.#engineOf(shard)?.other;
          if (other === undefined) return await this.router.ask(shard, method, given);
          return await (other[method] as (...given: never[]) => Promise<unknown>)(...given);
        },
    });
  }

  async #open(place: Pick<Place, "shard" | "ownership" | "now">): Promise<void> {
    const { shard } = place;
    const engine = this.#options.createEngine({
      ...place,
      reach: (other) => this.#reach(other),
      whole: { backup: alone, advance: noClock, close: alone },
    });
    this.#held.set(shard, engine);
    const isHeld = (): boolean => this.#held.get(shard) === engine;
    try {
      await engine.load();
      await engine.meet();
      if (isHeld()) engine.start();
    } catch (cause) {
      // The shard was lost meanwhile, so its engine is already abandoned.
      if (!isHeld()) return;
      this.#held.delete(shard);
      await engine.giveUp();
      throw cause;
    }
  }

  #abandon(shard: number): void {
    this.#held.get(shard)?.abandon();
    this.#held.delete(shard);
  }

  async #close(shard: number): Promise<void> {
    const engine = this.#held.get(shard);
    // Do not wait for a turn whose database does not answer.
    const late = after(this.#clock, this.#options.leaseMs, () => engine?.abandon());
    await engine?.end().finally(() => late.cancel());
    if (this.#held.get(shard) === engine) this.#held.delete(shard);
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

  /** The shards that no node serves, as far as this one knows, and why; `null`: all are served. */
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
    const held = this.memberships.flatMap((membership) => membership.openShards);
    const live = this.memberships.flatMap((membership) => membership.live.map(({ url }) => url));
    return {
      ...{ forwarded, peersUp, held, nodes: new Set(live).size },
      isTrusted: this.memberships.every(({ isStale }) => !isStale),
      takeovers: this.memberships.flatMap((one) => Object.values(one.takeovers)),
      handOvers: this.memberships.reduce((sum, { handOvers }) => sum + handOvers, 0),
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
