// The engine as a library, without HTTP: joins engine and store.

import { durabilityOf, openStore, type StoreConfig, type StoreOptions } from "../stores/open.ts";
import { requests } from "./library/requests.ts";
import { requestOf, type TypedQueue, valueIn } from "./library/typed-queue.ts";
import { EngineWorker, type Handler, type Worker, type WorkOptions } from "./library/work.ts";
import { textOf, type WorkNotice } from "./library/work-notice.ts";
import type { Engine, LeasedItem, NewQueue, QueueSettings } from "./model/api.ts";
import { type Clock, systemClock, TestClock } from "./model/clock.ts";
import { QueueError } from "./model/errors.ts";
import { newTag } from "./model/ids.ts";
import { limits } from "./model/limits.ts";
import { systemRandom } from "./model/random.ts";
import {
  flag,
  number,
  object,
  optional,
  type Shape,
  shape,
  text,
  word,
} from "./model/runtime-types.ts";
import { type Notice, openEngine } from "./shards.ts";

export type { Payload } from "../stores/item.ts";
export type { StoreConfig } from "../stores/open.ts";
export { StoreError } from "../stores/store.ts";
export type { ItemOptions, TypedQueue, ValueHandler } from "./library/typed-queue.ts";
export {
  DeadLetter,
  type Handler,
  type Handling,
  type Worker,
  type WorkOptions,
} from "./library/work.ts";
export type { WorkNotice } from "./library/work-notice.ts";
export type * from "./model/api.ts";
export { never, pending } from "./model/duration.ts";
export { type ErrorCode, QueueError, type Reason } from "./model/errors.ts";
export type { Filter, ItemSummary, SummaryField } from "./model/filter.ts";
export type { Headers } from "./model/headers.ts";
export type { Histogram } from "./model/histogram.ts";
export type { Past } from "./model/provenance.ts";
export type { Notice } from "./shards.ts";

export interface CreateEngineOptions {
  readonly store: StoreConfig;
  readonly notice?: (notice: Notice) => void;
  /** How long a call with a `requestKey` can be repeated; default 5 min. */
  readonly receiptsWindowMs?: number;
  /** Calls with a key that are remembered at once; default 2 million. */
  readonly receiptsMax?: number;
  /** Bytes of memory for `series`; default 0 = off. */
  readonly seriesBytes?: number;
  /** Bytes of memory for the history that `explainItem` returns; default 0 = off. */
  readonly historyBytes?: number;
  /**
   * Time stands still except during `advance`; default false. A folder used with a test clock is
   * refused without one, and vice versa.
   */
  readonly testClock?: boolean;
}

/** The settings in which an existing queue differs from the requested ones; empty = none. */
export type Differences = {
  readonly [Name in (typeof ensured)[number]]?: {
    readonly requested: QueueSettings[Name];
    readonly actual: QueueSettings[Name];
  };
};

export interface EnsureOptions {
  /** Changes an existing queue to the settings; default false. */
  readonly update?: boolean;
}

export interface EmbeddedEngine extends Engine {
  createQueue(settings: NewQueue): Promise<void>;
  /** Creates the queue unless it exists; then returns how it differs, and leaves it unchanged. */
  ensureQueue(settings: NewQueue, options?: EnsureOptions): Promise<Differences>;
  /** Handles each item of a queue, until the worker is stopped or the engine is closed. */
  work(queue: string, handler: Handler, options?: WorkOptions): Worker;
  /** A queue whose payloads are values of one type, as JSON. */
  queue<Value>(name: string): TypedQueue<Value>;
  /** Stops its workers first, like `Worker.stop`. Idempotent. */
  close(): Promise<void>;
}

const ensured = [
  "deadQueue",
  "reference",
  "leaseTimeoutMs",
  "expireTimeoutMs",
  "maxAttempts",
  "requestedPartitions",
  "leasedMax",
  "leaseRate",
  "waitingMax",
  "retryBackoff",
  "uniqueForMs",
  "priorityAgingMs",
  "grouped",
  "groupLeasedMax",
  "groupRate",
  "groupWaitingMax",
  "groupOrder",
  "groupOnDead",
] as const;

/** The defaults of a new queue. */
const unset = { deadQueue: "", reference: "", maxAttempts: 0, requestedPartitions: 1 };
/** The defaults of settings that a definition omits. */
const unlimited = {
  ...{ leasedMax: 0, leaseRate: "", waitingMax: 0, retryBackoff: "", uniqueForMs: 0 },
  priorityAgingMs: limits.priorityAgingMsDefault,
  ...{ grouped: false, groupLeasedMax: 0, groupRate: "", groupWaitingMax: 0 },
  ...{ groupOrder: "loose", groupOnDead: "continue" },
} as const;

const sqlite = object<Extract<StoreConfig, { kind: "sqlite" }>>({
  kind: shape("'memory', 'sqlite' or 'postgres'", (value) => value === "sqlite"),
  directory: text,
  durability: optional(word("full", "normal")),
  acceptLogLoss: optional(flag),
  ballastBytes: optional(number),
  pagesMax: optional(number),
});
const memory = object<Extract<StoreConfig, { kind: "memory" }>>({ kind: word("memory") });
const postgres = object<Extract<StoreConfig, { kind: "postgres" }>>({
  kind: word("postgres"),
  url: text,
  schema: optional(text),
});
const store: Shape<StoreConfig> = (value, path) => {
  const kind = typeof value === "object" && value !== null && "kind" in value && value.kind;
  if (kind === "memory") return memory(value, path);
  return kind === "postgres" ? postgres(value, path) : sqlite(value, path);
};
const positive = shape(
  "a whole number from 1 on",
  (value): value is number => Number.isSafeInteger(value) && Number(value) >= 1,
);
const bytes = shape(
  "a whole number from 0 on",
  (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0,
);
const callable = shape("a function", (value): value is Handler => typeof value === "function");
const length = shape(
  "milliseconds from 0",
  (value): value is number => typeof value === "number" && value >= 0,
);
const workOptions = object<WorkOptions>({
  concurrency: optional(positive),
  backoff: optional(
    shape(
      "a function",
      (value): value is NonNullable<WorkOptions["backoff"]> => typeof value === "function",
    ),
  ),
  leaseTimeoutMs: optional(number),
  priorityMin: optional(number),
  drainMs: optional(length),
  clientId: optional(text),
  signal: optional(
    shape("an AbortSignal", (value): value is AbortSignal => value instanceof AbortSignal),
  ),
  notice: optional(
    shape(
      "a function",
      (value): value is NonNullable<WorkOptions["notice"]> => typeof value === "function",
    ),
  ),
});
const engineOptions = object<CreateEngineOptions>({
  store,
  notice: optional(
    shape("a function", (value): value is (notice: Notice) => void => typeof value === "function"),
  ),
  receiptsWindowMs: optional(positive),
  receiptsMax: optional(positive),
  seriesBytes: optional(bytes),
  historyBytes: optional(bytes),
  testClock: optional(flag),
});

/**
 * Opens the store and returns the engine. Throws `StoreError` if the store cannot be opened; its
 * `fault` is `locked` if another process has it.
 */
export async function createEngine(options: CreateEngineOptions): Promise<EmbeddedEngine> {
  const {
    store,
    notice = () => undefined,
    receiptsWindowMs = limits.receiptsWindowMs,
    receiptsMax = limits.receiptsMax,
    seriesBytes = 0,
    historyBytes = limits.historyBytes,
    testClock = false,
  } = engineOptions(options, "");
  const clock = testClock ? new TestClock() : systemClock();
  const config: StoreOptions = { ...store, testClock };
  const turnLimits = {
    ...{ ...limits, receiptsWindowMs, receiptsMax },
    historyBytes,
  };
  const durability = durabilityOf(store);
  const engine = await openEngine({
    openStore: (shard) => openStore(config, shard, () => newTag(systemRandom)),
    renderLeased: ownedByCaller,
    clock,
    turnLimits,
    durability,
    notice,
    seriesBytes,
  });
  return checked(engine, clock);
}

/** Copies the payloads: a caller may change them, but a store in memory keeps its own. */
function ownedByCaller(items: readonly LeasedItem[]): readonly LeasedItem[] {
  return items.map((item) => ({ ...item, payload: item.payload.slice() }));
}

/** Checks arguments at run time, for callers without a compiler. */
function checked(engine: Engine, clock: Clock): EmbeddedEngine {
  const { stop, ...workers } = workersOf(engine, clock);
  return {
    produce: async (request) => engine.produce(requests.produce(request, "")),
    lease: async (request) => engine.lease(requests.lease(request, "")),
    complete: async (request) => engine.complete(requests.complete(request, "")),
    retry: async (request) => engine.retry(requests.retry(request, "")),
    extend: async (request) => engine.extend(requests.extend(request, "")),
    release: async (request) => engine.release(requests.release(request, "")),
    transact: async (request) => engine.transact(requests.transact(request, "")),

    listQueues: (request) => engine.listQueues(requests.listQueues(request, "")),
    createQueue: async (settings) =>
      engine.createQueue({ ...unset, ...requests.createQueue(settings, "") }),
    ensureQueue: async (settings, options) =>
      ensureQueue(engine, requests.createQueue(settings, ""), options),
    updateQueue: async (change) => engine.updateQueue(requests.updateQueue(change, "")),
    pause: async (request) => engine.pause(requests.pause(request, "")),
    resume: async (queue) => engine.resume(text(queue, "queue")),
    queueInfo: (name) => engine.queueInfo(text(name, "name")),
    deleteQueue: async (request) => engine.deleteQueue(requests.deleteQueue(request, "")),

    stats: async (queue) => engine.stats(text(queue, "queue")),
    series: (request) => engine.series(requests.series(request, "")),
    inspect: async (queue) => engine.inspect(text(queue, "queue")),
    explain: (queue) => engine.explain(text(queue, "queue")),
    clients: async (request) => engine.clients(requests.clients(request, "")),
    overview: (since) => engine.overview(text(since, "since")),
    clear: async (request) => engine.clear(requests.clear(request, "")),
    reload: async (queue) => engine.reload(text(queue, "queue")),

    ...itemCalls(engine),

    backup: async (folder) => engine.backup(text(folder, "folder")),
    advance: async (byMs, options) =>
      engine.advance(number(byMs, "byMs"), optional(requests.advance)(options, "")),
    requireQueue: (name, partition) =>
      engine.requireQueue(text(name, "name"), optional(number)(partition, "partition")),
    status: () => engine.status(),
    ...workers,
    close: async () => {
      const stopped = stop();
      // Without workers, close synchronously, so that no call can start in between.
      if (stopped !== null) await stopped;
      await engine.close();
    },
  };
}

/** The calls that inspect and repair items. */
function itemCalls(engine: Engine) {
  return {
    listItems: async (request) => engine.listItems(requests.list(request, "")),
    listScheduled: async (request) => engine.listScheduled(requests.list(request, "")),
    importItems: async (request) => engine.importItems(requests.importItems(request, "")),
    deleteItems: async (request) => engine.deleteItems(requests.deleteItems(request, "")),
    cancelItems: async (request) => engine.cancelItems(requests.cancelItems(request, "")),

    listGroups: async (request) => engine.listGroups(requests.listGroups(request, "")),
    setGroup: async (change) => engine.setGroup(requests.setGroup(change, "")),

    findItems: async (request) => engine.findItems(requests.findItems(request, "")),
    summarizeItems: async (request) => engine.summarizeItems(requests.summarizeItems(request, "")),
    redrive: async (request) => engine.redrive(requests.redrive(request, "")),
    repair: async (request) => engine.repair(requests.repair(request, "")),
    listTasks: (queue) => engine.listTasks(optional(text)(queue, "queue")),
    taskInfo: (taskId) => engine.taskInfo(text(taskId, "taskId")),
    cancelTask: async (taskId) => engine.cancelTask(text(taskId, "taskId")),
    getItem: async (id, range) =>
      engine.getItem(text(id, "id"), optional(requests.payloadRange)(range, "range")),
    explainItem: async (id) => engine.explainItem(text(id, "id")),
  } satisfies Partial<EmbeddedEngine>;
}

function workersOf(engine: Engine, clock: Clock) {
  const workers = new Set<Worker>();
  const work: EmbeddedEngine["work"] = (queue, handler, options = {}) => {
    const printed = (notice: WorkNotice): void => console.warn(textOf(notice, queue));
    const { notice = printed, ...others } = workOptions(options, "options");
    const worker = new EngineWorker({
      ...{ engine, clock, random: systemRandom },
      queue: text(queue, "queue"),
      handler: callable(handler, "handler"),
      options: { ...others, notice },
    });
    workers.add(worker);
    const forget = (): void => void workers.delete(worker);
    // A program need not await `stopped`: the notice `ended` has the same error.
    worker.stopped.then(forget, forget);
    return worker;
  };
  return {
    work,
    queue: <Value>(name: string): TypedQueue<Value> => ({
      name: text(name, "name"),
      produce: async (value, options) =>
        engine.produce(requests.produce(requestOf(name, value, options), "")),
      work: (handler, options) =>
        work(name, (item, handling) => handler(valueIn<Value>(item), item, handling), options),
    }),
    /** `null` = there are no workers. */
    stop: () =>
      workers.size === 0 ? null : Promise.allSettled([...workers].map((worker) => worker.stop())),
  };
}

async function ensureQueue(
  engine: Engine,
  settings: NewQueue,
  { update = false }: EnsureOptions = {},
): Promise<Differences> {
  try {
    await engine.createQueue({ ...unset, ...settings });
    return {};
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    // Either the queue exists or the settings are invalid; only an existing queue has a definition.
    const is = definitionOf(engine, settings.name);
    if (is === null) throw error;
    const held = { ...unlimited, ...is };
    const differing = ensured.filter(
      (name) => settings[name] !== undefined && settings[name] !== held[name],
    );
    if (!update || differing.length === 0) {
      return Object.fromEntries(
        differing.map((name) => [name, { requested: settings[name], actual: held[name] }]),
      );
    }
  }
  await engine.updateQueue(settings);
  return {};
}

/** `null` = there is no such queue. */
function definitionOf(engine: Engine, name: string): QueueSettings | null {
  try {
    return engine.queueInfo(name);
  } catch {
    return null;
  }
}
