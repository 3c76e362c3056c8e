// What a route is: the operation's request in, its reply out.

import type { Engine, ItemCounts, Outcome, Repeatable } from "../../engine/model/api.ts";
import { QueueError } from "../../engine/model/errors.ts";
import {
  type Operation,
  type OperationId,
  operations,
  type RequestOf,
  type ResponseOf,
} from "../../openapi/operations.ts";
import type { Grant } from "../auth/key-rights.ts";
import { doneText } from "../http/reply.ts";

/** A reply that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A reply whose `items` may be megabytes: the JSON of each, so that they are worked on in pieces. */
export class PageText extends JsonText {
  readonly items: readonly string[];
  /** The other keys of the reply. */
  readonly rest: object;

  constructor(items: readonly string[], rest: object = {}) {
    const others = JSON.stringify(rest).slice(1);
    super(`{"items":[${items.join(",")}]${others === "}" ? "" : ","}${others}`);
    this.items = items;
    this.rest = rest;
  }
}

export function jsonText(reply: unknown): string {
  return reply instanceof JsonText ? reply.text : JSON.stringify(reply);
}

/** The reply of an operation that has nothing to return. */
export const done = new JsonText(doneText);

/** The check of a request's queue, and of its partition if one is named. */
export function checkOf(engine: Engine<string>, body: { queue_name: string; partition?: number }) {
  return () => engine.requireQueue(body.queue_name, body.partition);
}

/** The body of a request, and the JSON that it was read from; `null` = it came in another form. */
export interface Sent<T> {
  readonly body: T;
  readonly text: string | null;
}

/** Who asks, here or by another node. */
export interface Asking {
  /** Its signal is aborted when the client has hung up. */
  readonly client: Pick<Request, "signal">;
  readonly requestKey: string | null;
  /** Of the API key, for operations that `tellsCaller`; absent or `null` = none was asked for. */
  readonly grant?: Grant | null;
  /** Absent = not known any more. */
  readonly sent?: Sent<unknown>;
  /** How long to wait for a shard that another node has; absent = as long as the call has. */
  readonly elsewhereMsMax?: number;
}

/** Whether who asks makes a difference, once he was let in. */
export function tellsCaller(id: OperationId): boolean {
  const { audits, role, reach }: Operation = operations[id];
  return audits !== undefined || role === "read" || reach === "visible";
}

/** The caller of a call, and what its headers say. */
export class Caller {
  readonly #asking: Asking;
  /** Whether the reply is that of an earlier call with the same key. */
  isReplayed = false;
  /** Other queues that the call is about, which its body need not name. */
  toQueues: readonly string[] = [];
  /** How many items the call was about, where its result says; `null` = as many as its body names. */
  touched: number | null = null;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  get signal(): AbortSignal {
    return this.#asking.client.signal;
  }

  removed(counts: ItemCounts): void {
    const { ready, leased, scheduled, retried } = counts;
    this.touched = ready + leased + scheduled + retried;
  }

  get grant(): Grant | null {
    return this.#asking.grant ?? null;
  }

  get requestKey(): string | null {
    return this.#asking.requestKey;
  }

  /** How long to wait for a shard that another node has; `null` = as long as the call has. */
  get elsewhereMsMax(): number | null {
    return this.#asking.elsewhereMsMax ?? null;
  }

  /** The same caller, who waits no longer than this for a shard that another node has. */
  waitingElsewhere(elsewhereMsMax: number): Caller {
    return new Caller({ ...this.#asking, elsewhereMsMax });
  }

  /** The JSON of a body; if the client sent exactly this body, its original text. */
  jsonOf(body: unknown): string {
    const { sent } = this.#asking;
    const isSent = sent !== undefined && sent.body === body;
    return (isSent ? sent.text : null) ?? JSON.stringify(body);
  }

  /** The request of the engine, with the key if one was sent. */
  asks<T extends Repeatable>(request: T): T {
    const { requestKey } = this;
    return requestKey === null ? request : { ...request, requestKey };
  }

  /** Passes on what the engine says, and takes note of whether it was said before. */
  heard<T extends Outcome>(outcome: T): T {
    this.isReplayed = outcome.replayed;
    return outcome;
  }
}

/** Throws what `reply.ts` turns into a refusal. */
export type Route<Id extends OperationId> = (
  body: RequestOf<Id>,
  caller: Caller,
) => Promise<ResponseOf<Id> | JsonText>;

export type Routes<Ids extends OperationId = OperationId> = { readonly [Id in Ids]: Route<Id> };

/**
 * Decodes. Where the name of the queue is at fault as well as what is decoded, the name is what is
 * refused. `checkName` throws unless the name is good enough for the operation.
 */
export function decoded<T>(checkName: () => void, decode: () => T): T {
  try {
    const request = decode();
    if (!(request instanceof Promise)) return request;
    return request.catch((error) => refused(checkName, error)) as T;
  } catch (error) {
    return refused(checkName, error);
  }
}

function refused(checkName: () => void, error: unknown): never {
  if (error instanceof QueueError) checkName();
  throw error;
}
