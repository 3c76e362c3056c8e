// A route performs an operation: the request and its caller in, the reply out.

import type { Engine, ItemCounts, Outcome, Repeatable } from "../../engine/model/api.ts";
import { QueueError } from "../../engine/model/errors.ts";
import {
  type Operation,
  type OperationId,
  operations,
  type RequestOf,
  type ResponseOf,
} from "../../openapi/operations.ts";
import type { KeyIdentity } from "../auth/key-rights.ts";
import { doneText } from "../http/reply.ts";

/** A reply that is already JSON text. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A reply whose `items` may be megabytes; the JSON of each item, so that work can be split. */
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
export function queueCheck(
  engine: Engine<string>,
  body: { queue_name: string; partition?: number },
) {
  return () => engine.requireQueue(body.queue_name, body.partition);
}

/** The body of a request, and the JSON that it was read from; `null`: it was not JSON. */
export interface ParsedBody<T> {
  readonly body: T;
  readonly text: string | null;
}

/** The origin of a call, made here or forwarded by another node. */
export interface CallOrigin {
  /** Its signal is aborted when the client hangs up. */
  readonly client: Pick<Request, "signal">;
  readonly requestKey: string | null;
  /** Identity of the API key, for operations that `needsIdentity`; absent or `null` = not needed. */
  readonly identity?: KeyIdentity | null;
  /** Absent for forwarded calls. */
  readonly sent?: ParsedBody<unknown>;
  /** How long to wait for a shard of another node; absent: until the call's deadline. */
  readonly elsewhereMsMax?: number;
}

/** Whether the operation depends on its caller beyond the check of the key. */
export function needsIdentity(id: OperationId): boolean {
  const { audits, role, reach }: Operation = operations[id];
  return audits !== undefined || role === "read" || reach === "visible";
}

/** The caller of an operation, and facts about the call that are not part of its reply. */
export class Caller {
  readonly #origin: CallOrigin;
  /** The reply is that of an earlier call with the same key. */
  isReplayed = false;
  /** Other queues that the call affects; its body may not name them. */
  toQueues: readonly string[] = [];
  /** The number of affected items, if the result has it; `null`: as many as the body names. */
  affectedItems: number | null = null;

  constructor(origin: CallOrigin) {
    this.#origin = origin;
  }

  get signal(): AbortSignal {
    return this.#origin.client.signal;
  }

  countRemoved(counts: ItemCounts): void {
    const { ready, leased, scheduled, retried } = counts;
    this.affectedItems = ready + leased + scheduled + retried;
  }

  get identity(): KeyIdentity | null {
    return this.#origin.identity ?? null;
  }

  get requestKey(): string | null {
    return this.#origin.requestKey;
  }

  /** How long to wait for a shard of another node; `null`: until the call's deadline. */
  get elsewhereMsMax(): number | null {
    return this.#origin.elsewhereMsMax ?? null;
  }

  /** Returns a copy of the caller with this bound on the wait for a shard of another node. */
  waitingElsewhere(elsewhereMsMax: number): Caller {
    return new Caller({ ...this.#origin, elsewhereMsMax });
  }

  /** Returns the JSON of a body: the original text if this is the body that the client sent. */
  jsonOf(body: unknown): string {
    const { sent } = this.#origin;
    const isSent = sent !== undefined && sent.body === body;
    return (isSent ? sent.text : null) ?? JSON.stringify(body);
  }

  /** Adds the idempotency key to an engine's request, if one was sent. */
  withKey<T extends Repeatable>(request: T): T {
    const { requestKey } = this;
    return requestKey === null ? request : { ...request, requestKey };
  }

  /** Returns the engine's outcome, and records whether it is a replay. */
  noteReplay<T extends Outcome>(outcome: T): T {
    this.isReplayed = outcome.replayed;
    return outcome;
  }
}

/** Throws errors that `reply.ts` maps to error replies. */
export type Route<Id extends OperationId> = (
  body: RequestOf<Id>,
  caller: Caller,
) => Promise<ResponseOf<Id> | JsonText>;

export type Routes<Ids extends OperationId = OperationId> = { readonly [Id in Ids]: Route<Id> };

/**
 * Decodes a request. If both the queue's name and another field are invalid, the name is refused.
 * `checkName` throws unless the operation accepts the name.
 */
export function decodeBody<T>(checkName: () => void, decode: () => T): T {
  try {
    const request = decode();
    if (!(request instanceof Promise)) return request;
    return request.catch((error) => checkNameFirst(checkName, error)) as T;
  } catch (error) {
    return checkNameFirst(checkName, error);
  }
}

function checkNameFirst(checkName: () => void, error: unknown): never {
  if (error instanceof QueueError) checkName();
  throw error;
}
