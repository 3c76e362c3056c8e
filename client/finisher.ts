// Says of items what became of them: completes, retries and releases are gathered per partition while
// the ones before are on their way, so the busier a worker, the more share a call. Trouble
// is waited out for as long as the leases run.

import { HoldfastError, InvalidRequest } from "./errors.ts";
import { type Refusals, retryFields, withoutRefused } from "./lease.ts";
import { loopAttemptsMax, passes } from "./poll.ts";
import { afterThisRound, type Pace, pause, pauseMs } from "./repeat.ts";
import { shown } from "./shown.ts";
import { steadyNow } from "./time.ts";
import type { Transport } from "./transport.ts";

export interface Ending {
  readonly id: string;
  readonly partition: number;
  /** After it there is nothing left to say, as `steadyNow()` has it; later once it is extended. */
  readonly lapsesAt: () => number;
  readonly what:
    | { readonly kind: "complete" }
    | { readonly kind: "release" }
    | {
        readonly kind: "retry";
        /** Whole; 0 = at once. */
        readonly delayMs: number;
        readonly dead: boolean;
        readonly reason: string;
      };
}

export interface FinisherOptions {
  readonly transport: Transport;
  readonly queue: string;
  /** Aborted when waiting is over; what is not said by then stays unsaid. */
  readonly giveUp: AbortSignal;
  /** Told of what is waited out. */
  readonly trouble: (error: HoldfastError) => void;
}

interface Waiting extends Ending {
  isSettled: boolean;
  readonly settle: (refusal: string | null) => void;
}

/** The contract's bound on one call. */
const endingsMax = 1_000;
const pace: Pace = { baseMs: 100, capMs: 5_000 };

export class Finisher {
  readonly #options: FinisherOptions;
  readonly #lines = new Map<number, Waiting[]>();
  #count = 0;

  constructor(options: FinisherOptions) {
    this.#options = options;
  }

  /** Endings that are not said yet. */
  get count(): number {
    return this.#count;
  }

  /** Resolves once it is said: `null`, or why it could not be. */
  async finish(ending: Ending): Promise<string | null> {
    const { id, partition, lapsesAt, what } = ending;
    this.#count += 1;
    const settled = new Promise<string | null>((settle) => {
      const line = this.#lines.get(partition);
      const waiting: Waiting = {
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
        // What ends in the same round goes along.
        afterThisRound(() => void this.#drain(partition));
      }
    });
    const refusal = await settled;
    this.#count -= 1;
    return refusal;
  }

  /** One call at a time; the line is there as long as this runs. */
  async #drain(partition: number): Promise<void> {
    const line = this.#lines.get(partition) ?? [];
    let troubles = 0;
    while (line.length > 0) {
      const kind = line[0]?.what.kind;
      const batch = line.filter(({ what }) => what.kind === kind).slice(0, endingsMax);
      const trouble = await this.#say(partition, batch);
      if (trouble === null) troubles = 0;
      else {
        troubles += 1;
        this.#options.trouble(trouble);
        const { giveUp, transport } = this.#options;
        await pause(pauseMs(troubles, pace, transport.random), giveUp);
        const now = steadyNow();
        for (const { isSettled, lapsesAt, settle } of batch) {
          if (isSettled || !(giveUp.aborted || lapsesAt() <= now)) continue;
          settle(`it could not be said in time; ${trouble.message}`);
        }
      }
      line.splice(0, line.length, ...line.filter(({ isSettled }) => !isSettled));
    }
    this.#lines.delete(partition);
  }

  /** `null` = every one of them is settled. */
  async #say(partition: number, batch: readonly Waiting[]): Promise<HoldfastError | null> {
    const { transport, queue, giveUp } = this.#options;
    const send = async (rest: readonly Waiting[]): Promise<void> => {
      const leftMs = Math.max(...rest.map(({ lapsesAt }) => lapsesAt())) - steadyNow();
      const timeoutMs = Math.min(60_000, Math.max(1_000, leftMs));
      const options = { signal: giveUp, timeoutMs, attemptsMax: loopAttemptsMax };
      const of = { queue_name: queue, partition };
      const items = rest.flatMap(({ id, what }) =>
        what.kind === "retry" ? [{ id, ...retryFields(what) }] : [],
      );
      const ids = rest.map(({ id }) => id);
      if (items.length > 0) await transport.call("retry", { ...of, items }, options);
      else if (rest[0]?.what.kind === "release")
        await transport.call("release", { ...of, ids }, options);
      else await transport.call("complete", { ...of, ids }, options);
    };
    let refusals: Refusals = {};
    try {
      refusals = await withoutRefused(batch, send);
    } catch (error) {
      if (error instanceof HoldfastError && passes(error)) return error;
      // Whatever is wrong with one of them, or with their size, is not the others' fault.
      if (batch.length > 1 && isOfItems(error)) {
        const middle = Math.ceil(batch.length / 2);
        const trouble = await this.#say(partition, batch.slice(0, middle));
        return trouble ?? (await this.#say(partition, batch.slice(middle)));
      }
      const reason = shown(error);
      refusals = Object.fromEntries(batch.map(({ id }) => [id, reason]));
    }
    for (const { id, settle } of batch) settle(refusals[id] ?? null);
    return null;
  }
}

const ofWhole = ["no_such_queue", "no_such_partition"];

/** Whether a call may be refused for some of its items, so that others would be taken. */
function isOfItems(error: unknown): boolean {
  return (
    error instanceof InvalidRequest &&
    [400, 413].includes(error.status ?? 0) &&
    !ofWhole.includes(error.reason ?? "")
  );
}
