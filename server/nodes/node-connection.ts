// The connection to the rows of the nodes: opened anew after a failure, and given up if it does not
// answer in time.

import { after, type Clock } from "../../engine/model/clock.ts";
import type { NodeTable } from "../../stores/nodes.ts";

interface NodeConnectionOptions {
  readonly openNodes: () => Promise<NodeTable>;
  readonly clock: Clock;
  readonly leaseMs: number;
}

/**
 * A look without an answer for longer is given up, and its connection with it: an owner has then
 * time for further ones before its shards may be another's. A longer lease bears a slower database.
 */
const answerMsMax = { least: 2_000, ofLease: 1 / 5 };

export class NodeConnection {
  readonly #options: NodeConnectionOptions;
  #nodes: Promise<NodeTable> | null = null;

  constructor(options: NodeConnectionOptions) {
    this.#options = options;
  }

  /** Milliseconds that an answer may take. */
  get answerMsMax(): number {
    return Math.max(answerMsMax.least, this.#options.leaseMs * answerMsMax.ofLease);
  }

  /** Throws if the database cannot be reached. */
  async open(): Promise<void> {
    await this.#opening();
  }

  /** Runs the work on the connection, which is closed if that fails, and opened anew for the next. */
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

  /** An opening has bounds of its own, and continues after a look: it may have several hosts to try. */
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
   * `null`: there is no connection. What was asked on one that does not answer may yet be done: a look
   * shows whether it was.
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
