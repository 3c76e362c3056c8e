// Clients that produce, lease and complete at several nodes, half of them with keys, and count
// failures. A client whose connection is closed uses the next node.

import type { NodeProcess } from "../../testing/cluster.ts";
import { Connection, type Reply } from "../../testing/http-client.ts";

const clients = 16;
const againMs = 5;
const sendsMax = 5;

export interface LoadFigures {
  readonly calls: number;
  /** Calls without a key: neither done, nor refused for lack of items. */
  readonly failed: number;
  /** Calls with a key that were repeated, and those that still failed. */
  readonly repeated: number;
  readonly unmended: number;
  readonly longestMs: number;
}

export class NodesLoad {
  readonly #nodes: () => readonly NodeProcess[];
  readonly #working: Promise<void>[];
  readonly #figures = { calls: 0, failed: 0, repeated: 0, unmended: 0, longestMs: 0 };
  #next = 0;
  #isOver = false;

  constructor(nodes: () => readonly NodeProcess[]) {
    this.#nodes = nodes;
    this.#working = Array.from({ length: clients }, (_, client) => this.#work(client));
  }

  async stop(): Promise<LoadFigures> {
    this.#isOver = true;
    await Promise.all(this.#working);
    return this.#figures;
  }

  async #work(client: number): Promise<void> {
    const common = { queue_name: "orders", request_timeout: "30s" };
    const send = new Sender(() => this.#connect());
    const isKeyed = client % 2 === 0;
    const call = (path: string, body: object): Promise<Reply | null> =>
      this.#call(send, { path, body: { ...common, ...body }, isKeyed });
    while (!this.#isOver) {
      await call("produce", { items: [{ utf8: "steady" }] });
      const leased = await call("lease", { client_id: `client-${client}`, batch_size: 1 });
      if (leased?.status !== 200) continue;
      const { partition, items } = JSON.parse(leased.body);
      await call("complete", { partition, ids: items.map(({ id }: { id: string }) => id) });
    }
    send.close();
  }

  async #call(
    sender: Sender,
    {
      path,
      body,
      isKeyed,
    }: { readonly path: string; readonly body: object; readonly isKeyed: boolean },
  ): Promise<Reply | null> {
    const headers = isKeyed ? `Idempotency-Key: ${crypto.randomUUID()}\r\n` : "";
    const text = JSON.stringify(body);
    const begin = performance.now();
    let reply = await sender.post(`/v1/queue.${path}`, text, headers);
    for (let sends = 1; isKeyed && !isDone(reply) && sends < sendsMax; sends += 1) {
      this.#figures.repeated += 1;
      reply = await sender.post(`/v1/queue.${path}`, text, headers);
    }
    this.#figures.calls += 1;
    this.#figures.longestMs = Math.max(this.#figures.longestMs, performance.now() - begin);
    if (!isDone(reply)) this.#figures[isKeyed ? "unmended" : "failed"] += 1;
    return reply;
  }

  async #connect(): Promise<Connection> {
    for (;;) {
      const nodes = this.#nodes();
      this.#next += 1;
      const port = nodes[this.#next % nodes.length]?.port ?? 0;
      const connection = await Connection.open(port).catch(() => null);
      if (connection !== null) return connection;
      await Bun.sleep(againMs);
    }
  }
}

/** 454 answers a lease that found no items in time. */
function isDone(reply: Reply | null): boolean {
  return reply?.status === 200 || reply?.status === 454;
}

/** Uses one connection after the other. */
class Sender {
  readonly #connect: () => Promise<Connection>;
  #connection: Connection | null = null;

  constructor(connect: () => Promise<Connection>) {
    this.#connect = connect;
  }

  /** `null`: the connection broke before the answer. */
  async post(path: string, body: string, headers: string): Promise<Reply | null> {
    this.#connection ??= await this.#connect();
    const reply = await this.#connection.post(path, body, headers).catch(() => null);
    // A stopping node answers 503; another node takes the next call.
    if (reply === null || reply.status === 503) this.close();
    return reply;
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }
}
