// Requests to a shard from their arrival to their answer. They outlive an opening of the store:
// after it is opened again, turns decide the requests that no commit has decided.

import type { Clock, Timer } from "../model/clock.ts";
import {
  backlogFailure,
  closingFailure,
  type Failure,
  type Late,
  unfinishedFailure,
  unknownOutcome,
} from "../model/errors.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { Answer, Result } from "../model/messages.ts";
import { type NumberedRequest, operationOf, type Request } from "../operations.ts";

/** When and how a request is answered if its shard has not done so. */
export interface Timing {
  /** When the request is answered `late`, and dropped unless a turn has it; infinite = never. */
  readonly deadline: number;
  readonly late: Late;
}

export type Settle = (result: Result, op: number) => void;

interface Waiting extends Timing {
  readonly request: Request;
  readonly settle: Settle;
}

const noTiming: Timing = {
  deadline: Number.POSITIVE_INFINITY,
  late: { beforeSend: closingFailure, afterSend: null },
};

export interface InboxOptions {
  readonly clock: Clock;
  readonly limits: TurnLimits;
  /** Called with each request that has to wait for a turn. */
  readonly arrived: () => void;
}

export class Inbox {
  readonly #clock: Clock;
  readonly #limits: TurnLimits;
  readonly #arrived: () => void;
  #queue: Waiting[] = [];
  /** By op number, in the order in which turns took them. */
  readonly #inTurn = new Map<number, Waiting>();
  #opLast = 0;
  /** Why no more requests are accepted. */
  #ended: Failure | null = null;
  #lateTimer: { readonly deadline: number; readonly timer: Timer } | null = null;

  constructor({ clock, limits: bounds, arrived }: InboxOptions) {
    this.#clock = clock;
    this.#limits = bounds;
    this.#arrived = arrived;
  }

  get size(): number {
    return this.#queue.length + this.#inTurn.size;
  }

  put(request: Request, settle: Settle, timing: Timing = noTiming): void {
    if (this.#ended !== null) {
      settle(this.#ended, 0);
      return;
    }
    // A refresh is a barrier: a refusal would look as if all earlier requests were decided.
    if (this.#queue.length >= limits.shardBacklogMax && request.kind !== "refresh") {
      settle(backlogFailure, 0);
      return;
    }
    const { deadline, late } = timing;
    this.#queue.push({ request, settle, deadline, late });
    this.#watchDeadline(deadline);
    this.#arrived();
  }

  /** Puts a request that a newly opened store must decide before all waiting ones. */
  putFirst(request: Extract<Request, { kind: "refresh" }>): void {
    this.#queue = [{ request, settle: () => undefined, ...noTiming }, ...this.#queue];
  }

  /** Whether requests with at least this weight wait; 0: whether any request waits. */
  weighs(least: number): boolean {
    let weight = 0;
    return this.#queue.some(({ request }) => {
      weight += weightOf(request);
      return weight >= least;
    });
  }

  /** Takes and numbers the requests of the next turn; answers those past their deadline. */
  take(): NumberedRequest[] {
    const now = this.#clock.now();
    const { turnRequestsMax, turnWeightMax } = this.#limits;
    const requests: NumberedRequest[] = [];
    const late: Waiting[] = [];
    let weight = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      if (requests.length >= turnRequestsMax || weight >= turnWeightMax) break;
      count += 1;
      if (waiting.deadline <= now) {
        late.push(waiting);
        continue;
      }
      weight += weightOf(waiting.request);
      this.#opLast += 1;
      requests.push({ ...waiting.request, op: this.#opLast });
      this.#inTurn.set(this.#opLast, waiting);
    }
    this.#queue = count === this.#queue.length ? [] : this.#queue.slice(count);
    for (const { settle, late: failures } of late) settle(failures.beforeSend, 0);
    return requests;
  }

  answer(answers: readonly Answer[]): void {
    // Take all out first: a callback may put further requests.
    const settled = answers.flatMap(({ op, outcome }) => {
      const waiting = this.#inTurn.get(op);
      // It was answered at its deadline.
      if (waiting === undefined) return [];
      this.#inTurn.delete(op);
      return [{ waiting, op, outcome }];
    });
    for (const { waiting, op, outcome } of settled) waiting.settle(outcome, op);
  }

  /** Puts taken requests back in front of the waiting ones, except those in `kept`. */
  putBack(kept: ReadonlySet<number>): void {
    const again: Waiting[] = [];
    for (const [op, waiting] of this.#inTurn) {
      if (kept.has(op)) continue;
      this.#inTurn.delete(op);
      again.push(waiting);
      this.#watchDeadline(waiting.deadline);
    }
    this.#queue = [...again, ...this.#queue];
  }

  /** Answers all requests of an operation as if their deadline had passed before a turn took them. */
  refuse(kind: Request["kind"]): void {
    const isMeant = ({ request }: Waiting): boolean => request.kind === kind;
    const refused = [...this.#inTurn.values(), ...this.#queue].filter(isMeant);
    for (const [op, waiting] of this.#inTurn) if (isMeant(waiting)) this.#inTurn.delete(op);
    this.#queue = this.#queue.filter((waiting) => !isMeant(waiting));
    for (const { settle, late } of refused) settle(late.beforeSend, 0);
  }

  #watchDeadline(deadline: number): void {
    if (deadline >= (this.#lateTimer?.deadline ?? Number.POSITIVE_INFINITY)) return;
    this.#lateTimer?.timer.cancel();
    const timer = this.#clock.at(deadline, () => {
      this.#lateTimer = null;
      this.#answerLate(this.#clock.now());
    });
    this.#lateTimer = { deadline, timer };
  }

  /** Answers requests at their deadlines even while the store is down or stalls. */
  #answerLate(now: number): void {
    const late: [Waiting, Failure][] = [];
    let next = Number.POSITIVE_INFINITY;
    const look = (waiting: Waiting, failed: Failure | null): boolean => {
      const isLate = waiting.deadline <= now && failed !== null;
      if (isLate) late.push([waiting, failed]);
      else if (failed !== null) next = Math.min(next, waiting.deadline);
      return isLate;
    };
    this.#queue = this.#queue.filter((waiting) => !look(waiting, waiting.late.beforeSend));
    for (const [op, waiting] of this.#inTurn) {
      if (look(waiting, waiting.late.afterSend)) this.#inTurn.delete(op);
    }
    this.#watchDeadline(next);
    for (const [waiting, failed] of late) waiting.settle(failed, 0);
  }

  /** Accepts no more requests, and answers those that no turn has taken. */
  close(why: Failure): void {
    this.#ended = why;
    this.#lateTimer?.timer.cancel();
    const waiting = this.#queue;
    this.#queue = [];
    for (const { settle } of waiting) settle(why, 0);
  }

  /** Answers the taken requests; `isDecided`: only unfinished work in pieces is left among them. */
  closeTaken({ isDecided }: { readonly isDecided: boolean }): void {
    const taken = [...this.#inTurn.values()];
    this.#inTurn.clear();
    for (const { late, settle } of taken) {
      const failed = isDecided ? unfinishedFailure : (late.afterSend ?? unknownOutcome);
      settle(failed, 0);
    }
  }
}

function weightOf(request: Request): number {
  return operationOf(request).weight?.(request) ?? 1;
}
