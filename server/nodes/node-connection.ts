// The connection to the table of nodes. It is reopened after a failure, and given up if it does not
// answer in time.

import { after, type Clock } from "../../engine/model/clock.ts";
import type { NodeTable } from "../../stores/nodes.ts";

interface NodeConnectionOptions {
  readonly openNodes: () => Promise<NodeTable>;
  readonly clock: Clock;
  readonly leaseMs: number;
}

/**
 * A look that takes longer is given up along with its connection. The owner then has time for
 * further looks before another node may take its shards. A longer lease tolerates a slower
 * database.
 */
const answerMsMax = { least: 2_000, ofLease: 1 / 5 };

export class NodeConnection {
  readonly #options: NodeConnectionOptions;
  #nodes: Promise<NodeTable> | null = null;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
  }

  /** How long an answer may take. */
  get answerMsMax(): number {
    return Math.max(answerMsMax.least, this.#options.leaseMs * answerMsMax.ofLease);
  }

  /** Throws if the database cannot be reached. */
  async open(): Promise<void> {
    await this.#opening();
  }

  /** Runs the work on the connection. After a failure, the connection is reopened on next use. */
  async use(work: (nodes: NodeTable) => Promise<void>): Promise<void> {
    const nodes = await this.#opened();
    try {
      await work(nodes);
    } catch (cause) {
      this.#nodes = null;
      nodes.close().catch(() => undefined);
      throw cause;
    }
  }

  /** Opening may try several hosts, so it has its own timeouts and outlasts a look that gave up. */
  #opened(): Promise<NodeTable> {
    return this.inTime(this.#nodes ?? this.#opening());
  }

  #opening(): Promise<NodeTable> {
    const nodes = this.#options.openNodes();
    this.#nodes = nodes;
    nodes.catch(() => {
      if (this.#nodes === nodes) this.#nodes = null;
    });
    return nodes;
  }

  /**
   * Resolves to `null` if there is no connection. A request that was not answered may still take
   * effect; the next look shows whether it did.
   */
  async ask<T>(ask: (nodes: NodeTable) => Promise<T>): Promise<T | null> {
    return this.#nodes === null ? null : await this.inTime(this.#nodes.then(ask));
  }

  /** Throws if the answer takes too long. */
  async inTime<T>(answer: Promise<T>): Promise<T> {
    const ms = this.answerMsMax;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = (): void => reject(new Error(`nothing came within ${ms} ms`));
    const timer = after(this.#options.clock, ms, late);
    try {
      return await Promise.race([answer, promise]);
    } finally {
      timer.cancel();
      answer.catch(() => undefined);
    }
  }
}
