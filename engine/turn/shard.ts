// A shard: the partitions of one store. If the store fails, the shard closes it and opens it again,
// and every request still gets the right answer.

import type { Backend } from "../../stores/backend.ts";
import { StoreError } from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import type { Clock, Timer } from "../model/clock.ts";
import type { Epochs } from "../model/epochs.ts";
import { closingFailure, type Failure, QueueError } from "../model/errors.ts";
import { Observations } from "../model/histogram.ts";
import type { IdempotencyKey } from "../model/idempotency-key.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { Result, Value } from "../model/messages.ts";
import type { Random } from "../model/random.ts";
import type { Request } from "../operations.ts";
import { type Granted, Lines } from "../state/lines.ts";
import type { Memory } from "../state/memory.ts";
import type { QueueRules } from "../state/queue-rules.ts";
import { RecentCount } from "../state/recent-window.ts";
import { Inbox, type Settle, type Timing } from "./inbox.ts";
import type { CommitReport, OpenedReport, Report } from "./report.ts";
import { type Remains, Turns } from "./turns.ts";

export interface ShardEvents {
  readonly rules: QueueRules;
  /** Takes counts, events and outbound items; the answers follow. */
  report(report: Report): void;
  /** The outcome of a waiting lease; `isLate`: known only after the store was opened again. */
  granted(granted: Granted, isLate: boolean): void;
  /** The store is open. The returned request is decided before all waiting ones. */
  opened(opened: OpenedReport): Extract<Request, { kind: "refresh" }> | null;
  down(cause: unknown, lostCommits: number): void;
}

export interface ShardOptions<Items> {
  /** At least 1, and constant for the same stores: the hash of a queue's name selects its shard. */
  readonly shardCount: number;
  readonly openStore: (shard: number) => Promise<Backend>;
  /** Converts leased items for the answer. */
  readonly renderLeased: (items: readonly LeasedItem[]) => Items;
  readonly clock: Clock;
  /** Default: `limits`. */
  readonly turnLimits?: TurnLimits;
  /** Default: the random source of the system. */
  readonly random?: Random;
  /** Called after each commit, before its answers; the simulation compares memory and store. */
  readonly observe?: (shard: number, memory: Memory) => Promise<void>;
}

const itemsPerCommitBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const commitSecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];

export class Shard {
  readonly shard: number;
  /** The epochs of the ids in its store; `null` until that has been opened. */
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
  readonly #recentItems = new RecentCount({ slotMs: 1_000, slots: 60 });
  readonly #options: ShardOptions<unknown>;
  readonly #events: ShardEvents;
  readonly #machine: Clock;
  readonly #inbox: Inbox;
  readonly lines = new Lines();
  #opening: Promise<void>;
  /** Resolves when the store of an abandoned shard is closed. */
  storeClosed: Promise<void> = Promise.resolve();
  /** Resolves when the store that failed last is closed. */
  #failing: Promise<void> = Promise.resolve();
  #backend: Backend | null = null;
  /** `null` while the store is not open. */
  #turns: Turns | null = null;
  /** State of the failed opening, for the next one. */
  #remains: Remains | null = null;
  /** Since when the shard has been down, and when it opens again, by the machine's clock. */
  downAt: number;
  nextStartAt = 0;
  /** Since when the store has been full; `null` = it is not. */
  fullAt: number | null = null;
  #closed = false;
  #abandoned = false;
  #isWaking = false;
  #restart: Timer | null = null;
  #restartMs: number = limits.restartMsMin;
  /** Ends the waits of `decided` when the shard goes down. */
  readonly #deciding = new Set<() => void>();

  constructor(shard: number, options: ShardOptions<unknown>, events: ShardEvents) {
    this.shard = shard;
    this.#options = options;
    this.#events = events;
    this.#machine = options.clock.machine;
    this.downAt = this.#machine.now();
    const bounds = options.turnLimits ?? limits;
    const arrived = (): void => this.#wakeSoon();
    this.#inbox = new Inbox({ clock: this.#machine, limits: bounds, arrived });
    this.#opening = this.#open();
  }

  get waitingCount(): number {
    return this.#inbox.size;
  }

  /** Items written, leased or removed by the commits of the last minute. */
  get itemsOfLastMinute(): number {
    return this.#recentItems.count(this.#machine.now());
  }

  get isUp(): boolean {
    return this.#turns !== null;
  }

  /** Resolves with the answer; never rejects. */
  ask(request: Request, timing?: Timing): Promise<Result> {
    return new Promise((resolve) => this.put(request, resolve, timing));
  }

  put(request: Request, settle: Settle, timing?: Timing): void {
    this.#inbox.put(request, settle, timing);
  }

  /** Serves waiting leases, now or when the first one is due. */
  look(): void {
    if (this.lines.isReady) this.#wakeSoon();
    else if (this.lines.nextAt(0) < Number.POSITIVE_INFINITY) this.#turns?.wakeInTime();
  }

  /**
   * Waits until all earlier requests are decided and the counts of these slots are reported.
   * Returns `false` if the shard is down, or goes down before that.
   */
  decided(slots: readonly number[] = []): Promise<boolean> {
    if (!this.isUp) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (): void => settle(false);
      const settle = (isDone: boolean): void => {
        this.#deciding.delete(end);
        resolve(isDone);
      };
      this.#deciding.add(end);
      this.put({ kind: "refresh", slots }, ({ ok }) => settle(ok));
    });
  }

  /** Whether a call with the key may have been done; `true` while the store is not open. */
  remembers({ digest }: IdempotencyKey): boolean {
    return this.#turns?.remembers(digest) ?? true;
  }

  /** Requests that arrive in the same tick of the event loop share a turn. */
  #wakeSoon(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    this.#machine.nextTick(() => {
      this.#isWaking = false;
      this.#turns?.wake();
    });
  }

  /** Does not reject. */
  async #open(): Promise<void> {
    const { openStore, turnLimits = limits, observe, random, renderLeased, clock } = this.#options;
    let backend: Backend | null = null;
    try {
      backend = await openStore(this.shard);
      this.#backend = backend;
      const { turns, opened } = await Turns.open({
        ...{ shard: this.shard, shardCount: this.#options.shardCount },
        ...{ rules: this.#events.rules, backend, clock, renderLeased, limits: turnLimits },
        ...{ inbox: this.#inbox, lines: this.lines, remains: this.#remains },
        ...(random && { random }),
        report: (report) => {
          if (!this.#abandoned) this.#report(report);
        },
        fail: (cause) => {
          this.#failing = this.#failed(turns, cause);
        },
        ...(observe && { observe: (memory: Memory) => observe(this.shard, memory) }),
      });
      if (this.#abandoned) {
        await backend.store.close().catch(() => undefined);
        return;
      }
      this.#turns = turns;
      this.#remains = null;
      this.#opened(opened);
    } catch (cause) {
      // Close it before it can be opened again.
      await backend?.store.close().catch(() => undefined);
      this.#down(cause, backend?.lostCommits);
    }
  }

  #opened(opened: OpenedReport): void {
    this.epochs = opened.epochs;
    this.counters.quarantined = opened.quarantined;
    // Added up: each opening corrects the counts that it reports.
    this.counters.miscounted += opened.miscounted;
    this.counters.receipts = opened.receipts;
    this.#setFull(opened.full);
    const { answers, granted } = opened;
    this.#inbox.putBack(new Set([...answers.map(({ op }) => op), ...opened.settling]));
    const first = this.#events.opened(opened);
    if (first !== null) this.#inbox.putFirst(first);
    this.#inbox.answer(answers);
    this.#answerLeases(granted, true);
    // The other grants were not committed.
    this.lines.giveBackAll();
    this.#wakeSoon();
  }

  #report(report: Report): void {
    this.#count(report.commit);
    if (report.full) this.counters.failures += 1;
    this.counters.receipts = report.receipts;
    this.#setFull(report.refusing);
    // Counts first: callbacks of answers use them to choose partitions.
    this.#events.report(report);
    this.#inbox.answer(report.answers);
    this.#answerLeases(report.granted, false);
  }

  #answerLeases(granted: readonly Granted[], isLate: boolean): void {
    for (const one of granted) {
      this.#events.granted({ ...one, lease: this.lines.answered(one.lease) }, isLate);
    }
    this.look();
  }

  #setFull(isFull: boolean): void {
    if (isFull && !this.counters.full) this.fullAt = this.#machine.now();
    this.counters.full = isFull;
    if (!isFull) this.fullAt = null;
  }

  #count(commit: CommitReport | null): void {
    if (commit === null) return;
    // Reset here and not at the opening: a store may open and then fail at every commit.
    this.#restartMs = limits.restartMsMin;
    const { counters } = this;
    counters.commits += 1;
    counters.itemsCommitted += commit.items;
    this.#recentItems.add(commit.items, this.#machine.now());
    counters.quarantined += commit.quarantined;
    counters.itemsPerCommit.add(commit.items);
    counters.commitSeconds.add(commit.seconds);
    if (commit.size === null) return;
    counters.walBytes = commit.size.logBytes;
    counters.fileBytes = commit.size.fileBytes;
  }

  /** Closes the store first: an unfinished commit must end before the next opening looks it up. */
  async #failed(turns: Turns, cause: unknown): Promise<void> {
    await this.#backend?.store.close().catch(() => undefined);
    if (this.#abandoned) return;
    this.#remains = turns.remains;
    this.#down(cause);
  }

  /** `lostCommits`: the number that the opening found; no later one finds them again. */
  #down(cause: unknown, lostCommits = 0): void {
    const wasUp = this.isUp;
    this.#turns = null;
    for (const end of this.#deciding) end();
    // Report a loss even after a close, because no later opening finds it again.
    if (this.#closed && isLoss(cause)) this.#events.down(cause, lostCommits);
    if (this.#closed) return;
    this.counters.failures += 1;
    if (wasUp) this.downAt = this.#machine.now();
    this.nextStartAt = this.#machine.now() + this.#restartMs;
    this.#events.down(cause, lostCommits);
    // After a loss the engine has abandoned the shard.
    if (this.#closed) return;
    if (wasUp) {
      // Queues cannot change during a backup, and the store may be down for long.
      this.#inbox.refuse("backup");
      // The sender may have lost these items by the time that the store is open again.
      this.#inbox.refuse("receive");
    }
    if (!wasUp && this.counters.restarts === 0 && isFinal(cause)) return;
    this.counters.restarts += 1;
    this.#restart = this.#machine.at(this.nextStartAt, () => {
      this.#opening = this.#open();
    });
    this.#restartMs = Math.min(2 * this.#restartMs, limits.restartMsMax);
  }

  /** Refuses waiting requests, finishes the present turn, and closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#restart?.cancel();
    this.#inbox.close(closingFailure);
    await this.#opening;
    // The opening may have put requests back that no turn will decide.
    this.#inbox.close(closingFailure);
    let isDecided = false;
    try {
      isDecided = (await this.#turns?.close()) ?? false;
      await this.#failing;
    } finally {
      this.#turns = null;
      this.#inbox.closeTaken({ isDecided });
    }
  }

  /**
   * Stops the shard at once; the outcome of taken requests stays unknown. Waiting requests fail
   * with `why`. If the store is being opened, resolves after that has reported its losses.
   */
  async abandon(why: Failure): Promise<void> {
    const wasUp = this.isUp;
    this.#closed = true;
    this.#abandoned = true;
    this.#restart?.cancel();
    this.#turns?.stop();
    this.#turns = null;
    this.#inbox.close(why);
    this.#inbox.closeTaken({ isDecided: false });
    if (!wasUp) await this.#opening;
    this.storeClosed = this.#backend?.store.close().catch(() => undefined) ?? Promise.resolve();
  }
}

/** The value of a result; throws `QueueError` if the request was refused. */
export function succeeded(result: Result): Value {
  if (result.ok) return result.value;
  throw QueueError.from(result);
}

/** The store lacks acknowledged commits. No later opening reports this again. */
export function isLoss(cause: unknown): boolean {
  return cause instanceof StoreError && cause.fault === "lost";
}

/** Errors that are reported at the first start instead of retried. */
function isFinal(cause: unknown): boolean {
  return cause instanceof StoreError && !["failed", "lost"].includes(cause.fault);
}
