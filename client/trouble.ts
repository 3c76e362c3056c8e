// A repeated call is silent until its time is up, minutes later. The client reports the trouble
// once, so that a wrong address or a server that is down is noticed.

import type { HoldfastError } from "./errors.ts";
import { steadyNow } from "./time.ts";

/** A notice about repeated calls; it requires no reaction. */
export interface ClientNotice {
  /** Calls have no answer and are repeated. Reported once, until a call is answered. */
  readonly kind: "trouble";
  /** The call that was repeated first. */
  readonly operation: string;
  readonly error: HoldfastError;
  /** How much longer it is repeated, in milliseconds. */
  readonly leftMs: number;
}

/** A single broken connection is not reported. */
const attemptsMin = 3;
/** A call that is about to time out reports the failure itself. */
const leftMsMin = 2_000;

export class TroubleReporter {
  readonly #notice: (notice: ClientNotice) => void;
  #isReported = false;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(notice: (notice: ClientNotice) => void) {
    this.#notice = notice;
  }

  /** When a call was last answered, in `steadyNow()` time. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  answered(): void {
    this.#isReported = false;
    this.#answeredAt = steadyNow();
  }

  /** An attempt has failed, and another one follows. */
  repeated(attempt: number, notice: Omit<ClientNotice, "kind">): void {
    if (attempt >= attemptsMin) this.report(notice);
  }

  report(notice: Omit<ClientNotice, "kind">): void {
    if (this.#isReported || notice.leftMs < leftMsMin) return;
    this.#isReported = true;
    this.#notice({ kind: "trouble", ...notice });
  }
}

export function printTrouble({ operation, error, leftMs }: ClientNotice): void {
  const seconds = Math.round(leftMs / 1_000);
  const goesOn = Number.isFinite(seconds) ? `repeating it for up to ${seconds} s` : "repeating it";
  console.warn(`holdfast: trouble with ${operation}, ${goesOn}; ${error.message}`);
}
