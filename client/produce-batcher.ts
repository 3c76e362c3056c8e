// Batches produces to one queue. Produces that arrive while a call is in flight share the next one:
// the busier a program, the more items share a call. Otherwise a produce is sent at the end of the
// same round of events, together with all others of that round.
//
// Each caller gets the same outcome as alone. Its items stay together. A refusal that may be due to
// another caller's items is retried alone. A caller that gives up before the call is sent is left
// out.

import { bounds } from "../openapi/bounds.ts";
import type { Answered, Encode } from "./call.ts";
import { concernsItems, NotInTime } from "./errors.ts";
import { afterThisRound } from "./repeat.ts";
import { startTimer, steadyNow } from "./time.ts";
import type { ReplyFor, RequestFor } from "./wire.ts";

type Produce = RequestFor<"produce">;
type Answer = Answered<ReplyFor<"produce">>;

/** Sends an encoded produce, and repeats it if that is safe. */
type Exchange = (
  encode: Encode,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<Answer>;

/** Maximum JSON of a call, well under the server's default limit. */
const callBytesMax = 4_000_000;
/** A slower call does not delay the next: it may hang while others would not. */
const patienceMsMax = 1_000;
/** Concurrent calls of one queue, so that a queue that hangs leaves connections to others. */
const callsMax = 8;

/** The items of one caller; never split over several calls. */
interface Part {
  /** Its items as JSON, separated by commas. */
  readonly text: string;
  readonly count: number;
  readonly bytes: number;
  readonly endsAt: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  /** The listener of the signal. */
  leave: (() => void) | null;
  /** The call that it is part of; `null` = it is waiting. */
  call: BatchCall | null;
  /** Its caller has given up. */
  isOver: boolean;
}

interface BatchCall {
  readonly parts: readonly Part[];
  /** Aborted when all callers have given up. */
  readonly ending: AbortController;
}

interface Ends {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export class ProduceBatcher {
  readonly #exchange: Exchange;
  readonly #pending = new Map<string, PendingProduces>();
  /** Decreases if a proxy has a smaller limit. */
  readonly #size = { bytesMax: callBytesMax };

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Whether it may share a call: not with other fields, and not if sure to be refused. */
  takes(request: Produce, timeoutMs: number): boolean {
    const { queue_name, items, return_ids = false, ...others } = request;
    if (typeof queue_name !== "string" || !Array.isArray(items)) return false;
    const { produceItemsMin, produceItemsMax, requestTimeoutMsMin, requestTimeoutMsMax } = bounds;
    return (
      items.length >= produceItemsMin &&
      items.length <= produceItemsMax &&
      timeoutMs >= requestTimeoutMsMin &&
      timeoutMs <= requestTimeoutMsMax &&
      typeof return_ids === "boolean" &&
      Object.keys(others).length === 0
    );
  }

  produce(
    { items, queue_name, return_ids }: Produce,
    { timeoutMs, signal }: Ends,
  ): Promise<Answer> {
    const returnsIds = return_ids === true;
    // Parts of a call end at nearly the same time, so no caller's timeout applies to another.
    const name = `${timeoutMs} ${returnsIds} ${queue_name}`;
    let pending = this.#pending.get(name);
    if (pending === undefined) {
      const forget = (): void => void this.#pending.delete(name);
      const fields = returnsIds ? { queue_name, return_ids } : { queue_name };
      const size = this.#size;
      pending = new PendingProduces({ exchange: this.#exchange, fields, timeoutMs, size, forget });
      this.#pending.set(name, pending);
    }
    return pending.join(items, signal);
  }
}

interface PendingProducesOptions {
  readonly exchange: Exchange;
  /** The fields of each call besides the items. */
  readonly fields: Omit<Produce, "items">;
  readonly timeoutMs: number;
  readonly size: { bytesMax: number };
  /** Called when no part is waiting and no call is in flight. */
  readonly forget: () => void;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  // Most texts are ASCII, and checking that is faster than encoding.
  return /[^\0-\x7f]/.test(text) ? encoder.encode(text).length : text.length;
}

/** The part's own ids, and its own duplicates by index within the part. */
function answerFor(
  answer: Answer,
  { from, before }: { readonly from: number; readonly before: number },
): Answer {
  const { duplicates = [], ids, ...reply } = answer.reply;
  const own = duplicates.filter((place) => place >= from && place < before);
  return {
    ...answer,
    reply: {
      ...reply,
      ...(own.length > 0 && { duplicates: own.map((place) => place - from) }),
      ...(ids && { ids: ids.slice(from, before) }),
    },
  };
}

function forgetSignal({ signal, leave }: Part): void {
  if (leave !== null) signal?.removeEventListener("abort", leave);
}

/** Produces of one queue with the same timeout and the same `return_ids`. */
class PendingProduces {
  readonly #options: PendingProducesOptions;
  #waiting: Part[] = [];
  /** Parts of refused calls, to be sent one by one. */
  #alone: Part[] = [];
  /** Items of waiting parts whose callers have not given up. */
  #count = 0;
  #bytes = 0;
  readonly #inFlight = new Set<BatchCall>();
  /** Calls in flight that have taken too long to delay the next call. */
  readonly #stalled = new Set<BatchCall>();
  #isWoken = false;

  constructor(options: PendingProducesOptions) {
    this.#options = options;
  }

  join(items: Produce["items"], signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const text = JSON.stringify(items).slice(1, -1);
      // No spread: it would take half of a produce's time here.
      const part: Part = {
        text,
        count: items.length,
        bytes: bytesOf(text) + 1,
        endsAt: steadyNow() + this.#options.timeoutMs,
        resolve,
        reject,
        signal,
        leave: null,
        call: null,
        isOver: false,
      };
      if (signal !== undefined) {
        part.leave = () => this.#leave(part);
        signal.addEventListener("abort", part.leave);
      }
      this.#waiting.push(part);
      this.#count += part.count;
      this.#bytes += part.bytes;
      this.#wake();
    });
  }

  #leave(part: Part): void {
    const reason: unknown = part.signal?.reason;
    part.isOver = true;
    part.reject(reason);
    if (part.call === null) {
      this.#count -= part.count;
      this.#bytes -= part.bytes;
    } else if (part.call.parts.every(({ isOver }) => isOver)) part.call.ending.abort(reason);
  }

  /** Waits for other produces in the same round of events. */
  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    afterThisRound(() => {
      this.#isWoken = false;
      this.#advance();
    });
  }

  #advance(): void {
    const { size, forget } = this.#options;
    this.#alone = this.#alone.filter(({ isOver }) => !isOver);
    for (const part of this.#alone.splice(0, callsMax - this.#inFlight.size))
      void this.#send([part]);
    while (this.#count > 0 && this.#inFlight.size < callsMax) {
      const isFull = this.#count >= bounds.produceItemsMax || this.#bytes >= size.bytesMax;
      if (this.#inFlight.size > this.#stalled.size && !isFull) return;
      void this.#send(this.#next());
    }
    // If no call is in flight, `#alone` is empty.
    if (this.#count === 0 && this.#inFlight.size === 0) forget();
  }

  /** Takes as many parts from the head as fit into one call. */
  #next(): Part[] {
    const parts: Part[] = [];
    let count = 0;
    let bytes = 0;
    let end = 0;
    for (const part of this.#waiting) {
      if (!part.isOver) {
        count += part.count;
        bytes += part.bytes;
        const isTooMuch = count > bounds.produceItemsMax || bytes > this.#options.size.bytesMax;
        if (isTooMuch && parts.length > 0) break;
        parts.push(part);
        this.#count -= part.count;
        this.#bytes -= part.bytes;
      }
      end += 1;
    }
    this.#waiting = this.#waiting.slice(end);
    return parts;
  }

  async #send(parts: readonly Part[]): Promise<void> {
    const call: BatchCall = { parts, ending: new AbortController() };
    for (const part of parts) part.call = call;
    this.#inFlight.add(call);
    const patienceMs = Math.min(patienceMsMax, this.#options.timeoutMs / 4);
    const cancel = startTimer(patienceMs, () => {
      this.#stalled.add(call);
      this.#advance();
    });
    try {
      const { answer, sent } = await this.#exchange(call);
      let from = 0;
      for (const part of sent) {
        forgetSignal(part);
        part.resolve(answerFor(answer, { from, before: from + part.count }));
        from += part.count;
      }
    } catch (error) {
      this.#refuse(parts, error);
    } finally {
      cancel();
      this.#inFlight.delete(call);
      this.#stalled.delete(call);
      this.#wake();
    }
  }

  /** Returns the answer and the parts that were sent, without callers that gave up before. */
  async #exchange({
    parts,
    ending,
  }: BatchCall): Promise<{ answer: Answer; sent: readonly Part[] }> {
    const { exchange, fields, timeoutMs } = this.#options;
    // The first part has waited longest.
    const leftMs = Math.min(timeoutMs, (parts[0]?.endsAt ?? 0) - steadyNow());
    if (leftMs <= 0) {
      const message = `no call was free in time; expected one within ${timeoutMs} ms`;
      throw new NotInTime({ operation: "produce", status: null, message });
    }
    let sent = parts;
    const encode: Encode = (timed, isSame) => {
      if (!isSame) sent = sent.filter(({ isOver }) => !isOver);
      const start = JSON.stringify({ ...fields, ...timed }).slice(0, -1);
      return `${start},"items":[${sent.map(({ text }) => text).join(",")}]}`;
    };
    const answer = await exchange(encode, { timeoutMs: leftMs, signal: ending.signal });
    return { answer, sent };
  }

  #refuse(parts: readonly Part[], error: unknown): void {
    const left = parts.filter(({ isOver }) => !isOver);
    if (parts.length === 1 || !concernsItems(error)) {
      for (const part of left) {
        forgetSignal(part);
        part.reject(error);
      }
      return;
    }
    if (error.status === 413) {
      const sentBytes = parts.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#options.size.bytesMax = Math.min(this.#options.size.bytesMax, sentBytes / 2);
    }
    this.#alone.push(...left);
  }
}
