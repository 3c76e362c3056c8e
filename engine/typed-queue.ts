// A queue whose payloads are values of one type, as JSON.

import type { LeasedItem, Produced, ProduceItem, Repeatable } from "./api.ts";
import type { Handling, Worker, WorkOptions } from "./work.ts";

/** What an item has beside its payload, and the call beside its items. */
export interface JobOptions extends Omit<ProduceItem, "payload" | "encoding">, Repeatable {
  /** Default 5 minutes. */
  readonly requestTimeoutMs?: number;
}

export type JobHandler<Job> = (job: Job, item: LeasedItem, handling: Handling) => unknown;

export interface TypedQueue<Job> {
  readonly name: string;
  /** Resolves once the job is committed. Throws a `TypeError` for a value that JSON does not have. */
  produce(job: Job, options?: JobOptions): Promise<Produced>;
  /** Has each job handled until the worker is stopped. The type of stored payloads is not checked. */
  work(handler: JobHandler<Job>, options?: WorkOptions): Worker;
}

const requestTimeoutMsDefault = 5 * 60_000;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function payloadOf(job: unknown): string {
  const payload: string | undefined = JSON.stringify(job);
  if (payload !== undefined) return payload;
  throw new TypeError(`job is invalid; expected a value that JSON has, got ${typeof job}`);
}

export function jobOf<Job>({ payload }: LeasedItem): Job {
  return JSON.parse(decoder.decode(payload));
}

export function requestOf(queue: string, job: unknown, options: JobOptions = {}) {
  const { requestTimeoutMs = requestTimeoutMsDefault, requestKey, ...fields } = options;
  const item: ProduceItem = { payload: payloadOf(job), encoding: "application/json", ...fields };
  return { queue, items: [item], requestTimeoutMs, ...(requestKey && { requestKey }) };
}
