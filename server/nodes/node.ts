// This server as one of several nodes on one database: what it has of the engine, and when.

import { randomBytes } from "node:crypto";
import type { OpenEngine } from "../../engine/engine.ts";
import type { Engine, EngineStatus } from "../../engine/model/api.ts";
import { after, type Clock, steadyClock } from "../../engine/model/clock.ts";
import { closingFailure, QueueError } from "../../engine/model/errors.ts";
import type { NodeTable, Ownership } from "../../stores/nodes.ts";
import type { Log } from "../log.ts";
import type { NodeFigures } from "../metrics.ts";
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
  readonly openEngine: (ownership: Ownership, now: number) => Promise<OpenEngine<string>>;
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
  /** The engine while this node has the shards; refuses everything while it does not. */
  readonly engine: Engine<string>;
  readonly #options: NodeOptions;
  readonly #clock: Clock;
  #held: OpenEngine<string> | null = null;

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
    this.engine = new Proxy({} as Engine<string>, {
      get: (_, name: keyof Engine<string>) => {
        if (this.#held !== null) return this.#held[name].bind(this.#held);
        if (name === "status") return () => options.statusElsewhere;
        return () => {
          throw QueueError.from(closingFailure);
        };
      },
    });
  }

  async #own(ownership: Ownership, now: number): Promise<void> {
    const engine = await this.#options.openEngine(ownership, now);
    if (this.membership.owner?.epoch === ownership.epoch) this.#held = engine;
    else engine.abandon();
  }

  #lose(): void {
    const engine = this.#held;
    this.#held = null;
    engine?.abandon();
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
      const engine = this.#held;
      this.#held = null;
      // A turn whose database says nothing is not waited for.
      const late = after(this.#clock, this.#options.leaseMs, () => engine?.abandon());
      await engine?.close();
      late.cancel();
    });
    this.router.leave();
  }

  async leave(): Promise<void> {
    this.router.close();
    await this.membership.leave();
  }
}
