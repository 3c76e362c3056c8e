// This server as one of several nodes on one database: what it has of the shards, and when.

import { randomBytes } from "node:crypto";
import type { Engine, EngineStatus } from "../../engine/model/api.ts";
import { after, type Clock, steadyClock } from "../../engine/model/clock.ts";
import { closingFailure, QueueError } from "../../engine/model/errors.ts";
import type { Shards } from "../../engine/shards.ts";
import type { NodeTable, Ownership } from "../../stores/nodes.ts";
import type { Log } from "../log.ts";
import type { NodeFigures } from "../metrics.ts";
import type { Engines } from "../serving.ts";
import { Membership } from "./membership.ts";
import { type Connect, connectBySocket } from "./peer.ts";
import { Router } from "./router.ts";

export interface NodeOptions {
  /** Where the others reach this one. */
  readonly url: string;
  readonly version: string;
  readonly leaseMs: number;
  readonly openNodes: () => Promise<NodeTable>;
  /** `now`: the database's clock. */
  readonly shardCount: number;
  readonly openShards: (ownership: Ownership, now: number) => Promise<Shards<string>>;
  /** What there is to say of shards that are elsewhere. */
  readonly statusElsewhere: EngineStatus;
  readonly log: Log;
  /** Of the process itself; a simulation has its own. */
  readonly clock?: Clock;
  readonly connect?: Connect;
}

const keyBytes = 32;

export class Node {
  readonly key = randomBytes(keyBytes).toString("hex");
  readonly membership: Membership;
  readonly router: Router;
  /** Of all shards, while this node has them; refuse everything while it does not. */
  readonly engines: Engines;
  readonly #options: NodeOptions;
  readonly #clock: Clock;
  #held: Shards<string> | null = null;

  constructor(options: NodeOptions) {
    const { url, version, leaseMs, openNodes, log } = options;
    const { clock = steadyClock(), connect = connectBySocket } = options;
    this.#options = options;
    this.#clock = clock;
    this.membership = new Membership({
      self: { url, key: this.key, version, isDraining: false },
      leaseMs,
      clock,
      openNodes,
      own: (epoch, now) => this.#own({ url, epoch }, now),
      lose: () => this.#lose(),
      log,
    });
    this.router = new Router(this.membership, { clock, connect, log });
    const others = Array.from({ length: options.shardCount - 1 }, (_, at) => this.#engine(at + 1));
    this.engines = [this.#engine(0), ...others];
  }

  #engine(shard: number): Engine<string> {
    return new Proxy({} as Engine<string>, {
      get: (_, name: keyof Engine<string>) => {
        const engine = this.#held?.engines[shard];
        if (engine !== undefined) return engine[name].bind(engine);
        if (name === "status") return () => this.#options.statusElsewhere;
        return () => {
          throw QueueError.from(closingFailure);
        };
      },
    });
  }

  async #own(ownership: Ownership, now: number): Promise<void> {
    const shards = await this.#options.openShards(ownership, now);
    if (this.membership.owner?.epoch === ownership.epoch) this.#held = shards;
    else shards.abandon();
  }

  #lose(): void {
    const shards = this.#held;
    this.#held = null;
    shards?.abandon();
  }

  figures(): NodeFigures {
    const { isOwner, isTrusted, seen, takeovers, live } = this.membership;
    const { forwarded, peersUp } = this.router;
    const counts = { takeovers, forwarded, peersUp, nodes: live.length };
    return { isOwner, isTrusted, epoch: seen.epoch, ...counts };
  }

  /** Hands the shards over; calls that come from now on go to whoever takes them. */
  async drain(): Promise<void> {
    await this.membership.drain(async () => {
      const shards = this.#held;
      this.#held = null;
      // A turn whose database says nothing is not waited for.
      const late = after(this.#clock, this.#options.leaseMs, () => shards?.abandon());
      await shards?.close();
      late.cancel();
    });
    this.router.leave();
  }

  async leave(): Promise<void> {
    this.router.close();
    await this.membership.leave();
  }
}
