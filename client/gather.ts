// Produces of one queue that come while a call is under way wait for it, and go together in the
// next one: the busier a program, the more items share a call. Nothing waits for company: what
// comes while no call is under way goes at once, with all that comes in the same round of events.
//
// Each caller's outcome is what it would be alone: its items stay together, a refusal that may be
// due to another's items is asked for again alone, and who gives up before it is sent is left out.

import { bounds } from "../openapi/bounds.ts";
import { InvalidRequest, NotInTime } from "./errors.ts";
import { afterThisRound } from "./repeat.ts";
import { startTimer, steadyNow } from "./time.ts";
import type { Answered, Encode } from "./transport.ts";
import type { ReplyFor, RequestFor } from "./wire.ts";

type Produce = RequestFor<"produce">;
type Answer = Answered<ReplyFor<"produce">>;

/** Sends a produce that is encoded already, and repeats it where that is right. */
type Exchange = (
  encode: Encode,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<Answer>;

/** JSON of a call, well under what the server takes by default. */
const callBytesMax = 4_000_000;
/** A call that takes longer is not waited for: it may hang while others would not. */
const patienceMsMax = 1_000;
/** Of one line, so that a queue that hangs leaves connections to the others. */
const callsMax = 8;

/** What one caller wants produced; never split over calls. */
interface Part {
  /** Its items as JSON, with commas between them. */
  readonly text: string;
  readonly count: number;
  readonly bytes: number;
  readonly endsAt: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  /** What hears of the signal. */
  leave: (() => void) | null;
  /** The call that it is in; `null` = it waits. */
  call: Call | null;
  /** Its caller has gone. */
  isOver: boolean;
}

interface Call {
  readonly parts: readonly Part[];
  /** Aborted when nobody is left who wants to know. */
  readonly ending: AbortController;
}

interface Ends {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export class Gatherer {
  readonly #exchange: Exchange;
  readonly #lines = new Map<string, Line>();
  /** Shrinks where a proxy on the way takes less. */
  readonly #size = { bytesMax: callBytesMax };

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Whether it can share a call: what the server is sure to refuse, or has other keys, goes alone. */
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
    // Parts of a call end at nearly the same time, so that no time is another's.
    const name = `${timeoutMs} ${returnsIds} ${queue_name}`;
    let line = this.#lines.get(name);
    if (line === undefined) {
      const forget = (): void => void this.#lines.delete(name);
      const said = returnsIds ? { queue_name, return_ids } : { queue_name };
      const size = this.#size;
      line = new Line({ exchange: this.#exchange, said, timeoutMs, size, forget });
      this.#lines.set(name, line);
    }
    return line.join(items, signal);
  }
}

interface LineOptions {
  readonly exchange: Exchange;
  /** What each call says beside its items. */
  readonly said: Omit<Produce, "items">;
  readonly timeoutMs: number;
  readonly size: { bytesMax: number };
  /** Called when nothing waits and nothing is under way. */
  readonly forget: () => void;
}

const encoder = new TextEncoder();

function bytesOf(text: string): number {
  // Most texts are ASCII, and looking is faster than encoding.
  return /[^\0-\x7f]/.test(text) ? encoder.encode(text).length : text.length;
}

/** A part's own ids, and its own duplicates by its own places. */
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

/** Produces of one queue with one timeout, which all want their ids or none. */
class Line {
  readonly #options: LineOptions;
  #waiting: Part[] = [];
  /** Of calls that were refused, for each to be sent by itself. */
  #alone: Part[] = [];
  /** Of those that wait and have not gone. */
  #count = 0;
  #bytes = 0;
  /** Calls under way, and those of them that are waited for. */
  #calls = 0;
  #young = 0;
  #isWoken = false;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  join(items: Produce["items"], signal: AbortSignal | undefined): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const text = JSON.stringify(items).slice(1, -1);
      // Without a spread: it would be half of what a produce costs here.
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

  /** What is produced in the same round of events goes along. */
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
    for (const part of this.#alone.splice(0, callsMax - this.#calls)) void this.#send([part]);
    while (this.#count > 0 && this.#calls < callsMax) {
      const isFull = this.#count >= bounds.produceItemsMax || this.#bytes >= size.bytesMax;
      if (this.#young > 0 && !isFull) return;
      void this.#send(this.#next());
    }
    // Where none is under way, none waits to be sent alone.
    if (this.#count === 0 && this.#calls === 0) forget();
  }

  /** As many from the head as one call takes. */
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
    const call: Call = { parts, ending: new AbortController() };
    for (const part of parts) part.call = call;
    this.#calls += 1;
    this.#young += 1;
    let isYoung = true;
    const age = (): void => {
      if (isYoung) this.#young -= 1;
      isYoung = false;
    };
    const patienceMs = Math.min(patienceMsMax, this.#options.timeoutMs / 4);
    const cancel = startTimer(patienceMs, () => {
      age();
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
      age();
      this.#calls -= 1;
      this.#wake();
    }
  }

  /** With the parts that the call had: who had gone before it was sent is left out. */
  async #exchange({ parts, ending }: Call): Promise<{ answer: Answer; sent: readonly Part[] }> {
    const { exchange, said, timeoutMs } = this.#options;
    // The head has waited longest.
    const leftMs = Math.min(timeoutMs, (parts[0]?.endsAt ?? 0) - steadyNow());
    if (leftMs <= 0) {
      const message = `no call was free in time; expected one within ${timeoutMs} ms`;
      throw new NotInTime({ operation: "produce", status: null, message });
    }
    let sent = parts;
    const encode: Encode = (timed, isSame) => {
      if (!isSame) sent = sent.filter(({ isOver }) => !isOver);
      const start = JSON.stringify({ ...said, ...timed }).slice(0, -1);
      return `${start},"items":[${sent.map(({ text }) => text).join(",")}]}`;
    };
    const answer = await exchange(encode, { timeoutMs: leftMs, signal: ending.signal });
    return { answer, sent };
  }

  #refuse(parts: readonly Part[], error: unknown): void {
    const left = parts.filter(({ isOver }) => !isOver);
    const isOfItems = error instanceof InvalidRequest && [400, 413].includes(error.status ?? 0);
    if (parts.length === 1 || !isOfItems) {
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
