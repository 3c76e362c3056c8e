// One shard: the partitions of one store. It takes all that waits, runs a turn,
// commits once, and only then answers. Turns never overlap, so nothing here
// needs a lock.

import { type Store, StoreError, type TurnRecord } from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { assert } from "../assert.ts";
import type { Clock, Timer } from "../clock.ts";
import { limits } from "../limits.ts";
import type {
  CommitReport,
  NumberedRequest,
  Opened,
  PartitionSettings,
  Refusal,
  Report,
} from "../messages.ts";
import { fullFailure, type Settling, type TurnContext } from "./context.ts";
import { Draft } from "./draft.ts";
import { Memory } from "./memory.ts";
import type { Partition } from "./partition.ts";
import { beginRecount } from "./recount.ts";
import { nextSweep } from "./sweep.ts";
import { answerReads, decide } from "./turn.ts";

export interface ShardOptions {
  readonly shard: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
  readonly report: (report: Report) => void;
  /** The shard cannot go on: the outcome of a commit is unknown, or the program is wrong. */
  readonly fail: (cause: unknown) => void;
  /** Called after each commit, before anyone is told. */
  readonly observe?: (memory: Memory) => Promise<void>;
}

/** How long without requests until housekeeping begins. */
const idleMs = 1_000;
/** From a turn that found no room at all to the next look at what is due. */
const noRoomMs = 50;
/** Grants remembered for clients that turn out to have left; older ones lapse instead. */
const grantsMax = 4_096;
/** Refusals remembered between commits: more than requests can be unanswered. */
const refusalsMax = 2 * limits.turnRequestsMax;
/** Commits from one look at the file sizes to the next. */
const sizeEvery = 64;

export class Shard {
  readonly #options: ShardOptions;
  readonly #settings = new Map<number, PartitionSettings>();
  readonly #grants = new Map<number, readonly number[]>();
  readonly #settling: Settling[] = [];
  #memory: Memory;
  #inbox: NumberedRequest[] = [];
  /** Whether it was told of its partitions since it opened. */
  #isConfigured = false;
  #running = false;
  #stopped = false;
  #full = false;
  /** When a store that was full is asked again, however busy the shard is. */
  #askForRoomAt = 0;
  /** Until then what is due waits: the last turn found no room even for that. */
  #pausedUntil = 0;
  #wake: Timer | null = null;
  #tidy: Timer | null = null;
  #idle: (() => void) | null = null;
  /** The last request that was decided. */
  #opLast: number;
  /** Refusals of turns that had nothing to commit; the next commit records them too. */
  #unrecorded: Refusal[] = [];

  private constructor(options: ShardOptions, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#opLast = memory.lastTurn.opLast;
  }

  /** Reads the store. Nothing happens by itself until the first `submit`. */
  static async open(options: ShardOptions): Promise<{ shard: Shard; opened: Opened }> {
    const { memory, image } = await Memory.load(options.shard, options.store, []);
    // However the machine's clock was set since: what is written is not in the future.
    options.clock.raise(memory.lastTurn.at);
    const miscounted = await setCountsRight(options.store, memory);
    const opened: Opened = {
      catalog: image.catalog,
      counts: [...memory.partitions.values()].map((partition) => partition.counts()),
      outbound: image.outbound,
      at: memory.lastTurn.at,
      opLast: memory.lastTurn.opLast,
      refused: image.turns.flatMap(({ refused }) => JSON.parse(refused) as Refusal[]),
      quarantined: image.quarantinedCount,
      miscounted,
    };
    return { shard: new Shard(options, memory), opened };
  }

  submit(requests: readonly NumberedRequest[]): void {
    if (this.#stopped) return;
    for (const request of requests) this.#inbox.push(request);
    this.#pump();
  }

  /** Finishes the turn that runs and closes the store; requests that came too late stay unanswered. */
  async close(): Promise<void> {
    this.#stopped = true;
    this.#wake?.cancel();
    this.#tidy?.cancel();
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#options.store.close();
  }

  #pump(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#wake?.cancel();
    this.#tidy?.cancel();
    this.#run().then(
      () => this.#rest(),
      (cause) => this.#fail(cause),
    );
  }

  #fail(cause: unknown): void {
    this.#running = false;
    this.#stopped = true;
    this.#idle?.();
    this.#options.fail(cause);
  }

  async #run(): Promise<void> {
    do {
      const requests = this.#inbox;
      this.#inbox = [];
      await this.#turn(requests);
      await this.#options.store.relieve(this.#inbox.length === 0);
      await this.#askForRoom();
    } while (!this.#stopped && this.#inbox.length > 0);
  }

  async #askForRoom(): Promise<void> {
    const { store, clock } = this.#options;
    if (!this.#full || clock.now() < this.#askForRoomAt) return;
    await store.tidy();
    this.#full = store.size().full;
    this.#askForRoomAt = clock.now() + idleMs;
  }

  /** Until the next request or instant. */
  #rest(): void {
    this.#running = false;
    this.#idle?.();
    if (this.#stopped) return;
    const { clock } = this.#options;
    // Work left over waits for the events at hand, so that requests come between its pieces.
    const { clearing, recounting } = this.#memory;
    const due = clearing.size + recounting.size > 0 ? clock.now() : nextSweep(this.#memory);
    const next = Math.max(due, this.#pausedUntil);
    if (next < Number.POSITIVE_INFINITY) this.#wake = clock.at(next, () => this.#pump());
    this.#tidy = clock.at(clock.now() + idleMs, () => this.#tidyUp());
  }

  #tidyUp(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const { store, clock } = this.#options;
    store.tidy().then(
      (more) => {
        this.#running = false;
        this.#idle?.();
        if (this.#stopped) return;
        if (this.#full) this.#full = store.size().full;
        if (this.#inbox.length > 0) this.#pump();
        else if (more) this.#tidy = clock.at(clock.now(), () => this.#tidyUp());
        else if (this.#full) this.#tidy = clock.at(clock.now() + idleMs, () => this.#tidyUp());
      },
      (cause) => this.#fail(cause),
    );
  }

  async #turn(requests: readonly NumberedRequest[]): Promise<void> {
    let turn = this.#context();
    const counting = [...turn.memory.recounting];
    // Before all else: an item whose partition has no settings would be taken for an orphan.
    for (const request of requests) {
      if (request.kind === "configure") this.#remember(turn, request);
      else assert(this.#isConfigured, "a shard was asked before it knew its partitions");
    }
    await decide(turn, requests);
    let commit = await this.#commit(turn, requests);
    const full = commit === "full";
    if (commit === "full") {
      // Nothing was written, and what was decided is void: decide again from what
      // is stored, without the requests that only add to it.
      this.#full = true;
      this.#askForRoomAt = this.#options.clock.now() + idleMs;
      await this.#reload(counting);
      turn = this.#context();
      await decide(turn, requests);
      commit = await this.#commit(turn, requests);
    }
    if (commit === "full") {
      await this.#reload(counting);
      turn = this.#context();
      refuseChanges(turn, requests);
      commit = null;
    }
    if (full && commit === null) this.#pausedUntil = this.#options.clock.now() + noRoomMs;
    for (const settling of turn.settling) this.#settling.push(settling);
    this.#settle(turn);
    await answerReads(turn, requests);
    this.#report(turn, commit, full);
  }

  #remember(
    { memory, draft }: TurnContext,
    request: Extract<NumberedRequest, { kind: "configure" }>,
  ): void {
    this.#isConfigured = true;
    for (const settings of request.partitions) {
      this.#settings.set(settings.slot, settings);
      const partition = memory.partition(settings.slot);
      partition.settings = settings;
      draft.touched.add(partition);
    }
    for (const slot of request.forget) {
      this.#settings.delete(slot);
      memory.partition(slot).settings = null;
    }
  }

  #context(): TurnContext {
    const { shard, store, renderLeased } = this.#options;
    return {
      shard,
      store,
      renderLeased,
      memory: this.#memory,
      draft: new Draft(),
      now: this.#options.clock.now(),
      grants: this.#grants,
      full: this.#full,
      settling: [],
    };
  }

  async #commit(
    { memory, draft, now }: TurnContext,
    requests: readonly NumberedRequest[],
  ): Promise<CommitReport | "full" | null> {
    const refused = draft.refusals();
    // Also where nothing is committed: a number that was decided must never be given again.
    this.#opLast = requests.at(-1)?.op ?? this.#opLast;
    if (draft.isEmpty) {
      this.#unrecorded = [...this.#unrecorded, ...refused].slice(-refusalsMax);
      return null;
    }
    const { shard, store, clock } = this.#options;
    if (draft.send.length > 0) {
      draft.receive.push({ sourceShard: shard, outboundSeq: memory.outboundSeqLast });
    }
    const turn: TurnRecord = {
      turn: memory.lastTurn.turn + 1,
      at: now,
      opLast: this.#opLast,
      refused: JSON.stringify([...this.#unrecorded, ...refused]),
    };
    const start = clock.precise();
    try {
      await store.commit(draft.changes(turn));
    } catch (cause) {
      if (cause instanceof StoreError && cause.fault === "full") return "full";
      throw cause;
    }
    const seconds = (clock.precise() - start) / 1_000;
    memory.lastTurn = turn;
    this.#unrecorded = [];
    for (const partition of draft.tallied) partition.committedSeq = partition.nextSeq;
    await this.#options.observe?.(memory);
    return {
      items: draft.itemCount,
      seconds,
      quarantined: draft.quarantinedCount,
      size: turn.turn % sizeEvery === 0 ? store.size() : null,
    };
  }

  /** `counting`: partitions that were being counted when the turn began. */
  async #reload(counting: readonly Partition[]): Promise<void> {
    const { shard, store } = this.#options;
    const { memory } = await Memory.load(shard, store, this.#settings.values());
    // Damage is told at a start: one that counts it takes the place of this shard.
    assert(memory.emptied.length === 0, "a lease holds no item");
    for (const { slot } of counting) beginRecount({ memory }, memory.partition(slot));
    this.#memory = memory;
    for (const settling of this.#settling) {
      settling.partitions = new Set(
        [...settling.partitions].map(({ slot }) => memory.partition(slot)),
      );
      // What was counted went with the memory.
      if (settling.work === "clear") continue;
      for (const partition of settling.partitions) beginRecount({ memory }, partition);
    }
  }

  /** Answers the clears that have nothing left to remove, and the recounts that are through. */
  #settle({ draft }: TurnContext): void {
    for (let index = this.#settling.length - 1; index >= 0; index -= 1) {
      const { op, work, partitions } = this.#settling[index] as Settling;
      for (const partition of partitions) {
        const isBusy = work === "clear" ? partition.isClearing : partition.recount !== null;
        if (!isBusy) partitions.delete(partition);
      }
      if (partitions.size > 0) continue;
      this.#settling.splice(index, 1);
      draft.succeed(op, { kind: "done" });
    }
  }

  #report({ draft }: TurnContext, commit: CommitReport | null, full: boolean): void {
    for (const op of this.#grants.keys()) {
      if (this.#grants.size <= grantsMax) break;
      this.#grants.delete(op);
    }
    const { answers, events, send, touched } = draft;
    if (answers.length + touched.size === 0 && commit === null && !full) return;
    const counts = [...touched].map((partition) => partition.counts());
    this.#options.report({ answers, counts, events, outbound: send, commit, full });
  }
}

/**
 * Compares what is stored with what was counted with every commit, and returns by how many items
 * they differ: damage that hides a row is told by nothing else. Of a store too large for that, a
 * lease without items tells of one at least.
 */
async function setCountsRight(store: Store, memory: Memory): Promise<number> {
  const stored = await store.countItems();
  let miscounted = 0;
  for (const [slot, { items, scheduled }] of stored ?? []) {
    const partition = memory.partition(slot);
    const { itemCount, scheduledCount, retriedCount } = partition;
    const difference =
      Math.abs(itemCount - items) + Math.abs(scheduledCount + retriedCount - scheduled);
    if (difference === 0) continue;
    miscounted += difference;
    partition.itemCount = items;
    // The sum of the instants too, and which items were retried: only reading them all can tell.
    beginRecount({ memory }, partition);
  }
  for (const { slot } of memory.emptied) {
    const partition = memory.partition(slot);
    if (memory.recounting.has(partition)) continue;
    miscounted += 1;
    beginRecount({ memory }, partition);
  }
  return miscounted;
}

/** There is no room even for what makes room. */
function refuseChanges({ draft }: TurnContext, requests: readonly NumberedRequest[]): void {
  for (const { op, kind } of requests) {
    if (kind === "list" || kind === "stats" || kind === "backup") continue;
    if (kind === "configure") draft.succeed(op, { kind: "done" });
    else draft.fail(op, fullFailure);
  }
}
