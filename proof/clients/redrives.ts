// A client that redrives items from one queue to another, one item per call, with keys. Whatever
// process is killed meanwhile, each key starts one task and moves one item.

import type { Redrives } from "../histories/history.ts";
import type { Faults } from "../result.ts";
import {
  Client,
  createQueue,
  listItems,
  producedItem,
  type Repeats,
  reconnectPauseMs,
  type ServerAddress,
} from "./clients.ts";
import { numberIn } from "./items.ts";

const timeouts = { lease_timeout: "1m", expire_timeout: "24h" };
const source = { queue_name: "parcels", requested_partitions: 4, ...timeouts };
const target = { queue_name: "parcels-back", requested_partitions: 2, ...timeouts };
/** Each redrive leaves a task, and a server keeps a limited number of tasks. */
const redrivesMax = 200;
const everyMs = 20;
/** Every second call is repeated, and so is every redrive. */
const repeatEvery = 2;
/** Each redrive finds an item although some produces are refused. */
const itemsEach = 2;

export class Redriver {
  readonly #address: ServerAddress;
  readonly #client: Client;
  readonly #produced: number[] = [];
  readonly #taskIds: string[] = [];
  #unknown = 0;
  #numberNext = 0;

  constructor(address: ServerAddress, repeats: Repeats) {
    this.#address = address;
    this.#client = new Client("redriver", address, { repeats, repeatEvery });
  }

  /** Works until `isOver`. */
  async work(isOver: () => boolean): Promise<void> {
    await createRedriveQueues(this.#address);
    while (!isOver()) {
      await Bun.sleep(everyMs);
      if (this.#taskIds.length + this.#unknown < redrivesMax) await this.#redrive();
    }
  }

  /** A client whose calls are not repeated. */
  #plainClient(): Client {
    return new Client("redriver", this.#address);
  }

  async #redrive(): Promise<void> {
    const client = this.#client;
    const { queue_name } = source;
    const numbers = Array.from({ length: itemsEach }, (_, index) => this.#numberNext + index);
    this.#numberNext += itemsEach;
    await client.connect();
    const items = numbers.map(producedItem);
    const produced = { queue_name, request_timeout: "1m", items };
    const stored = await client.call("/v1/queue.produce", produced);
    if (stored?.status !== 200) return;
    this.#produced.push(...numbers);
    await client.connect();
    const one = { queue_name, to_queue: target.queue_name, filter: {}, limit: 1 };
    const begun = await client.call("/v1/queue.redrive", one);
    if (begun?.status === 200) this.#taskIds.push((begun.body as { task_id: string }).task_id);
    else if (begun === null || begun.status >= 500) this.#unknown += 1;
  }

  /** Waits until no task runs, and removes all its items. The server must be running. */
  async end(): Promise<Redrives> {
    this.#client.close();
    const client = this.#plainClient();
    const { queue_name } = source;
    for (let isRunning = true; isRunning; ) {
      await client.connect();
      const listed = await client.call("/v1/tasks.list", { queue_name });
      const { tasks = [] } = (listed?.body ?? {}) as { tasks?: readonly { state: string }[] };
      isRunning = listed?.status !== 200 || tasks.some(({ state }) => state === "running");
      if (isRunning) await Bun.sleep(reconnectPauseMs);
    }
    const waiting = await numbersIn(client, source);
    const moved = await numbersIn(client, target);
    for (const { queue_name: name } of [source, target]) {
      await client.call("/v1/queues.delete", { queue_name: name, force: true });
    }
    client.close();
    return {
      ...{ produced: this.#produced, taskIds: this.#taskIds, unknown: this.#unknown },
      ...{ waiting, moved },
    };
  }
}

/** Does not change existing queues. */
export async function createRedriveQueues(address: ServerAddress): Promise<void> {
  const client = new Client("redriver", address);
  try {
    for (const queue of [source, target]) await createQueue(client, queue);
  } finally {
    client.close();
  }
}

async function numbersIn(
  client: Client,
  { queue_name, requested_partitions }: typeof source,
): Promise<number[]> {
  const numbers: number[] = [];
  for (let partition = 0; partition < requested_partitions; partition += 1) {
    const items = await listItems(client, queue_name, partition);
    numbers.push(...items.map(({ payload }) => numberIn(payload)));
  }
  return numbers;
}

export function checkRedrives(redrives: Redrives, faults: Faults): void {
  const { produced, taskIds, unknown, waiting, moved } = redrives;
  const taskCount = new Set(taskIds).size;
  if (taskCount < taskIds.length) {
    faults.add("I22: two keys began one task", `${taskIds.length} keys, ${taskCount} tasks`);
  }
  const most = taskIds.length + unknown;
  if (moved.length > most) {
    faults.add("I22: a redrive was done twice", `${moved.length} moved, by ${most} at most`);
  }
  if (moved.length < taskIds.length) {
    faults.add("I22: a redrive was not done", `${moved.length} moved, by ${taskIds.length}`);
  }
  const all = [...waiting, ...moved];
  const found = new Set(all);
  if (found.size < all.length) {
    faults.add("I1: a redriven item is in two places", `${all.length} of ${found.size} items`);
  }
  for (const number of produced) {
    if (!found.has(number)) faults.add("I1: a redriven item is lost", `item ${number}`);
  }
}
