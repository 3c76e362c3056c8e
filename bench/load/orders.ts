// The orders of the benchmark to the load generator, and its answers.

import type { CallTimes } from "../report/statistics.ts";
import type { Delivered } from "./delivery.ts";

/** `produce` and `consume` one after the other, or `together` with half of the connections each. */
export type Phase = "produce" | "consume" | "together";

/** Items that are to go through a queue in calls of one size. */
export interface Work extends WorkSize {
  readonly queue: string;
  readonly connections: number;
}

/**
 * Items that are to go through several queues, by connections of which the thread is known. Not in the
 * phase `together`.
 */
export interface ThreadedWork extends WorkSize {
  /** The server's process, on this machine. */
  readonly pid: number;
  /** Which queues a connection calls in turn. A thread without queues gets no connections. */
  readonly queues: ByThread<readonly string[]>;
  /** In each thread that has queues. */
  readonly connections: number;
}

/** In the thread that a process began with, and in its other threads. */
export interface ByThread<T> {
  readonly first: T;
  readonly other: T;
}

interface WorkSize {
  /** A multiple of `itemsPerCall`. */
  readonly items: number;
  readonly itemsPerCall: number;
  /** Items that are in the queue before, numbered from 0; those produced are numbered on. Default 0. */
  readonly backlog?: number;
  /** Each produce has a key of its own. */
  readonly keyed?: true;
}

/** The machine is idle before each wake-up. */
export const wakePauseMs = 4;

export type Order =
  | { readonly kind: "prepare"; readonly port: number; readonly work: Work | ThreadedWork }
  | { readonly kind: "run"; readonly phase: Phase }
  | {
      readonly kind: "wake";
      readonly port: number;
      readonly queue: string;
      readonly times: number;
    };

export interface PhaseResult {
  readonly seconds: number;
  /** Processor time of the load generator meanwhile. */
  readonly clientCpuSeconds: number;
  readonly produce: CallTimes;
  /** Calls that brought items; in `together` they wait for them. */
  readonly lease: CallTimes;
  readonly complete: CallTimes;
  /** Everything delivered since `prepare`. */
  readonly delivered: Delivered;
}

export type Answer =
  | { readonly kind: "ready" }
  | { readonly kind: "prepared" }
  | { readonly kind: "ran"; readonly result: PhaseResult }
  | { readonly kind: "woken"; readonly times: CallTimes }
  | { readonly kind: "failed"; readonly message: string };
