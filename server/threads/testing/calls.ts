// Calls to a server with several threads. Each call has its own connection, which any thread may
// accept.

import { expect } from "bun:test";
import { nameIn } from "../../../engine/simulation/bundle.ts";
import type { FoundItem, LeaseReply } from "../../../openapi/schemas.ts";

export const shardCount = 5;
/** The main thread has one shard, the others two each. */
export const threadCount = 3;
export const shardFlags: readonly string[] = [
  ...["--shards", String(shardCount)],
  ...["--threads", String(threadCount)],
];
export const shards = Array.from({ length: shardCount }, (_, shard) => shard);

/** With this many connections, one of three threads gets none once in 5,000 tests. */
export const connectionCount = 24;

export const timeouts = { lease_timeout: "1m", expire_timeout: "1h" };

/** Returns the name of a queue in the shard. */
export function queueOf(shard: number, about: string): string {
  return nameIn(shard, shardCount, about.replaceAll(" ", "-"));
}

interface Asked {
  /** Added to the headers of all calls. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Replied {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the shape that it expects.
  readonly body: any;
  readonly headers: Headers;
}

/** `path`: without `/v1/`. */
export type Call = (path: string, body: object, asked?: Asked) => Promise<Replied>;

export interface Calls {
  readonly url: string;
  readonly call: Call;
  page(path: string): Promise<{ readonly code: number; readonly text: string }>;
  createQueue(queue_name: string, settings?: object): Promise<void>;
  produce(queue_name: string, ...texts: readonly string[]): Promise<Replied>;
  lease(
    queue_name: string,
    client_id: string,
    asked?: Asked & { batch_size?: number },
  ): Promise<Replied>;
  /** Leases up to 1,000 items and moves them to the dead queue. */
  bury(queue_name: string): Promise<void>;
  textsIn(queue_name: string): Promise<string[]>;
  /** Resolves to the texts once there are `count`. */
  arrived(queue_name: string, count: number): Promise<string[]>;
  metric(name: string): Promise<number>;
}

/** `send`: `fetch`, which only test files may name. `own`: headers of every call. */
export function callsTo(
  send: typeof globalThis.fetch,
  port: number,
  own: Readonly<Record<string, string>> = {},
): Calls {
  const url = `http://127.0.0.1:${port}`;
  const always = { "content-type": "application/json", connection: "close", ...own };
  const call: Call = async (path, body, { headers = {}, signal } = {}) => {
    const response = await send(`${url}/v1/${path}`, {
      ...{ method: "POST", body: JSON.stringify(body), headers: { ...always, ...headers } },
      ...(signal && { signal }),
    });
    return { code: response.status, body: await response.json(), headers: response.headers };
  };
  const done = async (path: string, body: object): Promise<Replied> => {
    const replied = await call(path, body);
    expect(replied).toMatchObject({ code: 200 });
    return replied;
  };
  const page: Calls["page"] = async (path) => {
    const response = await send(`${url}/${path}`, { headers: always });
    return { code: response.status, text: await response.text() };
  };
  const produce: Calls["produce"] = (queue_name, ...texts) => {
    const items = texts.map((utf8) => ({ utf8 }));
    return call("queue.produce", { queue_name, request_timeout: "1m", items });
  };
  const lease: Calls["lease"] = (queue_name, client_id, { batch_size = 10, ...asked } = {}) =>
    call("queue.lease", { queue_name, client_id, batch_size, request_timeout: "1m" }, asked);
  const textsIn = async (queue_name: string): Promise<string[]> => {
    const asked = { queue_name, payload_head: 99, limit: 1_000 };
    const { body } = await done("storage/items.find", asked);
    return (body.items as FoundItem[]).map(({ payload }) => atob(payload)).sort();
  };
  return {
    ...{ url, call, page, produce, lease, textsIn },
    createQueue: async (queue_name, settings = {}) => {
      await done("queues.create", { queue_name, ...timeouts, ...settings });
    },
    bury: async (queue_name) => {
      const { items, partition }: LeaseReply = (
        await lease(queue_name, "undertaker", { batch_size: 1_000 })
      ).body;
      const given = items.map(({ id }) => ({ id, dead: true, reason: "no card" }));
      const asked = { queue_name, partition, items: given, request_timeout: "1m" };
      await done("queue.retry", asked);
    },
    arrived: async (queue_name, count) => {
      for (;;) {
        const texts = await textsIn(queue_name);
        if (texts.length >= count) return texts;
        await Bun.sleep(5);
      }
    },
    metric: async (name) => {
      const lines = (await page("metrics")).text.split("\n");
      return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length));
    },
  };
}

/** Does the same work over enough connections that each thread gets some. */
export function everywhere<T>(work: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: connectionCount }, (_, index) => work(index)));
}
