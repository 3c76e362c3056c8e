// Clients that load a server over HTTP and note in a history what they send and
// what they hear. They outlive the server: a lost connection leaves the call
// unknown, and the client goes on with whatever server comes next.

import { Connection } from "../bench/http-client.ts";
import type { Random } from "../engine/random.ts";
import type { Ending, History, LeftItem, Offer, Outcome } from "./history.ts";
import { isIntact, numberIn, proofItem } from "./items.ts";

export const queueName = "orders";
const deadQueueName = "orders-dead";

/** Where the server is; clients wait here while there is none. */
export class Address {
  #port: Promise<number>;
  #resolve: (port: number) => void = () => undefined;
  #isUp = false;

  constructor() {
    this.#port = this.#unknown();
  }

  get port(): Promise<number> {
    return this.#port;
  }

  up(port: number): void {
    this.#resolve(port);
    this.#port = Promise.resolve(port);
    this.#isUp = true;
  }

  down(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#port = this.#unknown();
  }

  #unknown(): Promise<number> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Pause before a server is tried again that refused a connection. */
const againMs = 3;

export class Client {
  readonly name: string;
  readonly queue: string;
  readonly #address: Address;
  #connection: Connection | null = null;

  constructor(name: string, address: Address, queue: string = queueName) {
    this.name = name;
    this.queue = queue;
    this.#address = address;
  }

  /** Waits until there is a server to talk to: a call that is not sent is not in the history. */
  async connect(): Promise<void> {
    while (this.#connection === null) {
      const port = await this.#address.port;
      this.#connection = await Connection.open(port).catch(() => null);
      if (this.#connection === null) await Bun.sleep(againMs);
    }
  }

  /** `null` when the connection was lost, and with it the answer. */
  async call(path: string, body: object): Promise<Reply | null> {
    try {
      const reply = await this.#connection?.post(path, JSON.stringify(body));
      if (reply === undefined) return null;
      return { status: reply.status, body: JSON.parse(reply.body) };
    } catch {
      this.close();
      return null;
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }
}

function outcomeOf(reply: Reply | null): Outcome {
  if (reply === null) return "unknown";
  if (reply.status === 200) return "ok";
  return reply.status === 454 ? "empty" : "refused";
}

export async function produce(
  client: Client,
  history: History,
  numbers: readonly number[],
): Promise<Outcome> {
  await client.connect();
  const items = numbers.map((number) => {
    const { payload, kind, encoding, reference } = proofItem(number);
    return { bytes: payload.toBase64(), kind, encoding, reference };
  });
  const entry = history.begin({ verb: "produce", client: client.name, numbers });
  const reply = await client.call("/v1/queue.produce", {
    queue_name: client.queue,
    request_timeout: "1m",
    items,
  });
  history.end(entry, reply?.status === 454 ? "refused" : outcomeOf(reply), reply?.status ?? 0);
  return entry.outcome;
}

interface LeasedOnWire {
  readonly id: string;
  readonly bytes: string;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  readonly attempts: number;
  readonly lease_deadline: string;
}

export interface Leased {
  readonly outcome: Outcome;
  readonly partition: number;
  readonly offers: readonly Offer[];
}

export async function lease(
  client: Client,
  history: History,
  { batchSize, timeout }: { readonly batchSize: number; readonly timeout: string },
): Promise<Leased> {
  await client.connect();
  const entry = history.begin({
    verb: "lease",
    client: client.name,
    batchSize,
    partition: -1,
    offers: [] as readonly Offer[],
  });
  const reply = await client.call("/v1/queue.lease", {
    queue_name: client.queue,
    client_id: client.name,
    request_timeout: timeout,
    batch_size: batchSize,
  });
  if (reply?.status === 200) {
    const told = reply.body as { partition: number; items: readonly LeasedOnWire[] };
    entry.partition = told.partition;
    entry.offers = told.items.map(offerOf);
  }
  history.end(entry, outcomeOf(reply), reply?.status ?? 0);
  return entry;
}

function offerOf(item: LeasedOnWire): Offer {
  const number = numberIn(item.bytes);
  return {
    number,
    id: item.id,
    attempts: item.attempts,
    leaseDeadline: Date.parse(item.lease_deadline),
    intact: isIntact(number, item),
  };
}

export async function complete(
  client: Client,
  history: History,
  { partition, ids }: { readonly partition: number; readonly ids: readonly string[] },
): Promise<Outcome> {
  await client.connect();
  const entry = history.begin({ verb: "complete", client: client.name, partition, ids });
  const reply = await client.call("/v1/queue.complete", {
    queue_name: client.queue,
    partition,
    request_timeout: "1m",
    ids,
  });
  history.end(entry, reply?.status === 454 ? "refused" : outcomeOf(reply), reply?.status ?? 0);
  return entry.outcome;
}

export async function retry(
  client: Client,
  history: History,
  {
    partition,
    ids,
    dead,
  }: { readonly partition: number; readonly ids: readonly string[]; readonly dead: boolean },
): Promise<Outcome> {
  await client.connect();
  const entry = history.begin({ verb: "retry", client: client.name, partition, ids, dead });
  const items = ids.map((id) => ({ id, dead }));
  const reply = await client.call("/v1/queue.retry", {
    queue_name: client.queue,
    partition,
    items,
  });
  history.end(entry, reply?.status === 454 ? "refused" : outcomeOf(reply), reply?.status ?? 0);
  return entry.outcome;
}

export interface QueueShape {
  readonly partitions: number;
  readonly leaseTimeoutMs: number;
  readonly maxAttempts: number;
}

/** Leaves queues alone that are there already. */
export async function createQueues(address: Address, shape: QueueShape): Promise<void> {
  const client = new Client("owner", address);
  await client.connect();
  const common = { expire_timeout: "24h", lease_timeout: `${shape.leaseTimeoutMs}ms` };
  const queues = [
    { queue_name: deadQueueName, max_attempts: 0, requested_partitions: 1, ...common },
    {
      queue_name: queueName,
      dead_queue: deadQueueName,
      max_attempts: shape.maxAttempts,
      requested_partitions: shape.partitions,
      ...common,
    },
  ];
  for (const queue of queues) {
    const reply = await client.call("/v1/queues.create", queue);
    if (reply?.status === 200) continue;
    const known = await client.call("/v1/queues.info", { queue_name: queue.queue_name });
    if (known?.status !== 200) {
      client.close();
      throw new Error(`a queue was not created; ${JSON.stringify(reply)}`);
    }
  }
  client.close();
}

export interface LoadOptions {
  readonly address: Address;
  readonly history: History;
  readonly random: Random;
  readonly producers: number;
  readonly consumers: number;
  readonly batchMax: number;
  /** Producers pause while so many acknowledged items are not completed. */
  readonly backlogMax: number;
  /** Producers rest so long after each call; default not at all. */
  readonly pauseMs?: number;
}

/** Clients at work until they are told to stop. */
export class Load {
  readonly #options: LoadOptions;
  readonly #working: Promise<void>[] = [];
  #isProducing = true;
  #isConsuming = true;
  /** Once set, consumers take whatever there is and complete it. */
  #isDraining = false;
  #numberNext = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    const { producers, consumers } = options;
    for (let index = 0; index < producers; index += 1) {
      this.#working.push(this.#produce(`producer-${index}`));
    }
    for (let index = 0; index < consumers; index += 1) {
      this.#working.push(this.#consume(`consumer-${index}`));
    }
  }

  /** Stops producing, completes all that is there, and tells what is left. The server must be up. */
  async drain(): Promise<Ending> {
    this.#isProducing = false;
    this.#isDraining = true;
    const { address } = this.#options;
    const client = new Client("drain", address);
    await client.connect();
    while (!(await isDrained(client))) await Bun.sleep(20);
    this.#isConsuming = false;
    await Promise.all(this.#working);
    const ending = await readEnding(client);
    client.close();
    return ending;
  }

  async #produce(name: string): Promise<void> {
    const { address, history, random, batchMax, backlogMax, pauseMs = 0 } = this.#options;
    const client = new Client(name, address);
    while (this.#isProducing) {
      if (history.acknowledged - history.completed > backlogMax) {
        await Bun.sleep(2);
        continue;
      }
      const count = 1 + random.below(batchMax);
      const numbers = Array.from({ length: count }, (_, index) => this.#numberNext + index);
      this.#numberNext += count;
      await produce(client, history, numbers);
      if (pauseMs > 0) await Bun.sleep(pauseMs);
    }
    client.close();
  }

  async #consume(name: string): Promise<void> {
    const { address, history, random, batchMax } = this.#options;
    const client = new Client(name, address);
    let stale: { readonly id: string; readonly partition: number } | null = null;
    while (this.#isConsuming) {
      const batchSize = 1 + random.below(batchMax);
      const leased: Leased = await lease(client, history, { batchSize, timeout: "250ms" });
      if (leased.offers.length === 0) {
        if (leased.outcome === "refused") await Bun.sleep(againMs);
        continue;
      }
      const { partition, offers } = leased;
      const ids = offers.map(({ id }) => id);
      const chance = this.#isDraining ? 100 : random.below(100);
      if (chance < 4) {
        // Forgotten; and once its lease has lapsed, completed all the same.
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
      } else {
        await complete(client, history, { partition, ids });
      }
    }
    client.close();
  }
}

async function isDrained(client: Client): Promise<boolean> {
  await client.connect();
  const reply = await client.call("/v1/queue.stats", { queue_name: queueName });
  if (reply?.status !== 200) return false;
  const { logical_queues: lines } = reply.body as {
    logical_queues: { partitions: { total: number; scheduled: number }[] }[];
  };
  return lines.every(({ partitions }) =>
    partitions.every(({ total, scheduled }) => total + scheduled === 0),
  );
}

interface StoredOnWire {
  readonly id: string;
  readonly is_leased: boolean;
  readonly payload: string;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
}

const pageMax = 5_000;

export async function listItems(
  client: Client,
  queue: string,
  partition: number,
): Promise<StoredOnWire[]> {
  const items: StoredOnWire[] = [];
  for (let pivot = ""; ; ) {
    const reply = await client.call("/v1/storage/items.list", {
      queue_name: queue,
      partition,
      pivot,
      limit: pageMax,
    });
    if (reply?.status !== 200) throw new Error(`items were not listed; got ${reply?.status}`);
    const page = (reply.body as { items: StoredOnWire[] }).items;
    // A page starts with its pivot, which the page before has shown already.
    items.push(...page.filter(({ id }) => id !== pivot));
    const last = page.at(-1)?.id;
    if (last === undefined || last === pivot) return items;
    pivot = last;
  }
}

function leftItem(item: StoredOnWire): LeftItem {
  const number = numberIn(item.payload);
  return { number, intact: isIntact(number, { ...item, bytes: item.payload }) };
}

/** Waits until what is on its way to the dead queue's shard has come there. */
async function readEnding(client: Client): Promise<Ending> {
  const reply = await client.call("/v1/queues.info", { queue_name: queueName });
  const { requested_partitions: partitions } = (reply?.body ?? { requested_partitions: 0 }) as {
    requested_partitions: number;
  };
  let dead = await listItems(client, deadQueueName, 0);
  for (let isQuiet = false; !isQuiet; ) {
    await Bun.sleep(150);
    const again = await listItems(client, deadQueueName, 0);
    isQuiet = again.length === dead.length;
    dead = again;
  }
  const left: LeftItem[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    left.push(...(await listItems(client, queueName, partition)).map(leftItem));
  }
  return { dead: dead.map(leftItem), left };
}
