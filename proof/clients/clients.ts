// Clients that load a server over HTTP and record their calls and answers in a history. They
// outlive the server: when a connection is lost, the call is unknown, and the client continues with
// the next server.

import { Connection } from "../../testing/http-client.ts";
import type {
  CompleteCall,
  Contradiction,
  ExtendCall,
  History,
  Offer,
  Outcome,
  Part,
  Pause,
  ReleaseCall,
  RetryCall,
  WithoutCall,
} from "../histories/history.ts";
import { isIntact, numberIn, proofItem } from "./items.ts";

export const queueName = "orders";
/**
 * With two or three shards it is in a different one than `queueName`, so outputs are sent to
 * another shard.
 */
export const otherQueueName = "invoices";
/** Queues to which items are produced. */
export const queueNames = [queueName, otherQueueName] as const;
/**
 * Its shard also differs from that of `queueName`, so dead-lettered items are sent to another
 * shard.
 */
export const deadQueueName = "dead";

/** The address at which a client connects. */
export type ServerAddress = Pick<Address, "port">;

/** The server's address; clients wait here while there is no server. */
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
  /** It answers a repetition; the first answer was lost. */
  readonly isRepeated: boolean;
}

/** Repeated calls and their answers, over all clients with keys. */
export interface Repeats {
  /** Calls that were repeated, either because the answer was lost or to compare the answers. */
  count: number;
  /** Repeated answers that differ from the first one. */
  readonly contradictions: Contradiction[];
}

/** How often a call is sent if its answer is lost. */
const sendsMax = 4;
/** One in this many answered calls is repeated by default. */
const repeatEveryUsual = 8;

/** Pause before reconnecting to a server that refused a connection. */
export const reconnectPauseMs = 3;

/** Tries to create a queue on a busy machine. */
const createTriesMax = 100;
const createAgainMs = 200;

export class Client {
  readonly name: string;
  readonly queue: string;
  readonly #address: ServerAddress;
  readonly #repeats: Repeats | null;
  readonly #repeatEvery: number;
  /** Prefix that no other client of the folder uses, before or after. */
  readonly #keys = crypto.randomUUID();
  #connection: Connection | null = null;
  #calls = 0;

  /** With `repeats`, calls have keys and are repeated. */
  constructor(
    name: string,
    address: ServerAddress,
    {
      queue = queueName,
      repeats = null,
      repeatEvery = repeatEveryUsual,
    }: { queue?: string; repeats?: Repeats | null; repeatEvery?: number } = {},
  ) {
    this.name = name;
    this.queue = queue;
    this.#address = address;
    this.#repeats = repeats;
    this.#repeatEvery = repeatEvery;
  }

  /** The key of an item; numbers restart with each load. */
  uniqueKey(number: number): string {
    return `${this.#keys}-item-${number}`;
  }

  /** Waits for a server: a call that is not sent is not in the history. */
  async connect(): Promise<void> {
    if (this.#connection?.isBroken) this.close();
    while (this.#connection === null) {
      const port = await this.#address.port;
      this.#connection = await Connection.open(port).catch(() => null);
      if (this.#connection === null) await Bun.sleep(reconnectPauseMs);
    }
  }

  /** `null` when the connection, and with it the answer, was lost. */
  async call(path: string, body: object): Promise<Reply | null> {
    const text = JSON.stringify(body);
    const reply = await (this.#repeats === null
      ? this.#send(path, text)
      : this.#sendWithKey(path, text, this.#repeats));
    if (reply === null) return null;
    const { status, body: answer, isRepeated = false } = reply;
    return { status, body: JSON.parse(answer), isRepeated };
  }

  async #send(path: string, body: string, headers = ""): Promise<Answer | null> {
    try {
      const reply = (await this.#connection?.post(path, body, headers)) ?? null;
      return reply !== null && isOfServer(reply) ? reply : null;
    } catch {
      this.close();
      return null;
    }
  }

  /** Repeats it while its answer is lost, to the server of that moment. */
  async untilAnswered<T extends Pick<Answer, "status">>(
    repeats: Repeats,
    send: () => Promise<T | null>,
  ): Promise<T | null> {
    let reply = await send();
    for (let sends = 1; isLost(reply) && sends < sendsMax; sends += 1) {
      repeats.count += 1;
      await this.connect();
      reply = await send();
    }
    return reply;
  }

  async #sendWithKey(path: string, body: string, repeats: Repeats): Promise<Answer | null> {
    this.#calls += 1;
    const headers = `Idempotency-Key: ${this.#keys}-${this.#calls}\r\n`;
    const call = performance.now();
    let sends = 0;
    const reply = await this.untilAnswered(repeats, () => {
      sends += 1;
      return this.#send(path, body, headers);
    });
    const isRepeated = sends > 1;
    if (reply?.status === 200 && this.#calls % this.#repeatEvery === 0) {
      const end = performance.now();
      repeats.count += 1;
      const again = await this.#send(path, body, headers);
      if (again !== null && !isRepetition(reply, again)) {
        const answers = `${path}: ${reply.body} and then ${again.body}`;
        repeats.contradictions.push({ answers, call, end });
      }
      await this.connect();
    }
    return reply === null ? null : { ...reply, isRepeated };
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly isRepeated?: boolean;
}

/** A proxy's own answer is an HTML page and does not show the call's outcome. */
function isOfServer({ body }: Answer): boolean {
  return body.startsWith("{");
}

/**
 * Whether `again` is a valid repetition of `first`. A repeated lease returns the items still held,
 * with the same or an extended deadline. Any call may time out or meet a full disk.
 */
export function isRepetition(first: Answer, again: Answer): boolean {
  if (again.status !== 200) return ![400, 453].includes(again.status);
  const deadlines = deadlinesOf(first);
  if (deadlines.size === 0) return effectIn(again) === effectIn(first);
  return deadlinesOf(again)
    .entries()
    .every(([id, deadline]) => deadline >= (deadlines.get(id) ?? Number.POSITIVE_INFINITY));
}

/** The body without the time of the answer, which differs each time. */
function effectIn({ body }: Answer): string {
  const { now: _, ...effect } = JSON.parse(body) as { readonly now?: string };
  return JSON.stringify(effect);
}

/** Deadlines by the ids of a lease's items; empty for any other reply. */
function deadlinesOf({ body }: Answer): Map<string, number> {
  const items: readonly { id: string; lease_deadline?: string | null }[] =
    JSON.parse(body).items ?? [];
  return new Map(
    items.flatMap(({ id, lease_deadline: deadline }) =>
      deadline ? [[id, Date.parse(deadline)] as const] : [],
    ),
  );
}

function outcomeOf(reply: Reply | null): Outcome {
  if (reply === null) return "unknown";
  if (reply.status === 200) return "ok";
  if (reply.status === 504) return "unknown";
  return "refused";
}

export function producedItem(number: number) {
  const { payload, kind, encoding, reference } = proofItem(number);
  return { bytes: payload.toBase64(), kind, encoding, reference };
}

export interface Producing {
  readonly numbers: readonly number[];
  readonly priority?: number;
  readonly unique?: Repeats | null;
}

/**
 * With `unique`, each item has a key of its own, so the call can be repeated without one: when its
 * answer was lost, and once after it was answered.
 */
export async function produce(
  client: Client,
  history: History,
  { numbers, priority = 0, unique = null }: Producing,
): Promise<Outcome> {
  await client.connect();
  const items = numbers.map((number) => ({
    ...producedItem(number),
    priority,
    ...(unique !== null && { unique_key: client.uniqueKey(number) }),
  }));
  const entry = history.begin({
    verb: "produce",
    client: client.name,
    queue: client.queue,
    numbers,
    priority,
  });
  const send = () =>
    client.call("/v1/queue.produce", {
      queue_name: client.queue,
      request_timeout: "1m",
      items,
    });
  const reply = await (unique === null ? send() : client.untilAnswered(unique, send));
  history.end(entry, outcomeOf(reply), reply);
  if (unique !== null && entry.outcome === "ok") {
    unique.count += 1;
    const again = await send();
    const { duplicates = [] } = (again?.body ?? {}) as { duplicates?: readonly number[] };
    if (again?.status === 200 && duplicates.length < numbers.length) {
      const answers = `produce: ${numbers.length} items, duplicates ${duplicates}`;
      unique.contradictions.push({ answers, call: entry.call, end: entry.end });
    }
  }
  return entry.outcome;
}

/** Imports items into the first partition; the history records them as produced. */
export async function importItems(
  client: Client,
  history: History,
  numbers: readonly number[],
): Promise<void> {
  await client.connect();
  const { name, queue } = client;
  const entry = history.begin({ verb: "produce", client: name, queue, numbers });
  const items = numbers
    .map(producedItem)
    .map(({ bytes, ...item }) => ({ ...item, payload: bytes }));
  const asked = { queue_name: queue, partition: 0, items };
  const reply = await client.call("/v1/storage/items.import", asked);
  history.end(entry, outcomeOf(reply), reply);
}

function isLost(reply: Pick<Answer, "status"> | null): boolean {
  return reply === null || reply.status === 504;
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
    queue: client.queue,
    batchSize,
    partition: -1,
    offers: [] as readonly Offer[],
    isRepeated: false as boolean,
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
    entry.isRepeated = reply.isRepeated;
  }
  history.end(entry, reply?.status === 454 ? "empty" : outcomeOf(reply), reply);
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

interface HeldIds {
  readonly partition: number;
  readonly ids: readonly string[];
}

export function complete(
  client: Client,
  history: History,
  { partition, ids }: HeldIds,
): Promise<Outcome> {
  return settle(
    client,
    history,
    { verb: "complete", partition, ids },
    { request_timeout: "1m", ids },
  );
}

export function retry(
  client: Client,
  history: History,
  { partition, ids, dead }: HeldIds & { readonly dead: boolean },
): Promise<Outcome> {
  const items = ids.map((id) => ({ id, dead }));
  return settle(client, history, { verb: "retry", partition, ids, dead }, { items });
}

/** `leaseTimeout` counts from now; `null` = the queue's own. */
export function extend(
  client: Client,
  history: History,
  { partition, ids, leaseTimeout }: HeldIds & { readonly leaseTimeout: string | null },
): Promise<Outcome> {
  const call = { verb: "extend", partition, ids, leaseDeadline: 0 } as const;
  return settle(client, history, call, { ids, lease_timeout: leaseTimeout });
}

export function release(
  client: Client,
  history: History,
  { partition, ids }: HeldIds,
): Promise<Outcome> {
  return settle(client, history, { verb: "release", partition, ids }, { ids });
}

async function settle(
  client: Client,
  history: History,
  call: WithoutCall<CompleteCall | RetryCall | ExtendCall | ReleaseCall>,
  body: object,
): Promise<Outcome> {
  await client.connect();
  const entry = history.begin({ ...call, client: client.name });
  const { verb, partition } = call;
  const asked = { queue_name: client.queue, partition, ...body };
  const reply = await client.call(`/v1/queue.${verb}`, asked);
  if (entry.verb === "extend" && reply?.status === 200) {
    entry.leaseDeadline = Date.parse((reply.body as { lease_deadline: string }).lease_deadline);
  }
  history.end(entry, outcomeOf(reply), reply);
  return entry.outcome;
}

/** The finished items are of the client's own queue. */
export async function transact(
  client: Client,
  history: History,
  parts: readonly Part[],
): Promise<Outcome> {
  await client.connect();
  const entry = history.begin({ verb: "transact", client: client.name, parts });
  const { queue: queue_name } = client;
  const reply = await client.call("/v1/queue.transact", {
    request_timeout: "1m",
    complete: parts.flatMap((part) =>
      part.verb === "complete" ? [{ queue_name, partition: part.partition, ids: part.ids }] : [],
    ),
    retry: parts.flatMap((part) => {
      if (part.verb !== "retry") return [];
      const { partition, ids, dead } = part;
      return [{ queue_name, partition, items: ids.map((id) => ({ id, dead })) }];
    }),
    produce: outputsOf(parts).map(({ queue, numbers }) => {
      return { queue_name: queue, items: numbers.map(producedItem) };
    }),
  });
  if (reply?.status === 200) {
    const { produced } = reply.body as { produced: readonly { delivered: boolean }[] };
    for (const [index, output] of outputsOf(parts).entries()) {
      output.isDelayed = produced[index]?.delivered === false;
    }
  }
  history.end(entry, outcomeOf(reply), reply);
  return entry.outcome;
}

function outputsOf(parts: readonly Part[]): Extract<Part, { verb: "produce" }>[] {
  return parts.filter((part) => part.verb === "produce");
}

/**
 * Pauses leases of the queue and resumes them after `ms`; `null` = the start of the pause is
 * unknown.
 */
export async function pauseFor(client: Client, ms: number): Promise<Pause | null> {
  const { queue } = client;
  await client.connect();
  const call = performance.now();
  const reply = await client.call("/v1/queue.pause", { queue_name: queue, lease: true });
  const from = performance.now();
  await Bun.sleep(ms);
  const to = performance.now();
  for (let isResumed = false; !isResumed; ) {
    await client.connect();
    isResumed = (await client.call("/v1/queue.resume", { queue_name: queue }))?.status === 200;
  }
  return reply?.status === 200 ? { queue, call, from, to } : null;
}

export interface QueueShape {
  readonly partitions: number;
  readonly leaseTimeoutMs: number;
  readonly maxAttempts: number;
}

/** Does not change existing queues. */
export async function createQueues(address: ServerAddress, shape: QueueShape): Promise<void> {
  const client = new Client("owner", address);
  const common = { expire_timeout: "24h", lease_timeout: `${shape.leaseTimeoutMs}ms` };
  const queues = [
    { queue_name: deadQueueName, max_attempts: 0, requested_partitions: 1, ...common },
    ...queueNames.map((queue_name) => ({
      queue_name,
      dead_queue: deadQueueName,
      max_attempts: shape.maxAttempts,
      requested_partitions: queue_name === queueName ? shape.partitions : 1,
      unique_for: "1h",
      priority_aging: "5s",
      ...common,
    })),
  ];
  try {
    for (const queue of queues) await createQueue(client, queue);
  } finally {
    client.close();
  }
}

/** A node on a busy machine may need time to report whether it created the queue. */
export async function createQueue(
  client: Client,
  queue: { readonly queue_name: string },
): Promise<void> {
  const { queue_name } = queue;
  for (let tries = 0; ; tries += 1) {
    await client.connect();
    const reply = await client.call("/v1/queues.create", queue);
    if (reply?.status === 200) return;
    const known = await client.call("/v1/queues.info", { queue_name });
    if (known?.status === 200) return;
    if (tries === createTriesMax) {
      throw new Error(`a queue was not created; ${JSON.stringify(reply)}`);
    }
    await Bun.sleep(createAgainMs);
  }
}

export interface StoredOnWire {
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
    await client.connect();
    const reply = await client.call("/v1/storage/items.list", {
      queue_name: queue,
      partition,
      pivot,
      limit: pageMax,
    });
    if (reply?.status !== 200) throw new Error(`items were not listed; got ${reply?.status}`);
    const page = (reply.body as { items: StoredOnWire[] }).items;
    // A page starts with its pivot, which the previous page also contains.
    items.push(...page.filter(({ id }) => id !== pivot));
    const last = page.at(-1)?.id;
    if (last === undefined || last === pivot) return items;
    pivot = last;
  }
}
