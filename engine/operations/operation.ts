// The interface of an operation: all that the engine and a shard need to know about it.
// `operations.ts` lists them; each has its own file.

import type { Backend } from "../../stores/backend.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import { done, type Result } from "../model/messages.ts";
import type { ReadPlanner, Turn } from "../turn/turn-context.ts";

/** `op` rises with each request that a turn takes. */
export type Numbered<R> = R & { readonly op: number };

/**
 * When a turn decides a request, relative to its other requests. `before`: while nothing has
 * changed, so store and memory agree. `within`: in the order of `operations.ts`. `after`: last.
 * `beside`: never; its `errand` runs after the turn is committed.
 */
export type Phase = "before" | "within" | "after" | "beside";

/** How a repeated request with an idempotency key is answered. */
export interface Keyed<R> {
  /** `values`: what the change set recorded when the request was first decided. */
  readonly answer: (turn: Turn, request: Numbered<R>, values: readonly number[]) => Result;
}

export interface Operation<R extends { readonly kind: string; readonly key?: IdempotencyKey }> {
  readonly phase: Phase;
  /** Roughly the number of items that it makes a turn touch; by default 1. */
  readonly weight?: (request: R) => number;
  /** The request only adds to the store, so it is refused if the store was recently full. */
  readonly adds?: (request: R) => boolean;
  /** Absent if the request takes no idempotency key. */
  readonly keyed?: Keyed<R>;
  /** Adds the reads that the decision needs. */
  readonly planReads?: (planner: ReadPlanner, requests: readonly Numbered<R>[]) => void;
  /** Decides all its requests in a turn, in order of arrival. */
  readonly decide: (turn: Turn, requests: readonly Numbered<R>[]) => void;
  readonly errand?: (backend: Backend, request: R) => Promise<Result>;
}

/** The weight of reading up to `bytes` of payloads. */
export function bytesWeight(bytes: number): number {
  return Math.ceil(bytes / limits.weightBytes);
}

/** For requests whose answer contains nothing. */
export const doneOnce: Keyed<unknown> = { answer: () => done };

/** Decides requests one by one, and answers each with the result of its decision. */
export function answering<R>(decideOne: (turn: Turn, request: Numbered<R>) => Result) {
  return (turn: Turn, requests: readonly Numbered<R>[]): void => {
    for (const request of requests) turn.changeSet.answer(request.op, decideOne(turn, request));
  };
}

export const undecided = (): void => undefined;
