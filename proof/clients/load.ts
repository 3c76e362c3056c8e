// Runs clients: some produce, others lease and then complete, retry, release or forget their items.
// At the end it drains the queues and reads what is left.

import type { Random } from "../../engine/model/random.ts";
import { bounds } from "../../openapi/bounds.ts";
import type { Ending, History, LeftItem, Part, Pause } from "../histories/history.ts";
import {
  Client,
  complete,
  deadQueueName,
  extend,
  importItems,
  type Leased,
  lease,
  listItems,
  otherQueueName,
  pauseFor,
  produce,
  queueName,
  queueNames,
  type Repeats,
  reconnectPauseMs,
  release,
  retry,
  type ServerAddress,
  type StoredOnWire,
  transact,
} from "./clients.ts";
import { isIntact, numberIn } from "./items.ts";
import { Redriver } from "./redrives.ts";

export interface LoadOptions {
  readonly address: ServerAddress;
  readonly history: History;
  readonly random: Random;
  readonly producers: number;
  readonly consumers: number;
  readonly batchMax: number;
  /** Producers pause while this many acknowledged items wait. */
  readonly backlogMax: number;
  /** Pause of a producer after each call; default none. */
  readonly pauseMs?: number;
}

const pauseEveryMs = 150;
const pauseMsMax = 50;

/** Clients that work until they are stopped. */
export class Load {
  readonly #options: LoadOptions;
  readonly #producers: Promise<void>[] = [];
  readonly #consumers: Promise<void>[] = [];
  #isProducing = true;
  #isResting = false;
  /** Nothing is leased, and producers do not pause, so the backlog grows. */
  isPilingUp = false;
  #isConsuming = true;
  /** Once set, consumers lease and complete everything. */
  #isDraining = false;
  #numberNext = 0;
  readonly #repeats: Repeats = { count: 0, contradictions: [] };
  readonly #pauses: Pause[] = [];
  readonly #operator: Promise<void>;
  readonly #redriver: Redriver;
  readonly #redriving: Promise<void>;

  constructor(options: LoadOptions) {
    this.#options = options;
    const { producers, consumers } = options;
    for (let index = 0; index < producers; index += 1) {
      this.#producers.push(this.#produce(`producer-${index}`, this.#repeatsOf(index)));
    }
    for (let index = 0; index < consumers; index += 1) {
      const queue = index % 3 === 2 ? otherQueueName : queueName;
      this.#consumers.push(this.#consume(`consumer-${index}`, queue, this.#repeatsOf(index)));
    }
    this.#operator = this.#pause();
    this.#redriver = new Redriver(options.address, this.#repeats);
    this.#redriving = this.#redriver.work(() => !this.#isProducing);
  }

  /** Every other client has keys. */
  #repeatsOf(index: number): Repeats | null {
    return index % 2 === 1 ? this.#repeats : null;
  }

  /** Stops producing for `ms` milliseconds, so that consumers reduce the backlog. */
  async rest(ms: number): Promise<void> {
    this.#isResting = true;
    await Bun.sleep(ms);
    this.#isResting = false;
  }

  /** Stops producing, completes everything and returns what is left. The server must be running. */
  async drain(): Promise<Ending> {
    this.#isProducing = false;
    this.#isDraining = true;
    const { address } = this.#options;
    const client = new Client("drain", address);
    await client.connect();
    // A waiting produce could add items after the last check.
    await Promise.all([...this.#producers, this.#operator, this.#redriving]);
    // A transact in flight may have moved an item from one queue to the other between the two
    // checks.
    while (!((await isDrained(client)) && (await isDrained(client)))) await Bun.sleep(20);
    this.#isConsuming = false;
    await Promise.all(this.#consumers);
    const ending = await readEnding(client);
    client.close();
    const redrives = await this.#redriver.end();
    return { ...ending, repeats: this.#repeats, pauses: this.#pauses, redrives };
  }

  /** Pauses a queue from time to time, until producing ends. */
  async #pause(): Promise<void> {
    const { address, random } = this.#options;
    const client = new Client("operator", address);
    while (this.#isProducing) {
      await Bun.sleep(pauseEveryMs);
      const pause = await pauseFor(client, random.below(pauseMsMax));
      if (pause !== null) this.#pauses.push(pause);
    }
    client.close();
  }

  async #produce(name: string, repeats: Repeats | null): Promise<void> {
    const { address, history, random, batchMax, backlogMax, pauseMs = 0 } = this.#options;
    const client = new Client(name, address, { repeats });
    while (this.#isProducing) {
      if (this.#isResting || (history.backlog > backlogMax && !this.isPilingUp)) {
        await Bun.sleep(2);
        continue;
      }
      const numbers = this.#numbers(1 + random.below(batchMax));
      const isPlain = random.below(4) > 0;
      // A repeated call has a key, for the call or for each of its items.
      const priority = random.below(2) === 0 ? 0 : random.below(bounds.priorityMax + 1);
      const what = { numbers, priority };
      if (isPlain) await produce(client, history, what);
      else if (repeats === null) await produce(client, history, { ...what, unique: this.#repeats });
      else await importItems(client, history, numbers);
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
    client.close();
  }

  #numbers(count: number): number[] {
    const first = this.#numberNext;
    this.#numberNext += count;
    return Array.from({ length: count }, (_, index) => first + index);
  }

  async #consume(name: string, queue: string, repeats: Repeats | null): Promise<void> {
    const { address, history, random, batchMax } = this.#options;
    const client = new Client(name, address, { queue, repeats });
    let stale: { readonly id: string; readonly partition: number } | null = null;
    while (this.#isConsuming) {
      if (this.isPilingUp) {
        await Bun.sleep(2);
        continue;
      }
      const batchSize = 1 + random.below(batchMax);
      const leased: Leased = await lease(client, history, {
        batchSize,
        timeout: this.#isDraining ? "250ms" : "2s",
      });
      if (leased.offers.length === 0) {
        if (leased.outcome === "refused") await Bun.sleep(reconnectPauseMs);
        continue;
      }
      const { partition, offers } = leased;
      const ids = offers.map(({ id }) => id);
      const chance = this.#isDraining ? 100 : random.below(100);
      if (chance < 4) {
        // The item is forgotten, and completed after its lease has lapsed.
        stale = { id: ids[0] ?? "", partition };
      } else if (chance < 8) {
        await retry(client, history, { partition, ids, dead: false });
      } else if (chance < 10) {
        await retry(client, history, { partition, ids: ids.slice(0, 2), dead: true });
        if (ids.length > 2) await complete(client, history, { partition, ids: ids.slice(2) });
      } else if (chance < 13 && stale !== null && stale.partition === partition) {
        await complete(client, history, { partition, ids: [...ids, stale.id] });
        await complete(client, history, { partition, ids });
        stale = null;
      } else if (chance < 17) {
        // Only a part, so that the grant is split. Extended items may be forgotten, too.
        const some = ids.slice(0, 1 + random.below(ids.length));
        const leaseTimeout = random.below(2) === 0 ? null : "3s";
        await extend(client, history, { partition, ids: some, leaseTimeout });
        if (random.below(3) > 0) await complete(client, history, { partition, ids });
      } else if (chance < 21) {
        const some = ids.slice(0, 1 + random.below(ids.length));
        await release(client, history, { partition, ids: some });
        const rest = ids.slice(some.length);
        if (rest.length > 0) await complete(client, history, { partition, ids: rest });
      } else if (chance < 45) {
        // An id whose lease has lapsed makes the whole call fail.
        if (stale?.partition === partition) {
          const late: Part = { verb: "complete", partition, ids: [stale.id] };
          await transact(client, history, [late, ...this.#transactOf(partition, ids)]);
          stale = null;
        }
        await transact(client, history, this.#transactOf(partition, ids));
      } else {
        await complete(client, history, { partition, ids });
      }
    }
    client.close();
  }

  /** Finishes all of them and produces at most as many items, or the backlog would grow forever. */
  #transactOf(partition: number, ids: readonly string[]): Part[] {
    const { random } = this.#options;
    const count = random.below(3) > 0 ? ids.length : random.below(ids.length + 1);
    const [done, rest] = [ids.slice(0, count), ids.slice(count)];
    const parts: Part[] = [];
    if (done.length > 0) parts.push({ verb: "complete", partition, ids: done });
    if (rest.length > 0) {
      parts.push({ verb: "retry", partition, ids: rest, dead: random.below(20) === 0 });
    }
    let left = done.length;
    for (const queue of queueNames) {
      const numbers = this.#numbers(random.below(left + 1));
      left -= numbers.length;
      if (numbers.length > 0) parts.push({ verb: "produce", queue, numbers, isDelayed: true });
    }
    return parts;
  }
}

/** A queue that can be deleted without force is empty, and no item is in transit to it. */
export async function isDrained(client: Client): Promise<boolean> {
  for (const queue_name of queueNames) {
    await client.connect();
    const request = { queue_name, force: false, dry_run: true };
    const reply = await client.call("/v1/queues.delete", request);
    if (reply?.status !== 200) return false;
  }
  return true;
}

function leftItem(item: StoredOnWire): LeftItem {
  const number = numberIn(item.payload);
  return { number, intact: isIntact(number, { ...item, bytes: item.payload }) };
}

/** Waits until all items in transit to the dead queue's shard have arrived. */
async function readEnding(client: Client): Promise<Ending> {
  let dead = await listItems(client, deadQueueName, 0);
  for (let isQuiet = false; !isQuiet; ) {
    await Bun.sleep(150);
    const again = await listItems(client, deadQueueName, 0);
    isQuiet = again.length === dead.length;
    dead = again;
  }
  const left: LeftItem[] = [];
  for (const queue_name of queueNames) {
    const reply = await client.call("/v1/queues.info", { queue_name });
    if (reply?.status !== 200) throw new Error(`a queue is unknown; got ${reply?.status}`);
    const { requested_partitions: partitions } = reply.body as { requested_partitions: number };
    for (let partition = 0; partition < partitions; partition += 1) {
      left.push(...(await listItems(client, queue_name, partition)).map(leftItem));
    }
  }
  return { dead: dead.map(leftItem), left };
}
