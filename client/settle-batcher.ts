// Batches completes, retries and releases per partition. They wait while a call of the partition is
// in flight, so the busier a worker, the more items share a call. Failed calls are repeated for as
// long as the leases run.

import { concernsItems, HoldfastError } from "./errors.ts";
import { formatError } from "./format-error.ts";
import { type Refusals, retryFields, withoutRefused } from "./lease.ts";
import { isTransient, loopAttemptsMax } from "./lease-poller.ts";
import { afterThisRound, defaultPace, pause, pauseMs } from "./repeat.ts";
import { steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface Settlement {
  readonly id: string;
  readonly partition: number;
  /** When the lease ends, in `steadyNow()` time; an extension postpones it. */
  readonly lapsesAt: () => number;
  readonly what:
    | { readonly kind: "complete" }
    | { readonly kind: "release" }
    | {
        readonly kind: "retry";
        /** A whole number of milliseconds; 0 = at once, `undefined` = as the queue says. */
        readonly delayMs: number | undefined;
        readonly dead: boolean;
        readonly reason: string;
      };
}

export interface SettleBatcherOptions {
  readonly transport: Transport;
  readonly queue: string;
  /** Aborted when waiting ends; outcomes not reported by then are dropped. */
  readonly giveUp: AbortSignal;
  /** Receives transient errors, after which the call is repeated. */
  readonly trouble: (error: HoldfastError) => void;
}

interface PendingSettlement extends Settlement {
  isSettled: boolean;
  readonly settle: (refusal: string | null) => void;
}

/** The contract's limit for one call. */
const settlementsMax = 1_000;

export class SettleBatcher {
  readonly #options: SettleBatcherOptions;
  readonly #lines = new Map<number, PendingSettlement[]>();
  #count = 0;

  constructor(options: SettleBatcherOptions) {
    this.#options = options;
  }

  /** Outcomes that are not reported yet. */
  get count(): number {
    return this.#count;
  }

  /** Resolves once the outcome is reported: `null`, or why it could not be. */
  async settle(settlement: Settlement): Promise<string | null> {
    const { id, partition, lapsesAt, what } = settlement;
    this.#count += 1;
    const settled = new Promise<string | null>((settle) => {
      const line = this.#lines.get(partition);
      const waiting: PendingSettlement = {
        ...{ id, partition, lapsesAt, what },
        isSettled: false,
        settle: (refusal) => {
          waiting.isSettled = true;
          settle(refusal);
        },
      };
      if (line !== undefined) {
        line.push(waiting);
      } else {
        this.#lines.set(partition, [waiting]);
        // Items that end in the same round of events share the call.
        afterThisRound(() => void this.#drain(partition));
      }
    });
    const refusal = await settled;
    this.#count -= 1;
    return refusal;
  }

  /** Makes one call at a time. The line exists as long as this runs. */
  async #drain(partition: number): Promise<void> {
    const line = this.#lines.get(partition) ?? [];
    let troubles = 0;
    while (line.length > 0) {
      const kind = line[0]?.what.kind;
      const batch = line.filter(({ what }) => what.kind === kind).slice(0, settlementsMax);
      const trouble = await this.#report(partition, batch);
      if (trouble === null) troubles = 0;
      else {
        troubles += 1;
        this.#options.trouble(trouble);
        const { giveUp, transport } = this.#options;
        await pause(pauseMs(troubles, defaultPace, transport.random), giveUp);
        const now = steadyNow();
        for (const { isSettled, lapsesAt, settle } of batch) {
          if (isSettled || !(giveUp.aborted || lapsesAt() <= now)) continue;
          settle(`the outcome could not be reported in time; ${trouble.message}`);
        }
      }
      line.splice(0, line.length, ...line.filter(({ isSettled }) => !isSettled));
    }
    this.#lines.delete(partition);
  }

  /** Reports a batch; `null` = all of it is settled. */
  async #report(
    partition: number,
    batch: readonly PendingSettlement[],
  ): Promise<HoldfastError | null> {
    const { transport, queue, giveUp } = this.#options;
    const send = async (rest: readonly PendingSettlement[]): Promise<void> => {
      const leftMs = Math.max(...rest.map(({ lapsesAt }) => lapsesAt())) - steadyNow();
      const timeoutMs = Math.min(60_000, Math.max(1_000, leftMs));
      const options = { signal: giveUp, timeoutMs, attemptsMax: loopAttemptsMax };
      const target = { queue_name: queue, partition };
      const items = rest.flatMap(({ id, what }) =>
        what.kind === "retry" ? [{ id, ...retryFields(what) }] : [],
      );
      const ids = rest.map(({ id }) => id);
      if (items.length > 0) await transport.call("retry", { ...target, items }, options);
      else if (rest[0]?.what.kind === "release")
        await transport.call("release", { ...target, ids }, options);
      else await transport.call("complete", { ...target, ids }, options);
    };
    let refusals: Refusals = {};
    try {
      refusals = await withoutRefused(batch, send);
    } catch (error) {
      if (error instanceof HoldfastError && isTransient(error)) return error;
      // One item, or the size of the batch, may be the cause, so the halves are sent separately.
      if (batch.length > 1 && concernsItems(error)) {
        const middle = Math.ceil(batch.length / 2);
        const trouble = await this.#report(partition, batch.slice(0, middle));
        return trouble ?? (await this.#report(partition, batch.slice(middle)));
      }
      const reason = formatError(error);
      refusals = Object.fromEntries(batch.map(({ id }) => [id, reason]));
    }
    for (const { id, settle } of batch) settle(refusals[id] ?? null);
    return null;
  }
}
