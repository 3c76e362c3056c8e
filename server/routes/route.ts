// What a route is: the operation's request in, its reply out.

import type { Engine } from "../../engine/api.ts";
import { QueueError } from "../../engine/errors.ts";
import type { OperationId, RequestOf, ResponseOf } from "../../openapi/operations.ts";
import { doneText } from "../reply.ts";

/** A reply that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The reply of an operation that has nothing to return. */
export const done = new JsonText(doneText);

/** The check of a request's queue, and of its partition if one is named. */
export function checkOf(engine: Engine<string>, body: { queue_name: string; partition?: number }) {
  return () => engine.requireQueue(body.queue_name, body.partition);
}

/** Its signal is aborted when it has hung up. */
export interface Caller {
  readonly signal: AbortSignal;
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
    return decode();
  } catch (error) {
    if (error instanceof QueueError) checkName();
    throw error;
  }
}
