// What a route is: the operation's request in, its reply out.

import { QueueError } from "../../engine/errors.ts";
import type { OperationId, RequestOf, ResponseOf } from "../../openapi/operations.ts";

/** A reply that is JSON text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
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

export interface Decoding<T> {
  /** Throws unless the name of the queue is good enough for the operation. */
  readonly checkName: () => void;
  readonly decode: () => T;
}

/** Decodes. Where the name is at fault as well as what is decoded, the name is what is refused. */
export function decoded<T>({ checkName, decode }: Decoding<T>): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof QueueError) checkName();
    throw error;
  }
}
