// Sends valid bodies, and bodies with one fault, to the whole app without a socket. Time stands
// still, so the same seed has the same effect each time: a fault names the seed of its world and
// the number of bodies before it.

import fc from "fast-check";
import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { compileCheck } from "../../../openapi/check.ts";
import openapi from "../../../openapi/openapi.json" with { type: "json" };
import { type OperationId, operations } from "../../../openapi/operations.ts";
import { Reply } from "../../../openapi/schemas.ts";
import { minute, RunningApp } from "../../../server/testing/running-app.ts";
import { type Body, brokenOnce, unbroken } from "./broken.ts";
import { idMark, wellFormed, type worldQueues } from "./well-formed.ts";

export interface BodyOptions {
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface BodyReport {
  readonly figures: Record<string, number>;
  readonly faults: string[];
}

/** Small worlds give short reproductions; large ones let bodies meet a used server. */
const worldBodies = 250;
/** One world in this many stores its items in files. */
const sqliteEvery = 8;
/** After this many bodies, all state is compared, not only the counts. */
const fullEvery = 20;
/** After this many bodies of a world, scheduled items become due and leases lapse. */
const passEvery = 60;
/** Rounds of the event loop after which an unanswered lease waits and its client disconnects. */
const patienceRounds = 40;
const faultsMax = 50;

interface Trial {
  readonly id: OperationId;
  readonly body: Body;
}

const ids = Object.keys(operations) as OperationId[];

const trials: fc.Arbitrary<Trial> = fc
  .constantFrom(...ids)
  .chain((id) =>
    fc.tuple(
      fc.constant(id),
      wellFormed(operations[id].request),
      fc.integer({ min: 0, max: 2 ** 30 }),
      // Two thirds have a fault.
      fc.nat(2),
    ),
  )
  .map(([id, body, pick, part]) => ({
    id,
    body: part === 0 ? unbroken(body) : brokenOnce(operations[id].request, body, pick),
  }));

const isReply = compileCheck(Reply);
const paths: Readonly<Record<string, object>> = openapi.paths;
/** The codes that the published document lists for each operation, and its schema of a 200. */
const published = new Map(
  ids.map((id) => {
    const { post } = paths[operations[id].path] as {
      readonly post: { readonly responses: object };
    };
    const codes = new Set(Object.keys(post.responses).map(Number));
    const isOk: (value: unknown) => boolean = compileCheck(operations[id].response);
    return [id, { codes, isOk }] as const;
  }),
);

export async function tryBodies({ count, seed, log }: BodyOptions): Promise<BodyReport> {
  const counts = new Map<string, number>();
  const faults: string[] = [];
  for (let done = 0; done < count && faults.length < faultsMax; done += worldBodies) {
    const worldSeed = (seed + done / worldBodies) | 0;
    const bodies = drawn(worldSeed, Math.min(worldBodies, count - done));
    faults.push(...(await tryWorld(worldSeed, bodies, counts)));
    if (done > 0 && done % 10_000 === 0) log(`${done} bodies, ${faults.length} faults`);
  }
  const figures = { worlds: Math.ceil(count / worldBodies), ...Object.fromEntries(counts) };
  return { figures, faults };
}

async function tryWorld(
  seed: number,
  bodies: readonly Trial[],
  counts: Map<string, number>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const world = await openWorld(seed);
  let last = "before the first body";
  try {
    for (const [index, trial] of bodies.entries()) {
      last = `body ${index}`;
      if (index % passEvery === passEvery - 1) await world.pass();
      const { outcome, found } = await world.send(trial, index % fullEvery === 0);
      for (const key of ["bodies", trial.body.fault === null ? "valid" : "broken", outcome]) {
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      for (const fault of found) {
        faults.push(`seed ${seed}, body ${index}: ${fault}; ${described(trial)}`);
      }
    }
    for (const fault of await world.atRest()) faults.push(`seed ${seed}: ${fault}`);
    await world.close();
  } catch (error) {
    // A server that does not become idle cannot be closed either.
    faults.push(`seed ${seed}, ${last}: ${error instanceof Error ? error.message : error}`);
  }
  return faults;
}

function drawn(seed: number, count: number): readonly Trial[] {
  return fc.sample(trials, { seed, numRuns: count });
}

function described({ id, body: { fault, bytes } }: Trial): string {
  const text = new TextDecoder().decode(bytes.subarray(0, 300));
  return `${id}, ${fault ?? "no fault"}, ${bytes.length} bytes: ${text}`;
}

async function openWorld(seed: number) {
  const random = seededRandom(seed);
  const app = new RunningApp({ store: seed % sqliteEvery === 0 ? "sqlite" : "memory" });
  await app.open();
  await populate(app);
  let liveIds: readonly string[] = [];

  /** Counts that need no call to a shard; every kind of change affects one. */
  const counted = (): string => {
    // Their order is irrelevant: a refused delete removes a queue and adds it again.
    const queues = app.engine.status().queues.toSorted((a, b) => (a.queue < b.queue ? -1 : 1));
    return JSON.stringify([app.engine.listQueues({ pivot: "", limit: 1_000 }), queues]);
  };
  const everything = async (): Promise<string> => {
    const parts: unknown[] = [counted()];
    for (const { name, requestedPartitions } of app.engine.listQueues({
      pivot: "",
      limit: 1_000,
    })) {
      parts.push(await app.ok("inspect", { queue_name: name }));
      parts.push(await app.ok("stats", { queue_name: name }));
      for (let partition = 0; partition < requestedPartitions; partition += 1) {
        parts.push(await app.stored(name, partition), await app.scheduled(name, partition));
      }
    }
    return JSON.stringify(parts);
  };
  const refreshIds = async (): Promise<void> => {
    const [items, scheduled] = [await app.stored(), await app.scheduled()];
    liveIds = [...items, ...scheduled].map(({ id }) => id);
  };

  return {
    async send({ id, body }: Trial, isFull: boolean) {
      if (isFull) {
        await populate(app);
        await refreshIds();
      }
      const bytes = withIds(body.bytes, liveIds, random.below(1_000));
      const before = isFull ? await everything() : counted();
      const { response, hungUp } = await answerOf(app, operations[id].path, bytes);
      const found: string[] = [];
      const { status } = response;
      const text = await response.text();
      if (status >= 500) found.push(`answered ${status}`);
      if (published.get(id)?.codes.has(status) !== true) {
        found.push(`answered ${status}, which the contract does not list`);
      }
      if (!isPublished(id, status, text)) {
        found.push(`answered ${status} in a form that is not published: ${text.slice(0, 200)}`);
      }
      if (status === 200 && body.isRefused)
        found.push("answered 200 to a body that must be refused");
      if (status !== 200) {
        const after = isFull ? await everything() : counted();
        if (after !== before) {
          found.push(`answered ${status} and changed something, ${difference(before, after)}`);
        }
      }
      return { outcome: hungUp ? "hungUp" : `answered${status}`, found };
    },

    /** Advances time: leases lapse and scheduled items become due. */
    async pass() {
      await app.advance((1 + random.below(120)) * minute);
    },

    /** Checks that nothing is left after every request was answered. */
    async atRest(): Promise<string[]> {
      const found: string[] = [];
      const { waitingLeases } = app.engine.status();
      if (waitingLeases !== 0) found.push(`${waitingLeases} leases still wait`);
      const metrics = await app.metrics();
      // The metrics request itself is in flight.
      for (const line of ["holdfast_requests_in_flight 1", "holdfast_request_body_bytes 0"]) {
        if (!metrics.includes(line)) found.push(`at rest the metrics do not contain '${line}'`);
      }
      if (app.logged.length > 0) found.push(`the log contains '${app.logged[0]}'`);
      return found;
    },

    close: () => app[Symbol.asyncDispose](),
  };
}

/** Creates the queues and fills them; some bodies delete one and clear the other. */
async function populate(app: RunningApp): Promise<void> {
  const have = new Set(app.engine.listQueues({ pivot: "", limit: 1_000 }).map(({ name }) => name));
  const settings = {
    dead: {},
    orders: { dead_queue: "dead", max_attempts: 3, requested_partitions: 2 },
    wide: { requested_partitions: 5 },
    grouped: { dead_queue: "dead", grouped: true, group_leased_max: 1, group_on_dead: "block" },
  } as const satisfies Record<(typeof worldQueues)[number], object>;
  for (const name of ["dead", "orders", "wide", "grouped"] as const) {
    if (!have.has(name)) await app.create(name, settings[name]);
  }
  // Some bodies pause the queue or set limits.
  await app.ok("resume", { queue_name: "orders" });
  await app.ok("updateQueue", { queue_name: "orders", leased_max: 0, lease_rate: "" });
  const { queues } = app.engine.status();
  const orders = queues.find(({ queue }) => queue === "orders");
  if ((orders?.queued ?? 0) >= 4) return;
  await app.produce("one", "two", "three", "four", "five", "six");
  await app.lease({ batch_size: 3 });
}

/** The answer; a client whose call would have to wait disconnects. */
async function answerOf(app: RunningApp, path: string, bytes: Uint8Array) {
  const caller = new AbortController();
  const headers = {
    "content-type": "application/json",
    "content-length": String(bytes.byteLength),
  };
  let isAnswered = false;
  const sent = app
    .send(path, { method: "POST", headers, body: bytes as BodyInit, signal: caller.signal })
    .finally(() => {
      isAnswered = true;
    });
  for (let round = 0; round < patienceRounds && !isAnswered; round += 1) await app.clock.settle();
  const hungUp = !isAnswered;
  if (hungUp) caller.abort();
  return { response: await app.through(sent), hungUp };
}

/** The first difference of two texts, with some context. */
function difference(before: string, after: string): string {
  let at = 0;
  while (before[at] === after[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `from ${before.slice(from, at + 160)} to ${after.slice(from, at + 160)}`;
}

function isPublished(id: OperationId, status: number, text: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  if (status === 200) return published.get(id)?.isOk(value) === true;
  return isReply(value) && value.code === status;
}

/** Replaces id marks by ids of existing items. */
function withIds(bytes: Uint8Array, live: readonly string[], offset: number): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (live.length === 0 || !buffer.includes("@id")) return bytes;
  // Latin-1 keeps each byte, so invalid UTF-8 stays invalid.
  let text = buffer.toString("latin1");
  for (let index = 0; index < 8; index += 1) {
    text = text.replaceAll(idMark(index), live[(offset + index) % live.length] ?? "");
  }
  return Buffer.from(text, "latin1");
}
