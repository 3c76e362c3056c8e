// The engine's end of one shard. It numbers requests, gathers what waits into
// one message, keeps at most two messages unanswered so that the rest can still
// be withdrawn and is gathered, and outlives the shard: when one dies, a new one is started and
// every request gets the answer that is true.

import { StoreError } from "../stores/store.ts";
import type { Clock, Timer } from "./clock.ts";
import { Epochs } from "./epochs.ts";
import {
  backlogFailure,
  closingFailure,
  type Failure,
  type Late,
  QueueError,
  unknownOutcome,
} from "./errors.ts";
import { Observations } from "./histogram.ts";
import { kindOf, type Request } from "./kinds.ts";
import { limits, type TurnLimits } from "./limits.ts";
import type { Link, LinkFactory } from "./link.ts";
import type { CommitReport, Opened, Report, Value } from "./messages.ts";
import type { Result } from "./shard/kind.ts";

interface Waiting extends Timing {
  readonly request: Request;
  readonly settle: (result: Result, op: number) => void;
}

/** Requests that were sent together, without those that settle later: what waits for their turn. */
type Message = Set<number>;

export interface PortEvents {
  /** Counts, events and outbound items; the answers are given after it. */
  report(report: Report): void;
  /** The answers of a report have been given. */
  settled(): void;
  /** The shard is there, at first or again; what it returns is sent before anything that waits. */
  opened(opened: Opened): Request[];
  down(cause: unknown): void;
}

/** When a request is answered though its shard has not done so, and what. */
export interface Timing {
  /** Past it the request is answered `late`, and withdrawn if it has not been sent; infinite = never. */
  readonly deadline: number;
  readonly late: Late;
}

const noTiming: Timing = {
  deadline: Number.POSITIVE_INFINITY,
  late: { untaken: closingFailure, taken: null },
};

const itemsPerCommitBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const commitSecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];

export interface PortOptions {
  readonly clock: Clock;
  readonly links: LinkFactory;
  readonly limits: TurnLimits;
  readonly events: PortEvents;
}

export class ShardPort {
  readonly shard: number;
  /** Of its store's ids; `null` until it has opened. */
  epochs: Epochs | null = null;
  readonly counters = {
    restarts: 0,
    failures: 0,
    commits: 0,
    itemsCommitted: 0,
    quarantined: 0,
    miscounted: 0,
    receipts: 0,
    full: false,
    walBytes: 0,
    fileBytes: 0,
    itemsPerCommit: new Observations(itemsPerCommitBounds),
    commitSeconds: new Observations(commitSecondsBounds),
  };
  readonly #options: PortOptions;
  readonly #clock: Clock;
  #link: Link;
  #up = false;
  /** Since when it has not answered, and when it is started again; on the machine's clock. */
  downAt = 0;
  nextStartAt = 0;
  /** Since when its store has no room; `null` = it has. */
  fullAt: number | null = null;
  #closed = false;
  #opLast = 0;
  #queue: Waiting[] = [];
  /** Sent and unanswered, in the order of sending. */
  readonly #sent = new Map<number, Waiting>();
  #messages: Message[] = [];
  #flushing = false;
  #lateTimer: { readonly deadline: number; readonly timer: Timer } | null = null;
  #restartMs: number = limits.restartMsMin;

  constructor(shard: number, options: PortOptions) {
    this.shard = shard;
    this.#options = options;
    this.#clock = options.clock.machine;
    this.downAt = this.#clock.now();
    this.#link = this.#start();
  }

  /** Requests that have no answer yet. */
  get waitingCount(): number {
    return this.#queue.length + this.#sent.size;
  }

  get isUp(): boolean {
    return this.#up;
  }

  #start(): Link {
    return this.#options.links(this.shard, {
      opened: (opened) => this.#opened(opened),
      report: (report) => this.#report(report),
      down: (cause) => this.#down(cause),
    });
  }

  /** Resolves with the answer; never rejects. */
  ask(request: Request, timing?: Timing): Promise<Result> {
    return new Promise((resolve) => this.put(request, resolve, timing));
  }

  put(
    request: Request,
    settle: (result: Result, op: number) => void,
    timing: Timing = noTiming,
  ): void {
    if (this.#closed) {
      settle(closingFailure, 0);
      return;
    }
    // Settings are never refused: their shard would go by the former ones for good.
    if (this.#queue.length >= limits.shardBacklogMax && request.kind !== "configure") {
      settle(backlogFailure, 0);
      return;
    }
    const { deadline, late } = timing;
    this.#queue.push({ request, settle, deadline, late });
    this.#watchDeadline(deadline);
    this.#flushSoon();
  }

  /** Requests that come in one round of events travel in one message. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#clock.soon(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (
      this.#up &&
      this.#messages.length < limits.messagesInFlightMax &&
      this.#queue.length > 0 &&
      this.#isWorthATurn()
    ) {
      this.#send();
    }
  }

  /** Behind another one, which gathers what comes while it runs. */
  #isWorthATurn(): boolean {
    if (this.#messages.length === 0) return true;
    let weight = 0;
    return this.#queue.some(({ request }) => {
      weight += weightOf(request);
      return weight >= this.#options.limits.secondMessageWeightMin;
    });
  }

  #send(): void {
    const now = this.#clock.now();
    const { turnRequestsMax, turnWeightMax } = this.#options.limits;
    const requests: Request[] = [];
    const message: Message = new Set();
    const first = this.#opLast + 1;
    let weight = 0;
    let taken = 0;
    for (const waiting of this.#queue) {
      if (requests.length >= turnRequestsMax || weight >= turnWeightMax) break;
      taken += 1;
      if (waiting.deadline <= now) {
        waiting.settle(waiting.late.untaken, 0);
        continue;
      }
      weight += weightOf(waiting.request);
      this.#opLast += 1;
      requests.push(waiting.request);
      if (!kindOf(waiting.request).settlesLater) message.add(this.#opLast);
      this.#sent.set(this.#opLast, waiting);
    }
    this.#queue = taken === this.#queue.length ? [] : this.#queue.slice(taken);
    if (requests.length === 0) return;
    if (message.size > 0) this.#messages.push(message);
    this.#link.send(requests, first);
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

  /** A shard that is down, or stalls, keeps nobody waiting past their time. */
  #answerLate(now: number): void {
    const late: [Waiting, Failure][] = [];
    let next = Number.POSITIVE_INFINITY;
    const look = (waiting: Waiting, failed: Failure | null): boolean => {
      const isLate = waiting.deadline <= now && failed !== null;
      if (isLate) late.push([waiting, failed]);
      else if (failed !== null) next = Math.min(next, waiting.deadline);
      return isLate;
    };
    this.#queue = this.#queue.filter((waiting) => !look(waiting, waiting.late.untaken));
    for (const [op, waiting] of this.#sent) {
      if (look(waiting, waiting.late.taken)) this.#sent.delete(op);
    }
    this.#watchDeadline(next);
    for (const [waiting, failed] of late) waiting.settle(failed, 0);
  }

  #report(report: Report): void {
    this.#count(report.commit);
    if (report.full) this.counters.failures += 1;
    this.counters.receipts = report.receipts;
    this.#setFull(report.refusing);
    const settled: [Waiting, Result, number][] = [];
    for (const { op, outcome } of report.answers) {
      for (const message of this.#messages) message.delete(op);
      const waiting = this.#sent.get(op);
      // It was answered when its time was up.
      if (waiting === undefined) continue;
      this.#sent.delete(op);
      settled.push([waiting, outcome, op]);
    }
    this.#messages = this.#messages.filter(({ size }) => size > 0);
    // Counts first: whoever is answered next asks for more by them.
    this.#options.events.report(report);
    // The shard has its next turn while this one is answered.
    this.#flush();
    for (const [waiting, outcome, op] of settled) waiting.settle(outcome, op);
    this.#options.events.settled();
  }

  #setFull(isFull: boolean): void {
    if (isFull && !this.counters.full) this.fullAt = this.#clock.now();
    this.counters.full = isFull;
    if (!isFull) this.fullAt = null;
  }

  #count(commit: CommitReport | null): void {
    if (commit === null) return;
    // Not when it is opened: a store may open and fail with every commit.
    this.#restartMs = limits.restartMsMin;
    const { counters } = this;
    counters.commits += 1;
    counters.itemsCommitted += commit.items;
    counters.quarantined += commit.quarantined;
    counters.itemsPerCommit.add(commit.items);
    counters.commitSeconds.add(commit.seconds);
    if (commit.size === null) return;
    counters.walBytes = commit.size.logBytes;
    counters.fileBytes = commit.size.fileBytes;
  }

  #opened(opened: Opened): void {
    this.#opLast = opened.opLast;
    this.epochs = Epochs.parse(opened.tags);
    this.#options.clock.raise(opened.at);
    this.counters.quarantined = opened.quarantined;
    // Found once: it was set right when it was told.
    this.counters.miscounted += opened.miscounted;
    this.counters.receipts = opened.receipts;
    this.#setFull(opened.full);
    const again = this.#settleLost(opened).map(withoutSettings);
    const settle = () => undefined;
    const first = this.#options.events
      .opened(opened)
      .map((request): Waiting => ({ request, settle, ...noTiming }));
    this.#queue = [...first, ...again, ...this.#queue.map(withoutSettings)];
    this.#up = true;
    this.#flush();
  }

  /**
   * Requests that the last shard took and never answered. Those that took effect are
   * answered accordingly; the others go again.
   */
  #settleLost(opened: Opened): Waiting[] {
    const { opLast, refused } = opened;
    const withoutEffect = new Set(refused);
    const again: Waiting[] = [];
    const taken = [...this.#sent];
    this.#sent.clear();
    this.#messages = [];
    for (const [op, waiting] of taken) {
      const { lost, isDone } = kindOf(waiting.request);
      const tookEffect =
        isDone?.(waiting.request, opened) ?? (op <= opLast && !withoutEffect.has(op));
      if (!tookEffect || lost === "again") {
        again.push(waiting);
        continue;
      }
      const instead = lost(waiting.request);
      if ("key" in waiting.request && waiting.request.key !== undefined) {
        // Its time may be up before it is sent again, and it was done.
        const { late } = waiting;
        const known = "ok" in instead && !instead.ok ? instead : unknownOutcome;
        again.push({ ...waiting, late: { ...late, untaken: late.taken ?? known } });
        continue;
      }
      if ("ask" in instead) again.push({ ...waiting, request: instead.ask as Request });
      else waiting.settle(instead, op);
    }
    return again;
  }

  #down(cause: unknown): void {
    const wasUp = this.#up;
    this.#up = false;
    // No later opening finds it again.
    if (this.#closed && isLoss(cause)) this.#options.events.down(cause);
    if (this.#closed) return;
    this.counters.failures += 1;
    if (wasUp) this.downAt = this.#clock.now();
    this.nextStartAt = this.#clock.now() + this.#restartMs;
    this.#options.events.down(cause);
    if (wasUp) this.#refuseCopies();
    if (!wasUp && this.counters.restarts === 0 && isFinal(cause)) return;
    this.counters.restarts += 1;
    this.#clock.at(this.#clock.now() + this.#restartMs, () => {
      if (!this.#closed) this.#link = this.#start();
    });
    this.#restartMs = Math.min(2 * this.#restartMs, limits.restartMsMax);
  }

  /** Those that it was to make: queues cannot be changed meanwhile, and the shard may be down for long. */
  #refuseCopies(): void {
    const isCopy = ({ request }: Waiting): boolean => request.kind === "backup";
    const copies = [...this.#sent.values(), ...this.#queue].filter(isCopy);
    for (const [op, waiting] of this.#sent) if (isCopy(waiting)) this.#sent.delete(op);
    this.#queue = this.#queue.filter((waiting) => !isCopy(waiting));
    for (const waiting of copies) waiting.settle(waiting.late.untaken, 0);
  }

  /** Answers what has not been sent, lets the turn that runs finish, closes the store. */
  async close(): Promise<void> {
    this.#settleUnsent(closingFailure);
    const wasUp = this.#up;
    const isWhole = await this.#link.close();
    // A shard that was up has decided what it answered, and nothing else, unless its last turn failed.
    this.#settleSent(wasUp && isWhole ? () => closingFailure : outcomeLost(closingFailure));
  }

  /**
   * Ends it at once: what the shard was sent may be done, and nobody will say. Resolves when a store
   * that is being opened has said what it has lost. `why`: what was not sent is told.
   */
  abandon(why: Failure): Promise<void> {
    this.#settleUnsent(why);
    const gone = this.#link.abandon();
    this.#settleSent(outcomeLost(why));
    return gone;
  }

  #settleUnsent(why: Failure): void {
    this.#closed = true;
    this.#lateTimer?.timer.cancel();
    const waiting = this.#queue;
    this.#queue = [];
    for (const { settle } of waiting) settle(why, 0);
  }

  #settleSent(failureOf: (waiting: Waiting) => Failure): void {
    const sent = [...this.#sent.values()];
    this.#sent.clear();
    this.#up = false;
    for (const waiting of sent) waiting.settle(failureOf(waiting), 0);
  }
}

function weightOf(request: Request): number {
  return kindOf(request).weight?.(request) ?? 1;
}

/** What a shard is told when it opens is newer than the settings that waited for it. */
function withoutSettings(waiting: Waiting): Waiting {
  const { request } = waiting;
  return request.kind === "configure"
    ? { ...waiting, request: { ...request, partitions: [], pauses: [], taken: [], strays: [] } }
    : waiting;
}

/** What may have been granted to nobody goes back when its lease lapses. */
function outcomeLost(why: Failure): (waiting: Waiting) => Failure {
  return ({ request, late }) => (request.kind === "lease" ? why : (late.taken ?? unknownOutcome));
}

/** Where an id says that its item is; `null` = no store of these issued it. */
export function placeIn(
  ports: readonly ShardPort[],
  id: string,
): { readonly shard: number; readonly slot: number; readonly seq: number } | null {
  for (const { shard, epochs } of ports) {
    const place = epochs?.placeOf(id);
    if (place) return { shard, ...place };
  }
  return null;
}

/** What a request brought; throws `QueueError` where it was refused. */
export function succeeded(result: Result): Value {
  if (result.ok) return result.value;
  throw QueueError.from(result);
}

/** A store lacks what was acknowledged, and will not say so again. */
export function isLoss(cause: unknown): boolean {
  return cause instanceof StoreError && cause.fault === "lost";
}

/** At the first start these are told to the operator instead of tried again. */
function isFinal(cause: unknown): boolean {
  return cause instanceof StoreError && !["failed", "lost"].includes(cause.fault);
}
