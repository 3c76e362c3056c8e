// The commands of the benchmark to the load generator, and their results.

import type { CallTimes } from "../report/statistics.ts";
import type { Delivered } from "./delivery.ts";

/** `produce` and `consume` one after the other, or `together` with half of the connections each. */
export type Phase = "produce" | "consume" | "together";

/** Items to pass through one queue, in calls of one size. */
export interface Work extends WorkSize {
  readonly queue: string;
  readonly connections: number;
}

/**
 * Items to pass through several queues, over connections whose server thread is known. Not for the
 * phase `together`.
 */
export interface ThreadedWork extends WorkSize {
  /** The server's process, on this machine. */
  readonly pid: number;
  /** The queues that a connection calls in turn. A thread without queues gets no connections. */
  readonly queues: ByThread<readonly string[]>;
  /** Connections to each thread that has queues. */
  readonly connections: number;
}

/** A value for the first thread of a process, and one for its other threads. */
export interface ByThread<T> {
  readonly first: T;
  readonly other: T;
}

interface WorkSize {
  /** A multiple of `itemsPerCall`. */
  readonly items: number;
  readonly itemsPerCall: number;
  /**
   * Items already in the queue, numbered from 0; produced items continue the numbering. Default 0.
   */
  readonly backlog?: number;
  /** Each produce has its own key. */
  readonly keyed?: true;
  /** Items have priorities: all ten in turn, the same for all items of a call. */
  readonly prioritized?: true;
  /** Items have this many groups in turn; 0 or absent = no groups. */
  readonly groups?: number;
  /** Leases take several items of a serial group that follow each other. */
  readonly groupRuns?: boolean;
}

export type Command =
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
  /** Processor time of the load generator during the phase. */
  readonly clientCpuSeconds: number;
  readonly produce: CallTimes;
  /** Calls that returned items; in `together`, they wait for them. */
  readonly lease: CallTimes;
  readonly complete: CallTimes;
  /** Everything delivered since `prepare`. */
  readonly delivered: Delivered;
}

export type CommandResult =
  | { readonly kind: "ready" }
  | { readonly kind: "prepared" }
  | { readonly kind: "ran"; readonly result: PhaseResult }
  | { readonly kind: "woken"; readonly times: CallTimes }
  | { readonly kind: "failed"; readonly message: string };
