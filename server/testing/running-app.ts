// The complete app without a socket: the real engine with a store that can be made to fail, and a
// clock that only tests advance.

import { expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// The app imports them on first use, but a test's rounds of events do not wait for the disk.
import "@elysiajs/swagger";
import "prom-client";
import type { Engine } from "../../engine/model/api.ts";
import { newTag } from "../../engine/model/ids.ts";
import { limits } from "../../engine/model/limits.ts";
import { type Notice, openShards } from "../../engine/shards.ts";
import { allShards } from "../../engine/simulation/all-shards.ts";
import { StoreControl } from "../../engine/simulation/faulty-store.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import { replyCodes } from "../../openapi/codes.ts";
import {
  type OperationId,
  operations,
  type RequestOf,
  type ResponseOf,
} from "../../openapi/operations.ts";
import { reasons } from "../../openapi/reasons.ts";
import type {
  LeaseReply,
  OverviewMachine,
  QueueCreateRequest,
  Reply,
  StorageItem,
} from "../../openapi/schemas.ts";
import type { Backend } from "../../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { durabilityOf, openStore, type StoreOptions } from "../../stores/open.ts";
import { immediateSyncer } from "../../stores/sqlite/testing/immediate-syncer.ts";
import type { App, AppConfig } from "../app.ts";
import type { Log } from "../observability/log.ts";
import { Metrics } from "../observability/metrics.ts";
import { renderLeased } from "../wire/leased.ts";
import { silentLog } from "./memory-engine.ts";
import { createApp } from "./one-thread-app.ts";

export const start = Date.UTC(2026, 0, 1);
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export interface Options {
  /** Default `memory`; `sqlite` is on disk, in its own folder. */
  readonly store?: "memory" | "sqlite";
  readonly shards?: number;
  readonly waitingLeasesMax?: number;
  readonly seriesBytes?: number;
  /** The maximum size of a shard's file, in pages of 4 KiB. */
  readonly pagesMax?: number;
  readonly config?: Partial<AppConfig>;
  /** The settings of the queue `orders`, which is created first; `null`: it is not created. */
  readonly orders?: Partial<QueueCreateRequest> | null;
}

export interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the shape that it expects.
  readonly body: any;
  readonly headers: Headers;
}

/** A call in flight; `answer` is `null` while it waits. */
export interface Begun {
  answer: Answer | null;
}

/** A call without an answer after this many rounds of events is assumed to wait for a timer. */
const roundsMax = 2_000;
/** Enough rounds of events for any request to get from its body to the store. */
const roundsToArrive = 20;

export async function run(options: Options = {}): Promise<RunningApp> {
  const app = new RunningApp(options);
  await app.open();
  if (options.orders !== null) await app.create("orders", options.orders);
  return app;
}

export class RunningApp {
  readonly clock = new VirtualClock(start);
  /** Controls the stores of all shards. */
  readonly store = new StoreControl();
  readonly folder = mkdtempSync(join(tmpdir(), "holdfast-specification-"));
  /** The engine's notices to the operator, which a server logs. */
  readonly notices: Notice[] = [];
  /** A place for a test's leases. */
  readonly leases: LeaseReply[] = [];
  /** The logged events, each with the text of its cause. */
  readonly logged: string[] = [];
  readonly #options: Options;
  readonly #random = seededRandom(1);
  /** The data of shards in memory, which outlive a restart. */
  readonly #images = new Map<number, MemoryImage>();
  #engine: Engine<string> | null = null;
  #app: App | null = null;
  #clients = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get engine(): Engine<string> {
    if (this.#engine === null) throw new Error("the engine is not open");
    return this.#engine;
  }

  /** The folder of the stores' files, if the store is on disk. */
  get data(): string {
    return join(this.folder, "data");
  }

  async open(): Promise<void> {
    const { store = "memory", shards = 1, waitingLeasesMax, pagesMax, config } = this.#options;
    const { seriesBytes = 0 } = this.#options;
    const { clock } = this;
    const files = { directory: this.data, ballastBytes: 0, ...(pagesMax && { pagesMax }) };
    const stores: StoreOptions =
      store === "memory"
        ? { kind: "memory" }
        : { kind: "sqlite", syncer: immediateSyncer, ...files };
    const turnLimits = { ...limits, historyBytes: 1_000_000 };
    const { engines } = await this.through(
      openShards<string>({
        shardCount: shards,
        clock,
        turnLimits,
        durability: durabilityOf(stores),
        notice: (notice) => this.notices.push(notice),
        ...(waitingLeasesMax === undefined ? {} : { waitingLeasesMax }),
        ...{ seriesBytes, renderLeased, random: this.#random },
        openStore: async (shard) => {
          const { generation } = this.store;
          return this.store.wrap(await this.#openStore(stores, shard), generation);
        },
      }),
    );
    const note = (event: string, cause?: unknown) => {
      this.logged.push(cause instanceof Error ? `${event}; ${cause.message}` : event);
    };
    // Events at level `info` are expected, so they are not recorded.
    const log: Log = { ...silentLog, debug: note, warn: note, error: note, fatal: note };
    this.#engine = allShards(engines);
    this.#app = createApp({
      engines,
      log,
      metrics: new Metrics({
        ...{ version: "1.2.3", status: () => this.engine.status(), machine, hasBackups: true },
      }),
      version: "1.2.3",
      isClosing: () => false,
      config: { ...defaults, store, ...config },
    });
  }

  async #openStore(stores: StoreOptions, shard: number): Promise<Backend> {
    const tag = () => newTag(this.#random);
    if (stores.kind === "sqlite") return openStore(stores, shard, tag);
    const image = this.#images.get(shard) ?? new MemoryImage(tag());
    this.#images.set(shard, image);
    return openMemoryStore({ tag: "", image });
  }

  /** Restarts the server with the stored data. */
  async restart(): Promise<void> {
    await this.through(this.engine.close());
    await this.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store.release();
    await this.through(this.engine.close());
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true });
  }

  /** Runs rounds of events until the work has ended, without advancing the clock. */
  async through<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    for (let round = 0; !isOver; round += 1) {
      if (round === roundsMax) throw new Error("it still waits");
      await this.clock.settle();
    }
    return work;
  }

  async send(path: string, init: RequestInit = {}): Promise<Response> {
    if (this.#app === null) throw new Error("the app is not open");
    return await this.#app.handle(new Request(`http://localhost${path}`, init));
  }

  async #post(id: OperationId, body: unknown, signal?: AbortSignal): Promise<Answer> {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const headers = {
      "content-type": "application/json",
      "content-length": String(bytes.byteLength),
    };
    const init = { method: "POST", headers, body: bytes, ...(signal && { signal }) };
    const response = await this.send(operations[id].path, init);
    return { code: response.status, body: await response.json(), headers: response.headers };
  }

  /** Sends a request, valid or not, and runs rounds of events without advancing the clock. */
  async begin(id: OperationId, body: unknown, signal?: AbortSignal): Promise<Begun> {
    const begun: Begun = { answer: null };
    void this.#post(id, body, signal).then((answer) => {
      begun.answer = answer;
    });
    await this.arrive();
    return begun;
  }

  async arrive(): Promise<void> {
    for (let round = 0; round < roundsToArrive; round += 1) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.arrive();
  }

  /** Sends a request, valid or not, and returns the answer. */
  call(id: OperationId, body: unknown): Promise<Answer> {
    return this.through(this.#post(id, body));
  }

  /** Returns the reply to a request that must succeed. */
  async ok<Id extends OperationId>(id: Id, body: RequestOf<Id>): Promise<ResponseOf<Id>> {
    const { code, body: reply } = await this.call(id, body);
    if (code !== 200) throw new Error(`${id} was answered ${code}: ${JSON.stringify(reply)}`);
    return reply;
  }

  /** By default, leases last an hour and items wait for a day. */
  async create(name: string, settings: Partial<QueueCreateRequest> = {}): Promise<void> {
    await this.ok("createQueue", {
      queue_name: name,
      lease_timeout: "60m",
      expire_timeout: "24h",
      ...settings,
    });
  }

  /** Produces an item for each text into `orders`. */
  async produce(...texts: string[]): Promise<void> {
    await this.ok("produce", { ...timed, items: texts.map((utf8) => ({ utf8 })) });
  }

  /** A lease request of a new client. */
  leaseOf(change: Partial<RequestOf<"lease">> = {}): RequestOf<"lease"> {
    this.#clients += 1;
    return { ...timed, client_id: `client-${this.#clients}`, batch_size: 100, ...change };
  }

  lease(change: Partial<RequestOf<"lease">> = {}): Promise<LeaseReply> {
    return this.ok("lease", this.leaseOf(change));
  }

  complete(lease: LeaseReply, change: Partial<RequestOf<"complete">> = {}): Promise<Answer> {
    const { queue_name, partition } = lease;
    const ids = idsOf(lease.items);
    return this.call("complete", { queue_name, partition, request_timeout: "1m", ids, ...change });
  }

  retry(lease: LeaseReply, how: { retry_at?: string; dead?: boolean } = {}): Promise<Answer> {
    const { queue_name, partition } = lease;
    const items = idsOf(lease.items).map((id) => ({ id, ...how }));
    return this.call("retry", { queue_name, partition, items });
  }

  /** Ready and leased items of a partition, in queue order. */
  async stored(queue = "orders", partition = 0): Promise<readonly StorageItem[]> {
    const page = { queue_name: queue, partition, pivot: "", limit: 20_000 };
    return (await this.ok("listItems", page)).items;
  }

  async scheduled(queue = "orders", partition = 0): Promise<readonly StorageItem[]> {
    const page = { queue_name: queue, partition, pivot: "", limit: 20_000 };
    return (await this.ok("listScheduled", page)).items;
  }

  async metrics(): Promise<string[]> {
    const response = await this.through(this.send("/metrics"));
    return (await response.text()).split("\n");
  }
}

const machine = (): OverviewMachine => ({
  ...{ name: "test", version: "1.2.3", store: "memory", started_at: instant(start) },
  ...{ memory_bytes: 2 ** 26, disk_bytes: 2 ** 40, disk_free_bytes: 2 ** 39, last_backup_at: null },
});

const defaults: Omit<AppConfig, "store"> = {
  host: "127.0.0.1",
  allowedHosts: [],
  allowedOrigins: [],
  connectionsMax: 1_000,
  bodiesMax: 256_000_000,
  produceBodyMax: 5_000_000,
  importBodyMax: 64_000_000,
  bodyMax: 256_000,
};

export const orders = { queue_name: "orders" };
export const timed = { ...orders, request_timeout: "1m" };
export const done: Reply = { code: 200, code_text: "OK", message: "" };

/** Matches any reason that fits the code; `reasons.test.ts` checks the exact one. */
export function anyReasonOf(code: number): string {
  const fitting = Object.entries(reasons).filter(([, { codes }]) =>
    codes.some((one) => one === code),
  );
  return expect.stringMatching(new RegExp(`^(${fitting.map(([name]) => name).join("|")})$`));
}

/** A complete error reply: the code in the status and in the body, and all fields. */
export function refused(
  code: keyof typeof replyCodes,
  message: string,
  details?: Record<string, string>,
) {
  const reply = { code, code_text: replyCodes[code].text, message, reason: anyReasonOf(code) };
  return { code, body: details === undefined ? reply : { ...reply, details } };
}

/** The code and the body of an answer, without its headers. */
export function plain(answer: Answer | null) {
  return answer === null ? null : { code: answer.code, body: answer.body };
}

export function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id);
}

/** The payloads of leased or stored items as texts. */
export function textsOf(items: readonly ({ bytes: string } | { payload: string })[]): string[] {
  return items.map((item) => atob("bytes" in item ? item.bytes : item.payload));
}

export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
