// A load for an engine in this process, with a note before each call and after each answer. At any
// moment, the notes determine what a store must hold.

import type { Engine } from "../../engine/model/api.ts";
import type { Random } from "../../engine/model/random.ts";
import { deadQueueName, queueName } from "../clients/clients.ts";
import { numberOf, proofItem } from "../clients/items.ts";

type Verb = "produce" | "lease" | "complete" | "retry" | "reject";

export type Note =
  | {
      readonly kind: "called";
      readonly call: number;
      readonly verb: Verb;
      readonly numbers: readonly number[];
    }
  /** `held`: the granted items of a lease. */
  | { readonly kind: "done"; readonly call: number; readonly held?: readonly Hold[] };

export interface Hold {
  readonly number: number;
  readonly id: string;
}

export interface StoreLoadOptions {
  readonly random: Random;
  readonly calls: number;
  /** Concurrent calls. */
  readonly clients: number;
  readonly batchMax: number;
  readonly note: (note: Note) => void;
}

const queue = queueName;
const hourMs = 3_600_000;

interface HeldLease {
  readonly partition: number;
  readonly items: readonly Hold[];
}

/**
 * Uses a queue of three partitions, and its dead queue, which is in another shard if there are two.
 */
export async function runStoreLoad(engine: Engine, options: StoreLoadOptions): Promise<void> {
  const common = {
    reference: "",
    leaseTimeoutMs: hourMs,
    expireTimeoutMs: 24 * hourMs,
    maxAttempts: 0,
  };
  const dead = deadQueueName;
  await engine.createQueue({ ...common, name: dead, deadQueue: "", requestedPartitions: 1 });
  await engine.createQueue({ ...common, name: queue, deadQueue: dead, requestedPartitions: 3 });
  const left = { calls: options.calls, numberNext: 0, callLast: 0 };
  const clients = Array.from({ length: options.clients }, (_, index) =>
    work(engine, `client-${index}`, { ...options, left }),
  );
  await Promise.all(clients);
}

interface WorkOptions extends StoreLoadOptions {
  readonly left: { calls: number; numberNext: number; callLast: number };
}

async function work(engine: Engine, clientId: string, options: WorkOptions): Promise<void> {
  const { random, batchMax, note, left } = options;
  const held: HeldLease[] = [];
  const noteCall = (verb: Verb, numbers: readonly number[]): number => {
    left.callLast += 1;
    note({ kind: "called", call: left.callLast, verb, numbers });
    return left.callLast;
  };
  while (left.calls > 0) {
    left.calls -= 1;
    const chance = random.below(100);
    const one = held.length > 2 || chance < 45 ? held.shift() : undefined;
    if (one === undefined && chance < 75) {
      const first = left.numberNext;
      const numbers = Array.from({ length: 1 + random.below(batchMax) }, (_, at) => first + at);
      left.numberNext += numbers.length;
      const call = noteCall("produce", numbers);
      await engine.produce({ queue, requestTimeoutMs: 60_000, items: numbers.map(proofItem) });
      note({ kind: "done", call });
    } else if (one === undefined) {
      const call = noteCall("lease", []);
      const request = {
        queue,
        clientId,
        batchSize: 1 + random.below(batchMax),
        requestTimeoutMs: 10,
      };
      const lease = await engine.lease(request).catch(() => null);
      const items = (lease?.items ?? []).map(({ id, payload }) => ({
        id,
        number: numberOf(payload),
      }));
      if (lease !== null) held.push({ partition: lease.partition, items });
      note({ kind: "done", call, held: items });
    } else {
      const { partition, items } = one;
      const numbers = items.map(({ number }) => number);
      const ids = items.map(({ id }) => id);
      const verb = chance % 10 < 7 ? "complete" : chance % 10 < 9 ? "retry" : "reject";
      const call = noteCall(verb, numbers);
      if (verb === "complete") {
        await engine.complete({ queue, partition, requestTimeoutMs: 60_000, ids });
      } else {
        const dead = verb === "reject";
        await engine.retry({
          queue,
          partition,
          items: ids.map((id) => ({ id, retryAt: null, dead })),
        });
      }
      note({ kind: "done", call });
    }
  }
}
