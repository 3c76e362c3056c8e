// The caller's end of a line to whoever has the engine: each call has a number, answers come in any
// order, and what comes in one round of events goes together.

import type { Answer, Answered, Asked, Call } from "./call.ts";

/** `unsent`: it never left. `lost`: the line broke too. */
export type Forwarded = Answer | { readonly is: "unsent" };

export type Soon = (run: () => void) => void;

/** Gives a call up after the time that its caller has; `null` = the call has no limit. */
export type Limit = ((giveUp: () => void) => { cancel(): void }) | null;

interface Waiting {
  readonly operation: Call["operation"];
  readonly settle: (forwarded: Forwarded) => void;
  isSent: boolean;
}

export class Line {
  readonly #send: (asked: readonly Asked[]) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #soon: Soon;
  #last = 0;
  #asked: Asked[] = [];
  #isOpen = false;
  #isOver = false;
  #flushing = false;

  /** Nothing is sent before it is opened. `soon`: after the events at hand. */
  constructor(send: (asked: readonly Asked[]) => void, soon: Soon = setImmediate) {
    this.#send = send;
    this.#soon = soon;
  }

  /** Nobody waits for an answer. */
  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  open(): void {
    this.#isOpen = true;
    this.#flush();
  }

  /** Never rejects. The other end hangs up when the signal aborts, or when the call is given up. */
  call(call: Call, signal: AbortSignal, limit: Limit = null): Promise<Forwarded> {
    if (this.#isOver) return Promise.resolve({ is: "unsent" });
    this.#last += 1;
    const number = this.#last;
    return new Promise((resolve) => {
      const hangUp = (): void => this.#ask({ number, call: null });
      const settle = (forwarded: Forwarded): void => {
        timer?.cancel();
        signal.removeEventListener("abort", hangUp);
        this.#waiting.delete(number);
        resolve(forwarded);
      };
      this.#waiting.set(number, { operation: call.operation, settle, isSent: false });
      const timer = limit?.(() => this.#giveUp(number));
      signal.addEventListener("abort", hangUp, { once: true });
      this.#ask({ number, call });
    });
  }

  /** Asks for these calls back: each is answered with what came of it until then. */
  recall(operation: Call["operation"]): void {
    for (const [number, waiting] of this.#waiting) {
      if (waiting.operation === operation) this.#ask({ number, call: null });
    }
  }

  /** Waits no longer for what became of these calls. */
  lose(operation: Call["operation"]): void {
    for (const [number, waiting] of [...this.#waiting]) {
      if (waiting.operation === operation) this.#giveUp(number);
    }
  }

  /** A call that was not sent yet is not sent any more, so that it has no effect. */
  #giveUp(number: number): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    if (waiting.isSent) this.#ask({ number, call: null });
    else this.#asked = this.#asked.filter((asked) => asked.number !== number);
    waiting.settle({ is: waiting.isSent ? "lost" : "unsent" });
  }

  #ask(asked: Asked): void {
    this.#asked.push(asked);
    if (this.#flushing) return;
    this.#flushing = true;
    this.#soon(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (!this.#isOpen || this.#isOver || this.#asked.length === 0) return;
    const asked = this.#asked;
    this.#asked = [];
    for (const { number } of asked) {
      const waiting = this.#waiting.get(number);
      if (waiting !== undefined) waiting.isSent = true;
    }
    this.#send(asked);
  }

  heard(answers: readonly Answered[]): void {
    for (const { number, answer } of answers) this.#waiting.get(number)?.settle(answer);
  }

  /** No answer comes any more. */
  end(): void {
    this.#isOver = true;
    for (const { settle, isSent } of [...this.#waiting.values()]) {
      settle({ is: isSent ? "lost" : "unsent" });
    }
  }
}
