// What the clients saw, kept outside of the server: an entry before each call,
// and how the call ended, in memory and in a file that outlives the run if it
// finds a fault. A call that was never answered stays unknown.

import type { FileSink } from "bun";

/** `empty`: nothing came in time. `refused`: a definite answer that nothing changed. */
export type Outcome = "ok" | "empty" | "refused" | "unknown";

interface Timed {
  /** Before the first byte was sent; milliseconds of the harness's own clock. */
  readonly call: number;
  /** After the last byte of the answer; of an unknown one, when the connection was lost. */
  end: number;
  outcome: Outcome;
  status: number;
  /** What a refusal says. */
  refusal?: string;
}

interface Call extends Timed {
  readonly client: string;
}

export interface ProduceCall extends Call {
  readonly verb: "produce";
  readonly queue: string;
  readonly numbers: readonly number[];
  /** An output that comes to its partition after the answer, or may do so. */
  isDelayed?: boolean;
}

/** One item in one answer to a lease. */
export interface Offer {
  readonly number: number;
  readonly id: string;
  readonly attempts: number;
  /** Epoch milliseconds, as the server says. */
  readonly leaseDeadline: number;
  /** Payload, kind, encoding and reference are those that were produced. */
  readonly intact: boolean;
}

export interface LeaseCall extends Call {
  readonly verb: "lease";
  readonly queue: string;
  readonly batchSize: number;
  partition: number;
  offers: readonly Offer[];
  /** It was sent more than once, with its key. */
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
  /** Epoch milliseconds, as the server says; 0 = it has said nothing. */
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

/** What a transact finishes, or produces in one queue. */
export type Part = WithoutCall<ProduceCall | CompleteCall | RetryCall>;

export interface TransactCall extends Call {
  readonly verb: "transact";
  /** In the order in which they are done. */
  readonly parts: readonly Part[];
}

export type Entry = SingleCall | TransactCall;

/** What is done together or not at all, each with the answer to the whole. */
export function singleCalls(entry: Entry): SingleCall[] {
  if (entry.verb !== "transact") return [entry];
  const { parts, ...call } = entry;
  return parts.map((part) => ({ ...call, ...part }));
}

/** An item that is left when all is drained. */
export interface LeftItem {
  readonly number: number;
  readonly intact: boolean;
}

/** After its 200 and before it was asked to end; milliseconds of the harness's own clock. */
export interface Pause {
  readonly queue: string;
  /** When it was asked for. */
  readonly call: number;
  readonly from: number;
  readonly to: number;
}

/** A call that was sent again, and answered otherwise. */
export interface Contradiction {
  readonly told: string;
  /** When it was first sent, and when that was answered. */
  readonly call: number;
  readonly end: number;
}

/** One item each was to go from one queue to another, by calls with keys that were sent again. */
export interface Redrives {
  /** Items whose produce was answered 200, by their numbers. */
  readonly produced: readonly number[];
  /** As each redrive was answered. */
  readonly taskIds: readonly string[];
  /** Redrives of which nobody heard. */
  readonly unknown: number;
  /** Where the items are once no task runs any more. */
  readonly waiting: readonly number[];
  readonly moved: readonly number[];
}

/** What the server holds after everything was drained. */
export interface Ending {
  /** Items of the dead queue, in its order. */
  readonly dead: readonly LeftItem[];
  /** Items that are still in the queue; none, when it was drained. */
  readonly left: readonly LeftItem[];
  /** Of clients with keys; absent = there were none. */
  readonly repeats?: { readonly count: number; readonly contradictions: readonly Contradiction[] };
  /** Absent = nobody paused a queue. */
  readonly pauses?: readonly Pause[];
  /** Absent = there were none. */
  readonly redrives?: Redrives;
}

/** What the queue was created with. */
export interface QueueRules {
  readonly leaseTimeoutMs: number;
  /** 0 = no limit. */
  readonly maxAttempts: number;
  /**
   * Shards fail while the server goes on: what a lease was granted before nobody was told, and the
   * same lease is granted anew. Absent = they do not.
   */
  readonly shardsFail?: true;
}

type Unanswered<T> = T extends Entry ? Omit<T, "call" | "end" | "outcome" | "status"> : never;

export class History {
  readonly entries: Entry[] = [];
  readonly #file: FileSink | null;
  #acknowledged = 0;
  #completed = 0;
  /** Items that a call has taken out, or may have. */
  #taken = 0;

  constructor(path?: string) {
    this.#file = path === undefined ? null : Bun.file(path).writer();
  }

  /** Items whose produce was answered 200. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Items whose complete was answered 200. */
  get completed(): number {
    return this.#completed;
  }

  /** Acknowledged items that are still there for certain; those of unknown calls are not. */
  get backlog(): number {
    return this.#acknowledged - this.#taken;
  }

  begin<T extends Unanswered<Entry>>(intent: T): T & Timed {
    const entry: T & Timed = { ...intent, ...unanswered() };
    this.entries.push(entry as Entry);
    this.#file?.write(`> ${this.entries.length} ${JSON.stringify(intent)}\n`);
    return entry;
  }

  /** `reply`: `null` = it was lost. */
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
    const told =
      entry.verb === "lease" ? entry.offers : entry.verb === "extend" ? entry.leaseDeadline : [];
    this.#file?.write(
      `< ${entry.client} ${entry.verb} ${outcome} ${status} ${JSON.stringify(told)}\n`,
    );
  }

  #count(call: SingleCall): void {
    const { outcome } = call;
    if (outcome === "ok" && call.verb === "produce") this.#acknowledged += call.numbers.length;
    if (outcome === "ok" && call.verb === "complete") this.#completed += call.ids.length;
    const takes = call.verb === "complete" || (call.verb === "retry" && call.dead);
    if (takes && outcome !== "refused") this.#taken += call.ids.length;
  }

  /** Notes what happened to the server. */
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
