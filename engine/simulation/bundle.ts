// The fixture of engine tests, new for each test: the engines of all shards as one, in this thread,
// with stores that fail on command, images that survive a restart, and a virtual clock.

import type { Backend } from "../../stores/backend.ts";
import type { Item } from "../../stores/item.ts";
import { MemoryImage, openMemoryStore } from "../../stores/memory/store.ts";
import { type Store, StoreError } from "../../stores/store.ts";
import type {
  Engine,
  Lease,
  LeasedItem,
  LeaseRequest,
  Outcome,
  Produced,
  QueueSettings,
  TaskInfo,
} from "../model/api.ts";
import { TestClock } from "../model/clock.ts";
import { type ErrorCode, QueueError } from "../model/errors.ts";
import { newTag } from "../model/ids.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import { shardOf } from "../model/placement.ts";
import { type Resharded, type ReshardOptions, reshard } from "../reshard/reshard.ts";
import { type Notice, openShards } from "../shards.ts";
import type { Memory } from "../state/memory.ts";
import { allShards } from "./all-shards.ts";
import { StoreControl } from "./faulty-store.ts";
import { seededRandom } from "./seeded-random.ts";
import { VirtualClock } from "./virtual-clock.ts";

export const start = 1_700_000_000_000;
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export interface SetupOptions {
  readonly shardCount?: number;
  readonly seed?: number;
  readonly waitingLeasesMax?: number;
  /** Opens the store of a shard, instead of one in memory; called again after a restart. */
  readonly openStore?: (shard: number) => Promise<Backend>;
  readonly turnLimits?: TurnLimits;
  /** Stores sync some events after a commit; in memory, a power cut loses unsynced commits. */
  readonly syncsLater?: boolean;
  /** Queues use a test clock, and request deadlines the clock of the bundle. */
  readonly hasTestClock?: boolean;
  /** Wraps each engine that is opened. */
  readonly watching?: (engine: Engine) => Engine;
  /** Called after each commit with the memory of the shard and its store, without its faults. */
  readonly observe?: (shard: number, memory: Memory, store: Store) => Promise<void>;
}

export type Ending<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Readonly<Record<string, string>> | undefined;
    };

/** The usual endings of a first call: success, not replayed. */
export const doneFirst: Ending<Outcome> = { ok: true, value: { replayed: false } };
export const writtenFirst: Ending<Produced> = {
  ok: true,
  value: { replayed: false, duplicates: [] },
};

/** An engine that can explain its queues. */
export interface Witness {
  readonly engine: Engine;
  /** Identifies its memory of a queue; another object after that is lost. */
  readonly memoryOf: (queue: string) => { readonly since: number };
  /** By the clock of the engine. */
  readonly now: number;
}

/** A call that was started; `ending` is `null` while it waits. */
export interface Started<T> {
  ending: Ending<T> | null;
}

export type Leased = Lease<readonly LeasedItem[]>;

export class Bundle {
  clock = new VirtualClock(start);
  #testClock: TestClock | null = null;
  #engine: Engine | null = null;
  #memory = { since: start };
  #clients = 0;
  readonly notices: Notice[] = [];
  readonly #options: SetupOptions;
  readonly #controls: StoreControl[] = [];
  #images: MemoryImage[] = [];
  #shardCount: number;
  readonly #stores: Store[] = [];
  #kills = 0;
  readonly #random;

  constructor(options: SetupOptions) {
    this.#options = options;
    this.#shardCount = options.shardCount ?? 1;
    this.#random = seededRandom(options.seed ?? 1);
  }

  get engine(): Engine {
    if (this.#engine === null) throw new Error("the engine is not open");
    return this.#engine;
  }

  /** Checks listings and overviews of all queues, while nothing happens. */
  async checkWholes(): Promise<void> {
    // Only nodes have routes that merge the replies of several shards.
  }

  /** `null` = no engine can explain queues now. */
  get witness(): Witness | null {
    const memory = this.#memory;
    return { engine: this.engine, memoryOf: () => memory, now: this.now };
  }

  /** By the clock of the queues. */
  get now(): number {
    return (this.#testClock ?? this.clock).now();
  }

  store(shard = 0): StoreControl {
    let control = this.#controls[shard];
    if (control === undefined) {
      control = new StoreControl();
      this.#controls[shard] = control;
      if (this.#options.syncsLater === true) {
        control.syncsLater = {
          nextTick: (run) => this.clock.nextTick(run),
          copy: () => this.#copy(shard),
        };
      }
    }
    return control;
  }

  /** The stored state of a shard, for stores in memory. */
  image(shard = 0): MemoryImage {
    let image = this.#images[shard];
    if (image === undefined) {
      image = new MemoryImage(newTag(this.#random));
      this.#images[shard] = image;
    }
    return image;
  }

  /** Copies the stored state; the result restores it once. */
  #copy(shard: number): () => void {
    if (this.#options.openStore !== undefined) return () => undefined;
    const copy = copyOf(this.image(shard));
    return () => {
      this.#images[shard] = copy;
    };
  }

  /** Copies the stored state; the result restores it between two processes, any number of times. */
  snapshot(shard: number): () => void {
    const copy = copyOf(this.image(shard));
    return () => {
      this.#images[shard] = copyOf(copy);
    };
  }

  /** Opens the engine on the stored state, and settles. */
  async open(options: { now?: number } = {}): Promise<void> {
    await this.run(() => this.opening(options));
  }

  /** Opens the engine on the stored state without settling. */
  async opening({ now = this.clock.now() }: { now?: number } = {}): Promise<void> {
    this.clock = new VirtualClock(now);
    this.#testClock = this.#options.hasTestClock === true ? new TestClock(this.clock, now) : null;
    const clock = this.#testClock ?? this.clock;
    const kills = this.#kills;
    const { waitingLeasesMax, turnLimits = limits, observe } = this.#options;
    const { engines } = await openShards({
      shardCount: this.#shardCount,
      clock,
      durability: "none",
      turnLimits,
      notice: (notice) => this.notices.push(notice),
      ...(waitingLeasesMax === undefined ? {} : { waitingLeasesMax }),
      renderLeased: (items) => items,
      random: this.#random,
      openStore: (shard) => this.#openStore(shard),
      ...(observe && {
        observe: (shard: number, memory: Memory) =>
          this.#observe(observe, { shard, memory, kills }),
      }),
    });
    const engine = allShards(engines);
    this.#engine = this.#options.watching?.(engine) ?? engine;
    this.#memory = { since: now };
  }

  /** Ignores failures of an observer after its process was killed. */
  async #observe(
    observe: NonNullable<SetupOptions["observe"]>,
    { shard, memory, kills }: { shard: number; memory: Memory; kills: number },
  ): Promise<void> {
    try {
      await observe(shard, memory, this.#stores[shard] as Store);
    } catch (cause) {
      if (kills === this.#kills) throw cause;
    }
  }

  async #openStore(shard: number): Promise<Backend> {
    const control = this.store(shard);
    if (control.openFault !== null) {
      throw new StoreError(control.openFault, "injected failure to open");
    }
    const { generation } = control;
    const open = this.#options.openStore;
    const backend =
      open === undefined
        ? openMemoryStore({ tag: "", image: this.image(shard) })
        : await open(shard);
    if (!control.isDead(generation)) this.#stores[shard] = backend.store;
    return control.wrap(backend, generation);
  }

  get images(): readonly MemoryImage[] {
    return this.#images;
  }

  get downs(): number {
    return this.notices.filter(({ kind }) => kind === "shard_down").length;
  }

  /** The cause of a dead shard that is not a store error. */
  bug(): unknown {
    const died = this.notices.find(
      ({ kind, cause }) => kind === "shard_down" && !(cause instanceof StoreError),
    );
    return died?.cause ?? null;
  }

  /** Opens the engine; returns `false` after a store error. */
  async tryOpen(): Promise<boolean> {
    try {
      await this.open();
      return true;
    } catch (cause) {
      if (cause instanceof StoreError) return false;
      throw cause;
    }
  }

  /** Begins to open the engine, and kills the process a few microtasks later. */
  async openAndKill(steps: number): Promise<void> {
    this.opening().catch(() => undefined);
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    this.kill();
  }

  /** All stored items of a shard, ready and scheduled. */
  storedItems(shard: number): Item[] {
    const { slots } = this.image(shard);
    return [...slots.values()].flatMap(({ items, scheduled }) => [
      ...items.values(),
      ...scheduled.values(),
    ]);
  }

  /** Ready items of a queue that a clear has marked and not removed yet, for stores in memory. */
  clearing(queue: string): number {
    const places = this.images.flatMap((image) =>
      [...image.queues.values()]
        .filter(({ definition, deleting }) => definition.name === queue && !deleting)
        .flatMap((entry) => entry.places.filter(({ state }) => state === "active"))
        .map(({ slot }) => ({ image, slot })),
    );
    let count = 0;
    for (const { image, slot } of places) {
      const { slots, tallies, leases } = image;
      const { clearReadyBelow = 0 } = tallies.get(slot) ?? {};
      const held = [...leases.values()].filter((lease) => lease.slot === slot);
      for (const { seq } of slots.get(slot)?.items.values() ?? []) {
        if (seq >= clearReadyBelow) break;
        if (!held.some(({ first, last }) => seq >= first && seq <= last)) count += 1;
      }
    }
    return count;
  }

  /** Kills the process; returns whether a power cut lost an unsynced commit. */
  kill(how: { powerCut?: boolean } = {}): boolean {
    this.#kills += 1;
    const lost = this.#controls.map((control) => control?.kill(how));
    return lost.includes(true);
  }

  /** Kills the process and opens the engine again on the stored state; `now` may be earlier. */
  async restart(options: { now?: number } = {}): Promise<void> {
    this.kill();
    await this.open(options);
  }

  /** Kills the process, moves the stored state to `shardCount` shards, and opens the engine. */
  async reshard(shardCount: number): Promise<Resharded> {
    this.kill();
    const moved = await this.moveStored(shardCount);
    await this.open();
    return moved;
  }

  /** Moves the stored state to `shardCount` shards, while no process runs. */
  async moveStored(
    shardCount: number,
    options: Pick<ReshardOptions, "requireRoom"> = {},
  ): Promise<Resharded> {
    const from = Array.from({ length: this.#shardCount }, (_, shard) => this.image(shard));
    const to = Array.from({ length: shardCount }, () => new MemoryImage(newTag(this.#random)));
    const moved = await reshard({
      ...options,
      from: from.map((image, shard) => {
        const opened = openMemoryStore({ tag: "", image });
        const { store } = this.store(shard).wrap(opened, this.store(shard).generation);
        return { ...opened, store };
      }),
      to: to.map((image) => openMemoryStore({ tag: "", image })),
      clock: this.clock,
      random: this.#random,
    });
    for (const control of this.#controls) control?.emptied();
    this.#images = to;
    this.#shardCount = shardCount;
    return moved;
  }

  /** The ending of a call; rejects if it throws anything other than a `QueueError`. */
  async outcome<T>(call: () => T | Promise<T>): Promise<Ending<T>> {
    try {
      return { ok: true, value: await call() };
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      const { code, message, details } = error;
      return { ok: false, code, message, details };
    }
  }

  /** Starts a call and settles without passing time. */
  async begin<T>(call: () => T | Promise<T>): Promise<Started<T>> {
    const started: Started<T> = { ending: null };
    let bug: unknown = null;
    this.outcome(call).then(
      (ending) => {
        started.ending = ending;
      },
      (cause) => {
        bug = cause;
      },
    );
    await this.clock.settle();
    if (bug !== null) throw bug;
    return started;
  }

  /** Time to notice that a store has to be opened again. */
  protected get patienceMs(): number {
    return 0;
  }

  /** The ending of a call that needs no time. */
  async ending<T>(call: () => T | Promise<T>): Promise<Ending<T>> {
    const started = await this.begin(call);
    if (started.ending === null) await this.clock.advance(this.patienceMs);
    if (started.ending === null) throw new Error("the call still waits");
    return started.ending;
  }

  /** The result of a call that needs no time and succeeds. */
  async run<T>(call: () => T | Promise<T>): Promise<T> {
    let result: { readonly value: T } | null = null;
    let failed: { readonly cause: unknown } | null = null;
    const called = (async () => call())();
    called.then(
      (value) => {
        result = { value };
      },
      (cause) => {
        failed = { cause };
      },
    );
    await this.clock.settle();
    if (failed === null && result === null) await this.clock.advance(this.patienceMs);
    if (failed !== null) throw (failed as { cause: unknown }).cause;
    if (result === null) throw new Error("the call still waits");
    return (result as { value: T }).value;
  }

  createQueue(settings: Partial<QueueSettings> & { name: string }): Promise<void> {
    return this.run(() => this.engine.createQueue({ ...queueDefaults, ...settings }));
  }

  produce(queue: string, ...texts: string[]): Promise<Produced> {
    return this.run(() => this.engine.produce(produceOf(queue, texts)));
  }

  /** Produces any number of items, in several calls; their texts are their numbers. */
  async produceMany(queue: string, count: number): Promise<void> {
    for (let from = 0; from < count; from += 1_000) {
      const length = Math.min(1_000, count - from);
      await this.produce(queue, ...Array.from({ length }, (_, index) => String(from + index)));
    }
  }

  lease(queue: string, options: Partial<LeaseRequest> = {}): Promise<Leased> {
    return this.run(() => this.engine.lease(this.leaseOf(queue, options)));
  }

  beginLease(queue: string, options: Partial<LeaseRequest> = {}): Promise<Started<Leased>> {
    return this.begin(() => this.engine.lease(this.leaseOf(queue, options)));
  }

  /** A request of a new client. */
  leaseOf(queue: string, options: Partial<LeaseRequest> = {}): LeaseRequest {
    this.#clients += 1;
    const clientId = `client-${this.#clients}`;
    return { queue, clientId, batchSize: 1, requestTimeoutMs: minute, ...options };
  }

  complete({ queue, partition, items }: Leased): Promise<Ending<Outcome>> {
    return this.ending(() => this.engine.complete(completeOf(queue, partition, idsOf(items))));
  }

  retry(lease: Leased, how: { retryAt?: number; dead?: boolean } = {}): Promise<Ending<Outcome>> {
    const { queue, partition } = lease;
    const items = lease.items.map(({ id }) => ({
      id,
      retryAt: how.retryAt ?? null,
      dead: how.dead ?? false,
    }));
    return this.ending(() => this.engine.retry({ queue, partition, items }));
  }

  /** Payloads of the ready and leased items of a partition, in queue order. */
  async listed(queue: string, partition = 0): Promise<string[]> {
    const request = { queue, partition, pivot: "", limit: 20_000 };
    return textsOf(await this.run(() => this.engine.listItems(request)));
  }

  async scheduled(queue: string, partition = 0): Promise<string[]> {
    const request = { queue, partition, pivot: "", limit: 20_000 };
    return textsOf(await this.run(() => this.engine.listScheduled(request)));
  }

  /** Waits for the end of a task. */
  async ended(taskId: string): Promise<TaskInfo> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      const info = this.engine.taskInfo(taskId);
      if (info.state !== "running") return info;
      await this.clock.advance(second);
    }
    throw new Error("the task does not end");
  }

  /** The texts of the ready and leased items of all partitions, sorted. */
  async allListed(queue: string): Promise<string[]> {
    const { requestedPartitions } = this.engine.queueInfo(queue);
    const texts: string[] = [];
    for (let partition = 0; partition < requestedPartitions; partition += 1) {
      texts.push(...(await this.listed(queue, partition)));
    }
    return texts.sort();
  }
}

/** Shares the items, which are never changed in place. */
export function copyOf(image: MemoryImage): MemoryImage {
  const copy = new MemoryImage(image.tags);
  for (const { items, scheduled } of image.slots.values()) {
    for (const item of items.values()) copy.insert(item);
    for (const item of scheduled.values()) copy.schedule(item);
  }
  for (const lease of image.leases.values()) copy.leases.put(lease);
  for (const [slot, tally] of image.tallies) copy.tallies.set(slot, tally);
  for (const item of image.outbound.values()) copy.outbound.put(item);
  for (const [shard, seq] of image.inbound) copy.inbound.set(shard, seq);
  for (const [id, entry] of image.queues) copy.queues.set(id, entry);
  copy.turns.push(...image.turns);
  copy.quarantined.push(...image.quarantined);
  copy.receipts.push(...image.receipts);
  for (const [taskId, text] of image.tasks) copy.tasks.set(taskId, text);
  for (const unique of image.uniques.values()) copy.putUnique(unique);
  for (const grouped of image.grouped.values()) copy.grouped.put({ ...grouped });
  return copy;
}

export const queueDefaults = {
  deadQueue: "",
  reference: "",
  leaseTimeoutMs: minute,
  expireTimeoutMs: day,
  maxAttempts: 0,
  requestedPartitions: 1,
};

export async function setup(options: SetupOptions = {}): Promise<Bundle> {
  const bundle = new Bundle(options);
  await bundle.open();
  return bundle;
}

export function produceOf(
  queue: string,
  texts: readonly string[],
  enqueueAt: number | null = null,
) {
  return {
    queue,
    requestTimeoutMs: 5 * minute,
    items: texts.map((payload) => ({ payload, enqueueAt })),
  };
}

export function completeOf(queue: string, partition: number, ids: readonly string[]) {
  return { queue, partition, requestTimeoutMs: minute, ids };
}

export function idsOf(items: readonly { readonly id: string }[]): string[] {
  return items.map(({ id }) => id);
}

export function textsOf(items: readonly { readonly payload: Uint8Array }[]): string[] {
  const utf8 = new TextDecoder();
  return items.map(({ payload }) => utf8.decode(payload));
}

/** The texts of the leased items; throws if the lease waits or failed. */
export function got(started: Started<Leased>): string[] {
  const { ending } = started;
  if (ending?.ok !== true) throw new Error(ending?.message ?? "the lease still waits");
  return textsOf(ending.value.items);
}

/** A queue name that hashes to the shard. */
export function nameIn(shard: number, shardCount: number, prefix = "orders"): string {
  for (let count = 0; ; count += 1) {
    const name = `${prefix}-${count}`;
    if (shardOf(name, shardCount) === shard) return name;
  }
}

/** Where the dead queue `dead` of `orders` is, and the number of shards for that. */
export const deadPlacements = [
  ["in its queue's shard", 1],
  ["in another of two shards", 2],
  ["in another of three shards", 3],
] as const;
