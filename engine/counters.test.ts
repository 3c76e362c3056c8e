import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "../stores/backend.ts";
import { MemoryImage, openMemoryStore } from "../stores/memory/store.ts";
import { readItems, readOutbound, readScheduled } from "../stores/single-reads.ts";
import { openSqliteStore } from "../stores/sqlite/store.ts";
import { immediateSyncer } from "../stores/sqlite/testing/immediate-syncer.ts";
import type { Store } from "../stores/store.ts";
import type { LeasedItem } from "./model/api.ts";
import { newTag } from "./model/ids.ts";
import type { Random } from "./model/random.ts";
import {
  Bundle,
  completeOf,
  day,
  type Leased,
  produceOf,
  type Started,
  second,
  textsOf,
} from "./simulation/bundle.ts";
import { seededRandom } from "./simulation/seeded-random.ts";

const all = { items: 1_000_000, payloadBytes: Number.MAX_SAFE_INTEGER };
const end = 2 ** 45;
const leaseTimeoutsMs: Readonly<Record<string, number>> = {
  orders: 3_000,
  plain: 2_000,
  dead: 2_000,
};

interface Walked {
  readonly total: number;
  readonly leased: number;
  readonly scheduled: number;
  readonly retried: number;
  readonly texts: readonly string[];
}

/** Reads everything that a shard stores and compares it with the tallies. */
async function walk(store: Store): Promise<Map<number, Walked>> {
  const image = await store.load();
  const slots = new Map<number, Walked>();
  for (const tally of image.tallies) {
    const { slot } = tally;
    const span = { slot, from: 0, before: end };
    const items = (await readItems(store, span, all)).found;
    const scheduled = (await readScheduled(store, span, all)).found;
    const retried = scheduled.filter((item) => item.retried).length;
    const leases = image.leases.filter((lease) => lease.slot === slot);
    const covered = leases.map(({ first, last }) =>
      items.filter(({ seq }) => seq >= first && seq <= last),
    );
    // An empty lease would never end.
    expect(covered.filter(({ length }) => length === 0)).toEqual([]);
    expect(tally).toMatchObject({
      itemCount: items.length,
      scheduledCount: scheduled.length - retried,
      retriedCount: retried,
      createdAtSum: items.reduce((sum, { createdAt }) => sum + BigInt(createdAt), 0n),
      clearReadyBelow: 0,
      clearScheduledBelow: 0,
      clearRetriedBelow: 0,
    });
    const seqs = [...items, ...scheduled].map(({ seq }) => seq);
    expect(tally.nextSeq).toBeGreaterThan(Math.max(-1, ...seqs));
    // The sweep relies on this: items that are not early expire in queue order.
    const deadlines = items
      .filter(({ early }) => !early)
      .map(({ expireDeadline }) => expireDeadline);
    expect(deadlines).toEqual(deadlines.toSorted((a, b) => a - b));
    const leased = covered.reduce((sum, { length }) => sum + length, 0);
    const utf8 = new TextDecoder();
    slots.set(slot, {
      total: items.length,
      leased,
      scheduled: scheduled.length - retried,
      retried,
      texts: [...items, ...scheduled].map(({ payload }) => utf8.decode(payload as Uint8Array)),
    });
  }
  return slots;
}

/** One random run of an engine, and its invariants. */
class World {
  readonly #random: Random;
  readonly #bundle: Bundle;
  readonly #backends: Backend[] = [];
  readonly #queues = ["orders", "plain", "dead"];
  #texts = 0;
  #leases: Started<Leased>[] = [];
  #held: Leased[] = [];
  readonly #liveUntil = new Map<string, number>();
  readonly #attempts = new Map<string, number>();
  readonly #completed = new Set<string>();
  readonly #refused = new Set<string>();
  readonly #produced = new Set<string>();
  /** Cleared, deleted, or completed by a call whose reply was lost with the process. */
  readonly #excused = new Set<string>();
  readonly #dead = new Set<string>();
  readonly #done = new Map<string, number>();

  constructor(seed: number, open: (shard: number) => Promise<Backend>) {
    this.#random = seededRandom(seed);
    this.#bundle = new Bundle({
      // `orders` and `dead` are in different shards, so dead letters go through the outbox.
      shardCount: 2,
      openStore: async (shard) => {
        await this.#backends[shard]?.store.close();
        const backend = await open(shard);
        this.#backends[shard] = backend;
        return backend;
      },
    });
  }

  async live(steps: number): Promise<Map<string, number>> {
    const bundle = this.#bundle;
    await bundle.open();
    const long = { expireTimeoutMs: 300 * day, leaseTimeoutMs: 2_000 };
    await bundle.createQueue({ name: "dead", requestedPartitions: 1, ...long });
    await bundle.createQueue({ name: "plain", requestedPartitions: 2, ...long });
    await bundle.createQueue({
      name: "orders",
      requestedPartitions: 3,
      deadQueue: "dead",
      maxAttempts: 3,
      leaseTimeoutMs: 3_000,
      expireTimeoutMs: 40 * second,
    });
    for (let step = 0; step < steps; step += 1) {
      await this.#step();
      await this.#check();
    }
    await this.#end();
    return this.#done;
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)] as T;
  }

  async #step(): Promise<void> {
    const roll = this.#random.below(1_000);
    if (roll < 260) await this.#produce();
    else if (roll < 500) await this.#lease();
    else if (roll < 640) await this.#complete();
    else if (roll < 730) await this.#retry();
    else if (roll < 900) await this.#advance();
    else if (roll < 920) await this.#import();
    else if (roll < 935) await this.#deleteItems();
    else if (roll < 945) await this.#clear();
    else if (roll < 960) await this.#update();
    else if (roll < 985) this.#breakStore();
    else await this.#restart();
    this.#take();
  }

  #newTexts(count: number): string[] {
    return Array.from({ length: count }, () => {
      this.#texts += 1;
      return `item-${this.#texts}`;
    });
  }

  #count(what: string): void {
    this.#done.set(what, (this.#done.get(what) ?? 0) + 1);
  }

  async #produce(): Promise<void> {
    const texts = this.#newTexts(1 + this.#random.below(6));
    const queue = this.#pick(["orders", "orders", "plain"]);
    const later = this.#random.below(5) === 0 ? this.#random.below(10 * second) : null;
    const enqueueAt = later === null ? null : this.#bundle.clock.now() + later;
    const started = await this.#until(() =>
      this.#bundle.engine.produce(produceOf(queue, texts, enqueueAt)),
    );
    if (started.ending === null) return this.#excuse(texts);
    const into = started.ending.ok ? this.#produced : this.#refused;
    for (const text of texts) into.add(text);
    this.#count(started.ending.ok ? "produced" : "refused");
  }

  /** A failed shard recovers before the call is checked. */
  async #until<T>(call: () => Promise<T>): Promise<Started<T>> {
    const started = await this.#bundle.begin(call);
    if (started.ending === null) await this.#bundle.clock.advance(500);
    return started;
  }

  #excuse(texts: Iterable<string>): void {
    for (const text of texts) this.#excused.add(text);
  }

  async #lease(): Promise<void> {
    const abort = new AbortController();
    const started = await this.#bundle.beginLease(this.#pick(this.#queues), {
      batchSize: 1 + this.#random.below(8),
      requestTimeoutMs: 10 + this.#random.below(4 * second),
      signal: abort.signal,
    });
    if (this.#random.below(6) === 0) abort.abort();
    this.#leases.push(started);
  }

  /** Checks the leases granted since, in the order in which they were granted. */
  #take(): void {
    const ended = this.#leases.filter(({ ending }) => ending !== null);
    this.#leases = this.#leases.filter(({ ending }) => ending === null);
    const granted = ended.flatMap(({ ending }) => (ending?.ok === true ? [ending.value] : []));
    const grantedAt = ({ queue, items }: Leased): number =>
      (items[0]?.leaseDeadline ?? 0) - (leaseTimeoutsMs[queue] ?? 0);
    for (const lease of granted.toSorted((a, b) => grantedAt(a) - grantedAt(b))) {
      this.#held.push(lease);
      this.#count("leased");
      for (const item of lease.items) this.#audit(lease.queue, item, grantedAt(lease));
    }
  }

  /** Not leased twice, completed or refused; attempts within the maximum; dead-lettered once. */
  #audit(queue: string, item: LeasedItem, grantedAt: number): void {
    const [text = ""] = textsOf([item]);
    const key = `${queue} ${text}`;
    const gone = this.#completed.has(text) || this.#refused.has(text);
    expect([text, gone]).toEqual([text, false]);
    expect(this.#liveUntil.get(text) ?? 0).toBeLessThanOrEqual(grantedAt);
    this.#liveUntil.set(text, item.leaseDeadline);
    expect(item.attempts).toBeGreaterThan(this.#attempts.get(key) ?? 0);
    this.#attempts.set(key, item.attempts);
    if (queue === "dead") this.#dead.add(text);
    else expect([text, this.#dead.has(text)]).toEqual([text, false]);
  }

  #letGo(): Leased | null {
    if (this.#held.length === 0) return null;
    const index = this.#random.below(this.#held.length);
    const [lease] = this.#held.splice(index, 1);
    return lease ?? null;
  }

  async #complete(): Promise<void> {
    const lease = this.#letGo();
    if (lease === null) return;
    const texts = textsOf(lease.items);
    const ids = lease.items.map(({ id }) => id);
    const { queue, partition } = lease;
    const started = await this.#until(() =>
      this.#bundle.engine.complete(completeOf(queue, partition, ids)),
    );
    if (started.ending === null) return this.#excuse(texts);
    this.#count(started.ending.ok ? "completed" : "complete refused");
    if (!started.ending.ok) return;
    for (const text of texts) {
      this.#completed.add(text);
      this.#liveUntil.delete(text);
    }
  }

  async #retry(): Promise<void> {
    const lease = this.#letGo();
    if (lease === null) return;
    const { queue, partition } = lease;
    const now = this.#bundle.clock.now();
    const items = lease.items.map(({ id }) => ({
      id,
      retryAt: this.#random.below(2) === 0 ? null : now + this.#random.below(8 * second),
      dead: queue === "orders" && this.#random.below(5) === 0,
    }));
    const started = await this.#until(() => this.#bundle.engine.retry({ queue, partition, items }));
    this.#count(started.ending?.ok === true ? "retried" : "retry refused");
    if (started.ending?.ok !== false)
      for (const text of textsOf(lease.items)) this.#liveUntil.delete(text);
  }

  async #advance(): Promise<void> {
    const most = this.#random.below(15) === 0 ? 60 * second : second;
    await this.#bundle.clock.advance(this.#random.below(most));
  }

  async #import(): Promise<void> {
    const now = this.#bundle.clock.now();
    const isLeased = this.#random.below(2) === 0;
    const texts = this.#newTexts(2);
    const started = await this.#until(() =>
      this.#bundle.engine.importItems({
        queue: "plain",
        partition: 0,
        items: texts.map((payload) => ({
          payload,
          sourceId: payload,
          isLeased,
          leaseDeadline: now + 3 * second,
          attempts: 1,
          createdAt: now - day,
          expireDeadline: this.#random.below(2) === 0 ? null : now + 400 * day,
        })),
      }),
    );
    if (started.ending?.ok !== true) return this.#excuse(texts);
    for (const text of texts) this.#produced.add(text);
    this.#count("imported");
  }

  async #deleteItems(): Promise<void> {
    const lease = this.#letGo();
    if (lease === null) return;
    this.#excuse(textsOf(lease.items));
    const { queue, partition } = lease;
    const ids = lease.items.map(({ id }) => id);
    await this.#until(() => this.#bundle.engine.deleteItems({ queue, partition, ids }));
  }

  async #clear(): Promise<void> {
    const queue = this.#pick(["orders", "plain"]);
    while (!this.#isUp()) await this.#bundle.clock.advance(500);
    for (const { store } of this.#backends) {
      for (const { texts } of (await walk(store)).values()) this.#excuse(texts);
    }
    const [ready, scheduled, retried, destructive] = [0, 0, 0, 0].map(
      () => this.#random.below(2) === 0,
    );
    await this.#until(() =>
      this.#bundle.engine.clear({
        queue,
        ready: ready === true,
        scheduled: scheduled === true,
        retried: retried === true,
        destructive: destructive === true,
      }),
    );
    this.#count("cleared");
  }

  async #update(): Promise<void> {
    const requestedPartitions = 1 + this.#random.below(4);
    const maxAttempts = 2 + this.#random.below(4);
    const name = this.#pick(["orders", "plain"]);
    await this.#until(() =>
      this.#bundle.engine.updateQueue(
        name === "orders"
          ? { name, requestedPartitions, maxAttempts }
          : { name, requestedPartitions },
      ),
    );
  }

  #breakStore(): void {
    const shard = this.#random.below(2);
    const fault = this.#pick(["failed", "failed", "full"] as const);
    const applied = fault === "failed" && this.#random.below(2) === 0;
    this.#bundle.store(shard).fail({ fault, applied });
    this.#count(`fault ${fault} ${applied}`);
  }

  async #restart(): Promise<void> {
    for (const shard of [0, 1]) this.#bundle.store(shard).heal();
    this.#leases = [];
    const back = this.#random.below(3) === 0 ? this.#random.below(20 * second) : 0;
    await this.#bundle.restart({ now: this.#bundle.clock.now() - back });
    this.#count("restarted");
  }

  #isUp(): boolean {
    return this.#bundle.engine.status().shards.every(({ up }) => up);
  }

  /** Compares the counters with the stored items while both shards are up. */
  async #check(): Promise<void> {
    if (!this.#isUp()) return;
    const status = this.#bundle.engine.status();
    const stored = await Promise.all(this.#backends.map(({ store }) => walk(store)));
    const images = await Promise.all(this.#backends.map(({ store }) => store.load()));
    const entries = images.flatMap(({ queues }, shard) =>
      queues.map((entry) => ({ ...entry, shard })),
    );
    for (const { definition, places, shard } of entries) {
      const sum = { queued: 0, leased: 0, scheduled: 0, retried: 0 };
      for (const { slot } of places) {
        const one = stored[shard]?.get(slot);
        if (one === undefined) continue;
        sum.queued += one.total - one.leased;
        sum.leased += one.leased;
        sum.scheduled += one.scheduled;
        sum.retried += one.retried;
      }
      const gauges = status.queues.find(({ queue }) => queue === definition.name);
      expect(gauges).toMatchObject(sum);
    }
    const owned = new Set(
      entries.flatMap(({ places, shard }) => places.map(({ slot }) => `${shard}:${slot}`)),
    );
    for (const [shard, slots] of stored.entries()) {
      for (const [slot, { total, scheduled, retried }] of slots) {
        if (!owned.has(`${shard}:${slot}`))
          expect([slot, total + scheduled + retried]).toEqual([slot, 0]);
      }
    }
  }

  /** Once faults stop, every produced item is in exactly one place, unless it was removed. */
  async #end(): Promise<void> {
    for (const shard of [0, 1]) this.#bundle.store(shard).heal();
    await this.#bundle.restart();
    await this.#bundle.clock.advance(90 * second);
    await this.#check();
    const texts: string[] = [];
    for (const { store } of this.#backends) {
      const image = await store.load();
      expect(image.outbox).toEqual([]);
      expect(await readOutbound(store, 0, all)).toEqual([]);
      expect(image.leases).toEqual([]);
      for (const walked of (await walk(store)).values()) texts.push(...walked.texts);
    }
    expect(texts.length).toBe(new Set(texts).size);
    const left = new Set(texts);
    const lost = [...this.#produced].filter(
      (text) => !left.has(text) && !this.#completed.has(text) && !this.#excused.has(text),
    );
    expect(lost).toEqual([]);
    expect(texts.filter((text) => this.#completed.has(text) || this.#refused.has(text))).toEqual(
      [],
    );
    await this.#bundle.engine.close();
  }
}

const seeds = Number(process.env["SEEDS"] ?? 6);
const from = Number(process.env["FROM"] ?? 0);

test.each(Array.from({ length: seeds }, (_, index) => from + index + 1))(
  "memory: counters, leases and items agree through a random life; seed %d",
  async (seed) => {
    const random = seededRandom(seed);
    const images = [0, 1].map(() => new MemoryImage(newTag(random)));
    const world = new World(seed, async (shard) => {
      const image = images[shard];
      return openMemoryStore(image === undefined ? { tag: "" } : { tag: "", image });
    });
    const done = await world.live(1_000);
    expect(done.get("completed") ?? 0).toBeGreaterThan(5);
  },
);

test.each([101, 102])(
  "sqlite: counters, leases and items agree through a random life; seed %d",
  async (seed) => {
    const random = seededRandom(seed);
    const directory = mkdtempSync(join(tmpdir(), "holdfast-counters-"));
    try {
      const world = new World(seed, (shard) =>
        openSqliteStore({
          path: join(directory, `shard-${shard}.db`),
          durability: "normal",
          syncer: immediateSyncer,
          newTag: () => newTag(random),
          acceptLogLoss: false,
          ballastBytes: 0,
        }),
      );
      const done = await world.live(600);
      expect(done.get("completed") ?? 0).toBeGreaterThan(10);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
