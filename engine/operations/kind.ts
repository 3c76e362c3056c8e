// What a kind of request is: all that the engine and a shard have to know of it. `kinds.ts`
// lists them, and each stands in the file that says what it does.

import type { Backend } from "../../stores/backend.ts";
import type { CallKey } from "../model/call-key.ts";
import type { Failure } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import type { Value } from "../model/messages.ts";
import type { Asking, Turn } from "../turn/turn-context.ts";

/** `op` numbers rise with each request that a turn takes. */
export type Numbered<R> = R & { readonly op: number };

/** `replayed`: the answer of an earlier request with the same key. */
export type Result =
  | { readonly ok: true; readonly value: Value; readonly replayed?: true }
  | Failure;

/**
 * When a turn decides it, of all requests that came along. `before` anything changes: the store
 * says what memory says. `within`: in the order of `kinds.ts`. `after` all else. `beside`: not at
 * all; its `errand` is run once the turn is committed.
 */
export type Phase = "before" | "within" | "after" | "beside";

/** How a request that came with a key is answered when it comes again. */
export interface Keyed<R> {
  /** `values`: what the draft noted when it was decided. */
  readonly answer: (turn: Turn, request: Numbered<R>, values: readonly number[]) => Result;
}

export interface Kind<R extends { readonly kind: string; readonly key?: CallKey }> {
  readonly phase: Phase;
  /** Roughly the items that it makes a turn touch; 1 where nothing is said. */
  readonly weight?: (request: R) => number;
  /** It can only add to the store, so a store that was full lately refuses it at once. */
  readonly adds?: (request: R) => boolean;
  /** Absent: it has no key. */
  readonly keyed?: Keyed<R>;
  /** Says what the decision has to know. */
  readonly wants?: (asking: Asking, requests: readonly Numbered<R>[]) => void;
  /** Decides all of a turn, which came in this order. */
  readonly decide: (turn: Turn, requests: readonly Numbered<R>[]) => void;
  readonly errand?: (backend: Backend, request: R) => Promise<Result>;
}

/** Of payloads that may be read. */
export function bytesWeight(bytes: number): number {
  return Math.ceil(bytes / limits.weightBytes);
}

export const done: Result = { ok: true, value: { kind: "done" } };

/** Of a request whose answer says no more than that it was done. */
export const doneOnce: Keyed<unknown> = { answer: () => done };

/** Decides requests one by one, each of which is answered with what its decision returns. */
export function answering<R>(decideOne: (turn: Turn, request: Numbered<R>) => Result) {
  return (turn: Turn, requests: readonly Numbered<R>[]): void => {
    for (const request of requests) turn.draft.answer(request.op, decideOne(turn, request));
  };
}

/** Nothing to decide. */
export const undecided = (): void => undefined;
