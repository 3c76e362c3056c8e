// One shard: the partitions of one store. It outlives its store: one that fails is closed and opened
// again, and every request gets the answer that is true.

import type { Backend } from "../../stores/backend.ts";
import { StoreError } from "../../stores/store.ts";
import type { Request } from "../kinds.ts";
import type { LeasedItem } from "../model/api.ts";
import type { CallKey } from "../model/call-key.ts";
import type { Clock, Timer } from "../model/clock.ts";
import type { Epochs } from "../model/epochs.ts";
import { closingFailure, type Failure, QueueError } from "../model/errors.ts";
import { Observations } from "../model/histogram.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import type { CommitReport, Opened, QueueRules, Report, Value } from "../model/messages.ts";
import type { Random } from "../model/random.ts";
import type { Result } from "../operations/kind.ts";
import { type Granted, Lines } from "../state/lines.ts";
import type { Memory } from "../state/memory.ts";
import { RecentCount } from "../state/window.ts";
import { Inbox, type Settle, type Timing } from "./inbox.ts";
import { type Remains, Turns } from "./turns.ts";

export interface ShardEvents {
  readonly rules: QueueRules;
  /** Counts, events and outbound items; the answers are given after it. */
  report(report: Report): void;
  /** What a waiting lease is told; `isLate`: after the store was opened again. */
  granted(granted: Granted, isLate: boolean): void;
  /** The store is open, at first or again; what it returns is decided before anything that waits. */
  opened(opened: Opened): Extract<Request, { kind: "refresh" }> | null;
  down(cause: unknown, lostCommits: number): void;
}

/** How shards keep and hand over what they have. */
export interface ShardOptions<Items> {
  /** At least 1, and always the same for the same stores: queues are in the shard that their name hashes to. */
  readonly shardCount: number;
  readonly openStore: (shard: number) => Promise<Backend>;
  /** How leased items are handed over. */
  readonly renderLeased: (items: readonly LeasedItem[]) => Items;
  readonly clock: Clock;
  /** Default `limits`. */
  readonly turnLimits?: TurnLimits;
  /** Default that of the machine. */
  readonly random?: Random;
  /** Called after each commit, before anyone is told; the simulation compares memory and store. */
  readonly observe?: (shard: number, memory: Memory) => Promise<void>;
}

const itemsPerCommitBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
const commitSecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1,
];

export class Shard {
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
  readonly #recentItems = new RecentCount({ slotMs: 1_000, slots: 60 });
  readonly #options: ShardOptions<unknown>;
  readonly #events: ShardEvents;
  readonly #machine: Clock;
  readonly #inbox: Inbox;
  readonly lines = new Lines();
  #opening: Promise<void>;
  /** Of one that was abandoned. */
  storeClosed: Promise<void> = Promise.resolve();
  /** Until the store that failed last is closed. */
  #failing: Promise<void> = Promise.resolve();
  #backend: Backend | null = null;
  /** `null` while the store is not open. */
  #turns: Turns | null = null;
  /** Of the turns before, for when the store is open again. */
  #remains: Remains | null = null;
  /** Since when it has not answered, and when it is opened again; on the machine's clock. */
  downAt: number;
  nextStartAt = 0;
  /** Since when its store has no room; `null` = it has. */
  fullAt: number | null = null;
  #closed = false;
  #abandoned = false;
  #isWaking = false;
  #restart: Timer | null = null;
  #restartMs: number = limits.restartMsMin;
  /** Who waits for decisions, which a shard that is down does not make. */
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

  /** Requests that have no answer yet. */
  get waitingCount(): number {
    return this.#inbox.size;
  }

  /** Items that the commits of the last minute wrote, leased or removed. */
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

  /** Waiting leases may be served, now or at an instant. */
  look(): void {
    if (this.lines.isReady) this.#wakeSoon();
    else if (this.lines.nextAt(0) < Number.POSITIVE_INFINITY) this.#turns?.wakeInTime();
  }

  /**
   * Ends when it has decided all requests that came before, and told the counts of these slots; returns
   * `false` if it is down or ends meanwhile, and has not.
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

  /** Whether a call with the key may have been done. */
  remembers({ digest }: CallKey): boolean {
    return this.#turns?.remembers(digest) ?? true;
  }

  /** Requests that come in one round of events share a turn. */
  #wakeSoon(): void {
    if (this.#isWaking) return;
    this.#isWaking = true;
    this.#machine.soon(() => {
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
      // Before anyone may open it again.
      await backend?.store.close().catch(() => undefined);
      this.#down(cause, backend?.lostCommits);
    }
  }

  #opened(opened: Opened): void {
    this.epochs = opened.epochs;
    this.counters.quarantined = opened.quarantined;
    // Found once: it was set right when it was told.
    this.counters.miscounted += opened.miscounted;
    this.counters.receipts = opened.receipts;
    this.#setFull(opened.full);
    const { answers, granted } = opened;
    this.#inbox.putBack(new Set([...answers.map(({ op }) => op), ...opened.settling]));
    const first = this.#events.opened(opened);
    if (first !== null) this.#inbox.putFirst(first);
    this.#inbox.answer(answers);
    this.#tell(granted, true);
    // What no turn will answer was not committed.
    this.lines.giveBackAll();
    this.#wakeSoon();
  }

  #report(report: Report): void {
    this.#count(report.commit);
    if (report.full) this.counters.failures += 1;
    this.counters.receipts = report.receipts;
    this.#setFull(report.refusing);
    // Counts first: the callbacks of answers choose partitions by them.
    this.#events.report(report);
    this.#inbox.answer(report.answers);
    this.#tell(report.granted, false);
  }

  #tell(granted: readonly Granted[], isLate: boolean): void {
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
    // Not when it is opened: a store may open and fail with every commit.
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

  /** An unfinished commit must be settled before anyone looks what became of it, so it is closed first. */
  async #failed(turns: Turns, cause: unknown): Promise<void> {
    await this.#backend?.store.close().catch(() => undefined);
    if (this.#abandoned) return;
    this.#remains = turns.remains;
    this.#down(cause);
  }

  /** `lostCommits`: that its opening found, and will not find again. */
  #down(cause: unknown, lostCommits = 0): void {
    const wasUp = this.isUp;
    this.#turns = null;
    for (const end of this.#deciding) end();
    // No later opening finds it again.
    if (this.#closed && isLoss(cause)) this.#events.down(cause, lostCommits);
    if (this.#closed) return;
    this.counters.failures += 1;
    if (wasUp) this.downAt = this.#machine.now();
    this.nextStartAt = this.#machine.now() + this.#restartMs;
    this.#events.down(cause, lostCommits);
    // After a loss the engine has abandoned it.
    if (this.#closed) return;
    if (wasUp) {
      // Queues cannot be changed until they are made, and the store may be away for long.
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

  /** Answers what no turn has taken, lets the turn that runs end, closes the store. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#restart?.cancel();
    this.#inbox.close(closingFailure);
    await this.#opening;
    // What the opening has found to be decided by no turn.
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
   * Ends it at once: what was taken may be done, and nobody will say. Resolves when a store that is
   * being opened has said what it has lost. `why`: what was not taken is told.
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
