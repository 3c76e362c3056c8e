// The connection to the table of nodes. It is reopened after a failure, and abandoned if it does not
// answer in time.

import { after, type Clock } from "../../engine/model/clock.ts";
import type { NodeTable } from "../../stores/nodes.ts";

interface NodeConnectionOptions {
  readonly openNodes: () => Promise<NodeTable>;
  readonly clock: Clock;
  readonly leaseMs: number;
}

/**
 * A poll that takes longer is abandoned along with its connection. The owner then has time for
 * further polls before another node may take over its shards. A longer lease tolerates a slower
 * database.
 */
const timeout = { minMs: 2_000, ofLease: 1 / 5 };

export class NodeConnection {
  readonly #options: NodeConnectionOptions;
  #nodes: Promise<NodeTable> | null = null;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
  }

  get timeoutMs(): number {
    return Math.max(timeout.minMs, this.#options.leaseMs * timeout.ofLease);
  }

  /** Runs the work on the connection. After a failure, the connection is reopened on next use. */
  async use(work: (nodes: NodeTable) => Promise<void>): Promise<void> {
    // Opening may try several hosts, so it has its own timeouts and outlasts a poll that timed out.
    const nodes = await this.withTimeout(this.#nodes ?? this.open());
    try {
      await work(nodes);
    } catch (cause) {
      this.#nodes = null;
      nodes.close().catch(() => undefined);
      throw cause;
    }
  }

  /** Rejects if the database is unreachable. */
  open(): Promise<NodeTable> {
    const nodes = this.#options.openNodes();
    this.#nodes = nodes;
    nodes.catch(() => {
      if (this.#nodes === nodes) this.#nodes = null;
    });
    return nodes;
  }

  /**
   * Resolves to `null` if there is no connection. A request that was not answered may still take
   * effect; the next poll shows whether it did.
   */
  async query<T>(query: (nodes: NodeTable) => Promise<T>): Promise<T | null> {
    return this.#nodes === null ? null : await this.withTimeout(this.#nodes.then(query));
  }

  /** Throws if the answer takes too long. */
  async withTimeout<T>(answer: Promise<T>): Promise<T> {
    const ms = this.timeoutMs;
    const { promise, reject } = Promise.withResolvers<never>();
    const late = (): void => reject(new Error(`the database did not answer within ${ms} ms`));
    const timer = after(this.#options.clock, ms, late);
    try {
      return await Promise.race([answer, promise]);
    } finally {
      timer.cancel();
      answer.catch(() => undefined);
    }
  }
}
