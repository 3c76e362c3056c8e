// A queue with one partition, and waiting leases, for tests and benches of turns without an engine.

import type { Pause } from "../../stores/queue.ts";
import type { Clock } from "../model/clock.ts";
import { type LeaseGrant, LogicalQueue, type WaitingLease } from "../state/queue.ts";

export interface SampleRules {
  readonly slot: number;
  readonly leaseTimeoutMs: number;
  readonly expireTimeoutMs: number;
  readonly maxAttempts: number;
  readonly pause?: Pause;
  readonly uniqueForMs?: number;
}

/** The id of the queue whose partition has the slot. */
export function sampleQueueId(slot: number): number {
  return slot + 1;
}

export function sampleQueue(
  { slot, pause, uniqueForMs, ...rules }: SampleRules,
  clock: Clock,
): LogicalQueue {
  const { leaseTimeoutMs, expireTimeoutMs, maxAttempts } = rules;
  const texts = { leaseTimeoutText: "", expireTimeoutText: "" };
  const definition = {
    ...{ name: "q", deadQueue: "", reference: "", requestedPartitions: 1 },
    ...{ leaseTimeoutMs, expireTimeoutMs, maxAttempts, ...texts, createdAt: 1, updatedAt: 1 },
    ...(pause && { pause }),
    ...(uniqueForMs !== undefined && { uniqueForMs }),
  };
  const places = [{ partition: 0, slot, state: "active" }] as const;
  const entry = { queueId: sampleQueueId(slot), definition, places, deadOwner: 0, deleting: false };
  const queue = new LogicalQueue(entry, 0, clock);
  queue.levels.put(0, true);
  return queue;
}

export interface SampleLease {
  readonly arrival: number;
  readonly batchSize: number;
  readonly deadline?: number;
  readonly settle?: (outcome: Parameters<WaitingLease["settle"]>[0]) => void;
}

export function sampleLease(
  queue: LogicalQueue,
  {
    arrival,
    batchSize,
    deadline = Number.POSITIVE_INFINITY,
    settle = () => undefined,
  }: SampleLease,
): WaitingLease {
  const { name } = queue.definition;
  const clientId = String(arrival);
  return {
    ...{ queue, key: undefined, arrival, deadline, since: 0, settle },
    request: { queue: name, clientId, batchSize, requestTimeoutMs: Number.MAX_SAFE_INTEGER },
    ...{ listen: () => undefined, timeUp: () => undefined },
    ...{ timer: null, hangUp: null, next: null, isGranted: false, over: false },
  };
}

export function isGrant(outcome: object): outcome is LeaseGrant {
  return "items" in outcome;
}
