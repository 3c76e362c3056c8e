// Sends calls to a `CallServer` in another thread or node: each call has a number, answers arrive
// in any order, and the calls of one round of events are sent as one frame.

import { after, type Clock, steadyClock } from "../../engine/model/clock.ts";
import type { Answer, Call, NumberedCall } from "./call.ts";
import { decodeAnswers, encodeCalls } from "./frame.ts";

/** `unsent`: the call was never sent. `lost`: also if the connection ended before the answer. */
export type CallOutcome = Answer | { readonly is: "unsent" };

/** Starts the timer that gives up a call; `null`: the call has no time limit. */
export type Limit = ((giveUp: () => void) => { cancel(): void }) | null;

/** A request creates its signal when the signal is first read. */
type Client = Pick<Request, "signal">;

/** For operations other than leases, a hang-up may be forwarded this much later. */
export const hangUpDelayMs = 100;

interface Waiting extends Pick<Call, "operation" | "shard"> {
  readonly client: Client;
  readonly settle: (outcome: CallOutcome) => void;
  isSent: boolean;
  /** Absent until the signal has a listener. */
  stopListening?: () => void;
}

export class CallClient {
  readonly #send: (frame: string) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #clock: Clock;
  #last = 0;
  #outgoing: NumberedCall[] = [];
  #isOpen = false;
  #isOver = false;
  #flushing = false;
  #isListenDue = false;

  /** Calls are sent only after `open`. */
  constructor(send: (frame: string) => void, clock = steadyClock()) {
    this.#send = send;
    this.#clock = clock;
  }

  /** No call waits for an answer. */
  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** Never rejects. If the client hangs up, or the call is given up, the other end aborts it. */
  call(call: Call, client: Client, limit: Limit = null): Promise<CallOutcome> {
    if (this.#isOver) return Promise.resolve({ is: "unsent" });
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve) => {
      const settle = (outcome: CallOutcome): void => {
        timer?.cancel();
        waiting.stopListening?.();
        this.#waiting.delete(number);
        resolve(outcome);
      };
      const { operation, shard } = call;
      const waiting: Waiting = { operation, shard, client, settle, isSent: false };
      this.#waiting.set(number, waiting);
      const timer = limit?.(() => this.#giveUp(number));
      this.#enqueue({ number, call });
      if (operation === "lease") this.#listen(number, waiting);
      else this.#listenToHangUps();
    });
  }

  #listen(number: number, waiting: Waiting): void {
    const { signal } = waiting.client;
    const hangUp = (): void => this.#enqueue({ number, call: null });
    waiting.stopListening = () => signal.removeEventListener("abort", hangUp);
    if (signal.aborted) hangUp();
    else signal.addEventListener("abort", hangUp, { once: true });
  }

  /** Most calls are answered sooner, and a signal with a listener costs a third of a hop. */
  #listenToHangUps(): void {
    if (this.#isListenDue) return;
    this.#isListenDue = true;
    after(this.#clock, hangUpDelayMs, () => {
      this.#isListenDue = false;
      for (const [number, waiting] of this.#waiting) {
        if (waiting.stopListening === undefined) this.#listen(number, waiting);
      }
    });
  }

  /**
   * Recalls the waiting leases of this shard, or of all if `null`: each is answered with the items
   * granted by then. Returns a function that gives up those without an answer.
   */
  recall(shard: number | null): () => void {
    const recalled = [...this.#waiting].flatMap(([number, waiting]) =>
      waiting.operation === "lease" && (shard === null || shard === waiting.shard) ? [number] : [],
    );
    for (const number of recalled) this.#enqueue({ number, call: null });
    return () => {
      for (const number of recalled) this.#giveUp(number);
    };
  }

  /** A call that was not sent yet is dropped, so that it has no effect. */
  #giveUp(number: number): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    if (waiting.isSent) this.#enqueue({ number, call: null });
    else this.#outgoing = this.#outgoing.filter((call) => call.number !== number);
    waiting.settle({ is: waiting.isSent ? "lost" : "unsent" });
  }

  #enqueue(call: NumberedCall): void {
    this.#outgoing.push(call);
    if (this.#flushing) return;
    this.#flushing = true;
    this.#clock.nextTick(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#isOpen || this.#isOver || this.#outgoing.length === 0) return;
    const calls = this.#outgoing;
    this.#outgoing = [];
    for (const { number } of calls) {
      const waiting = this.#waiting.get(number);
      if (waiting !== undefined) waiting.isSent = true;
    }
    this.#send(encodeCalls(calls));
  }

  /** Throws, and settles no call, if the frame is malformed. */
  receive(frame: string): void {
    for (const { number, answer } of decodeAnswers(frame))
      this.#waiting.get(number)?.settle(answer);
  }

  /** Settles all waiting calls, because the connection has ended. */
  end(): void {
    this.#isOver = true;
    for (const { settle, isSent } of [...this.#waiting.values()]) {
      settle({ is: isSent ? "lost" : "unsent" });
    }
  }
}
