// A queue whose payloads are values of one type, as JSON.

import type { LeasedItem, Produced, ProduceItem, Repeatable } from "../model/api.ts";
import type { Handling, Worker, WorkOptions } from "./work.ts";

/** The options of the item and of the call. */
export interface ItemOptions extends Omit<ProduceItem, "payload" | "encoding">, Repeatable {
  /** Default 5 min. */
  readonly requestTimeoutMs?: number;
}

export type ValueHandler<Value> = (value: Value, item: LeasedItem, handling: Handling) => unknown;

export interface TypedQueue<Value> {
  readonly name: string;
  /** Resolves once the item is committed. Throws a `TypeError` if the value has no JSON form. */
  produce(value: Value, options?: ItemOptions): Promise<Produced>;
  /** Handles the value of each item until the worker is stopped. Does not check stored payloads. */
  work(handler: ValueHandler<Value>, options?: WorkOptions): Worker;
}

const requestTimeoutMsDefault = 5 * 60_000;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function payloadOf(value: unknown): string {
  const payload: string | undefined = JSON.stringify(value);
  if (payload !== undefined) return payload;
  throw new TypeError(
    `value is invalid; expected one that JSON can represent, got ${typeof value}`,
  );
}

export function valueIn<Value>({ payload }: LeasedItem): Value {
  return JSON.parse(decoder.decode(payload));
}

export function requestOf(queue: string, value: unknown, options: ItemOptions = {}) {
  const { requestTimeoutMs = requestTimeoutMsDefault, requestKey, ...fields } = options;
  const item: ProduceItem = { payload: payloadOf(value), encoding: "application/json", ...fields };
  return { queue, items: [item], requestTimeoutMs, ...(requestKey && { requestKey }) };
}
