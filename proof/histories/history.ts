// Records what the clients observed, outside the server: each call before it is sent, and its
// outcome. The history is in memory and in a file, which is kept if the run finds a fault. A call
// that was never answered stays unknown.

import type { FileSink } from "bun";

/** `empty`: no item in time. `refused`: an answer that guarantees that nothing changed. */
export type Outcome = "ok" | "empty" | "refused" | "unknown";

interface Timed {
  /** Before the first byte was sent; milliseconds of the harness's own clock. */
  readonly call: number;
  /** After the last byte of the answer, or when the connection was lost. */
  end: number;
  outcome: Outcome;
  status: number;
  /** The reason in the answer. */
  refusal?: string;
}

interface Call extends Timed {
  readonly client: string;
}

export interface ProduceCall extends Call {
  readonly verb: "produce";
  readonly queue: string;
  readonly numbers: readonly number[];
  /** Of all of its items; absent = 0. */
  readonly priority?: number;
  /** An output that reaches its partition after the answer, or may do so. */
  isDelayed?: boolean;
}

/** One item in one answer to a lease. */
export interface Offer {
  readonly number: number;
  readonly id: string;
  readonly attempts: number;
  /** Epoch milliseconds, from the server. */
  readonly leaseDeadline: number;
  /** Payload, kind, encoding and reference equal the produced ones. */
  readonly intact: boolean;
}

export interface LeaseCall extends Call {
  readonly verb: "lease";
  readonly queue: string;
  readonly batchSize: number;
  partition: number;
  offers: readonly Offer[];
  /** It was sent more than once, with the same key. */
  isRepeated?: boolean;
}

export interface CompleteCall extends Call {
  readonly verb: "complete";
  readonly partition: number;
  readonly ids: readonly string[];
}

export interface RetryCall extends Call {
  readonly verb: "retry";
  readonly partition: number;
  readonly ids: readonly string[];
  readonly dead: boolean;
}

export interface ExtendCall extends Call {
  readonly verb: "extend";
  readonly partition: number;
  readonly ids: readonly string[];
  /** Epoch milliseconds, from the server; 0 = none received. */
  leaseDeadline: number;
}

export interface ReleaseCall extends Call {
  readonly verb: "release";
  readonly partition: number;
  readonly ids: readonly string[];
}

export type SingleCall =
  | ProduceCall
  | LeaseCall
  | CompleteCall
  | RetryCall
  | ExtendCall
  | ReleaseCall;

export type WithoutCall<T> = T extends unknown ? Omit<T, keyof Call> : never;

/** One part of a transact: items that it finishes, or produces in one queue. */
export type Part = WithoutCall<ProduceCall | CompleteCall | RetryCall>;

export interface TransactCall extends Call {
  readonly verb: "transact";
  /** In the order of execution. */
  readonly parts: readonly Part[];
}

export type Entry = SingleCall | TransactCall;

/** The parts of a transact as separate calls, each with the answer to the whole. */
export function singleCalls(entry: Entry): SingleCall[] {
  if (entry.verb !== "transact") return [entry];
  const { parts, ...call } = entry;
  return parts.map((part) => ({ ...call, ...part }));
}

/** An item left after draining. */
export interface LeftItem {
  readonly number: number;
  readonly intact: boolean;
}

/**
 * From the 200 of the pause until the resume was sent, in milliseconds of the harness's own clock.
 */
export interface Pause {
  readonly queue: string;
  /** When it was sent. */
  readonly call: number;
  readonly from: number;
  readonly to: number;
}

/** A repeated call with a different answer. */
export interface Contradiction {
  readonly answers: string;
  /** When it was first sent, and when that was answered. */
  readonly call: number;
  readonly end: number;
}

/** Redrives of one item each from one queue to another, by repeated calls with keys. */
export interface Redrives {
  /** Items whose produce was answered 200, by their numbers. */
  readonly produced: readonly number[];
  /** The answers of the redrives. */
  readonly taskIds: readonly string[];
  /** Redrives without an answer. */
  readonly unknown: number;
  /** Items in the target queue once no task runs. */
  readonly waiting: readonly number[];
  readonly moved: readonly number[];
}

/** What the server holds after draining. */
export interface Ending {
  /** Items of the dead queue, in queue order. */
  readonly dead: readonly LeftItem[];
  /** Items still in the queue; none after a successful drain. */
  readonly left: readonly LeftItem[];
  /** Repeated calls of clients with keys; absent = no such clients. */
  readonly repeats?: { readonly count: number; readonly contradictions: readonly Contradiction[] };
  /** Absent = no queue was paused. */
  readonly pauses?: readonly Pause[];
  /** Absent = none. */
  readonly redrives?: Redrives;
}

/** The settings of the queue. */
export interface QueueRules {
  readonly leaseTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
  /**
   * Shards fail while the server keeps running: a lease whose grant was lost with its shard is
   * granted again. Absent = they do not fail.
   */
  readonly shardsFail?: true;
}

type Unanswered<T> = T extends Entry ? Omit<T, "call" | "end" | "outcome" | "status"> : never;

export class History {
  readonly entries: Entry[] = [];
  readonly #file: FileSink | null;
  #acknowledged = 0;
  #completed = 0;
  /** Items that a call removed, or may have removed. */
  #taken = 0;

  constructor(path?: string) {
    this.#file = path === undefined ? null : Bun.file(path).writer();
  }

  /** Items whose produce was answered 200. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Items with an acknowledged complete. */
  get completed(): number {
    return this.#completed;
  }

  /** Acknowledged items that are certainly still there; items of unknown calls are not counted. */
  get backlog(): number {
    return this.#acknowledged - this.#taken;
  }

  begin<T extends Unanswered<Entry>>(intent: T): T & Timed {
    const entry: T & Timed = { ...intent, ...unanswered() };
    this.entries.push(entry as Entry);
    this.#file?.write(`> ${this.entries.length} ${JSON.stringify(intent)}\n`);
    return entry;
  }

  /** `reply`: `null` = lost. */
  end(
    entry: Entry,
    outcome: Outcome,
    reply: { readonly status: number; readonly body?: unknown } | null,
  ): void {
    const { status, body } = reply ?? { status: 0 };
    entry.end = performance.now();
    entry.outcome = outcome;
    entry.status = status;
    if (status === 400 || status >= 500) entry.refusal = JSON.stringify(body);
    for (const call of singleCalls(entry)) this.#count(call);
    const result =
      entry.verb === "lease" ? entry.offers : entry.verb === "extend" ? entry.leaseDeadline : [];
    this.#file?.write(
      `< ${entry.client} ${entry.verb} ${outcome} ${status} ${JSON.stringify(result)}\n`,
    );
  }

  #count(call: SingleCall): void {
    const { outcome } = call;
    if (outcome === "ok" && call.verb === "produce") this.#acknowledged += call.numbers.length;
    if (outcome === "ok" && call.verb === "complete") this.#completed += call.ids.length;
    const takes = call.verb === "complete" || (call.verb === "retry" && call.dead);
    if (takes && outcome !== "refused") this.#taken += call.ids.length;
  }

  /** Records an event of the server, such as a kill. */
  note(what: string): void {
    this.#file?.write(`= ${performance.now()} ${what}\n`);
  }

  async close(): Promise<void> {
    await this.#file?.end();
  }
}

function unanswered(): Timed {
  return { call: performance.now(), end: Number.POSITIVE_INFINITY, outcome: "unknown", status: 0 };
}
