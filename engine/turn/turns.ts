// The turn loop of a shard during one opening of its store. A turn takes all waiting requests,
// commits once, and answers when the commit is synced. The next turn may be decided during the
// sync, but is committed only after those answers.

import type { Backend } from "../../stores/backend.ts";
import {
  DamagedItems,
  nothingRead,
  StoreError,
  type TurnRecord,
  type Written,
} from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import { assert } from "../model/assert.ts";
import type { Clock, Timer } from "../model/clock.ts";
import { fullFailure } from "../model/errors.ts";
import { groupSlotIn } from "../model/group-settings.ts";
import { limits, type TurnLimits } from "../model/limits.ts";
import { partitionSlot } from "../model/priority.ts";
import { type Random, systemRandom } from "../model/random.ts";
import { type NumberedRequest, operationOf } from "../operations.ts";
import { History, TurnHistory } from "../state/history.ts";
import type { Lines, LinesToServe } from "../state/lines.ts";
import { Memory } from "../state/memory.ts";
import type { QueueRules } from "../state/queue-rules.ts";
import { ChangeSet } from "./change-set.ts";
import type { Inbox } from "./inbox.ts";
import { isLabelled, labelOf, type ShardIdentity } from "./label.ts";
import { beginRecount, setCountsRight } from "./recount.ts";
import type { CommitReport, OpenedReport, Report } from "./report.ts";
import { nextDue } from "./sweep.ts";
import { decide, planReads, refuseChanges } from "./turn.ts";
import type { ReadPlanner, Settling, Turn } from "./turn-context.ts";

export interface TurnsOptions<Items> extends ShardIdentity {
  readonly rules: QueueRules;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly limits: TurnLimits;
  readonly inbox: Pick<Inbox, "take" | "weighs">;
  readonly lines: Lines;
  /** The unfinished state of the opening before. */
  readonly remains: Remains | null;
  /** Converts leased items for the answer. */
  readonly renderLeased: (items: readonly LeasedItem[]) => Items;
  /** Default: the random source of the system. */
  readonly random?: Random;
  readonly report: (report: Report) => void;
  /** The last call: the outcome of a commit is unknown, or there is a bug. No turn follows. */
  readonly fail: (cause: unknown) => void;
  /** Called after each commit, before its answers. */
  readonly observe?: (memory: Memory) => Promise<void>;
}

/** A turn that may be committed, and is not answered. */
interface Pending {
  readonly record: TurnRecord;
  readonly before: TurnRecord;
  readonly changeSet: Pick<ChangeSet, "answers" | "events" | "granted">;
  /** Clears and recounts that the turn began, and those that it finished. */
  readonly began: readonly Settling[];
  readonly ended: Settling[];
}

/** The state that survives a failed store. */
export interface Remains {
  readonly pending: Pending | null;
  /** The last committed turn, if none is pending. */
  readonly lastTurn: TurnRecord;
  readonly settling: readonly Settling[];
}

/** Time without requests before maintenance begins. */
const idleMs = 1_000;
/** Pause after a turn that found no room at all, before the next sweep. */
const noRoomMs = 50;
/** Commits between two reads of the file sizes. */
const sizeEvery = 64;

interface TurnInput {
  readonly requests: readonly NumberedRequest[];
  readonly linesToServe: LinesToServe;
}

/** A commit whose sync may still be running. */
interface Commit extends Written {
  readonly report: Omit<CommitReport, "seconds">;
  /** `precise` time. */
  readonly begunAt: number;
}

/** The outcome of a commit; unless it was written, the decisions of the turn are void. */
type Committed =
  | { readonly is: "written"; readonly commit: Commit | null }
  | { readonly is: "full" }
  | { readonly is: "damaged_items"; readonly items: DamagedItems["items"] };

const noPlan = { named: new Map(), groups: [] };

export class Turns {
  readonly #options: TurnsOptions<unknown>;
  #settling: Settling[] = [];
  #pending: Pending | null = null;
  readonly #history: History;
  #memory: Memory;
  /** The first turn writes a missing label, and so is committed even if it changes nothing. */
  #hasLabel = true;
  #hasBegun = false;
  #running = false;
  #stopped = false;
  #hasFailed = false;
  #full = false;
  /** When to check a full store for room again, even on a busy shard. */
  #checkRoomAt = 0;
  /** Until then there is no sweep, because the last turn found no room for one. */
  #pausedUntil = 0;
  #wake: Timer | null = null;
  #tidy: Timer | null = null;
  #idle: (() => void) | null = null;
  /** The answers of a turn whose commit is being synced. */
  #answering: Promise<void> | null = null;
  #arrived: (() => void) | null = null;

  private constructor(options: TurnsOptions<unknown>, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#history = new History(options.limits.historyBytes, options.clock.now());
  }

  /** Reads the store. No turn runs before the first `wake`. */
  static async open(
    options: TurnsOptions<unknown>,
  ): Promise<{ turns: Turns; opened: OpenedReport }> {
    const { store, maintenance } = options.backend;
    const { random = systemRandom } = options;
    const { memory, image } = await Memory.load(options.shard, store, {
      rules: options.rules,
      random,
    });
    const hasLabel = isLabelled(image.tags, options);
    // The machine's clock may have been set back, but stored times must not be in the future.
    options.clock.advanceTo(memory.lastTurn.at);
    const miscounted = await setCountsRight(maintenance, memory);
    const turns = new Turns(options, memory);
    turns.#hasLabel = hasLabel;
    const opened: OpenedReport = {
      ...turns.#takeUp(options.remains),
      settling: turns.#settling.map(({ op }) => op),
      epochs: memory.epochs,
      queues: image.queues,
      counts: [...memory.partitions.values()].map((partition) => partition.counts()),
      outbox: memory.outbox.counts(),
      passed: memory.passed(options.shard),
      lostCommits: options.backend.lostCommits ?? 0,
      receipts: memory.receipts.size,
      tasks: image.tasks.filter(({ taskId }) => groupSlotIn(taskId) === null),
      quarantined: image.quarantinedCount,
      miscounted,
      full: maintenance.size().full,
    };
    turns.#full = opened.full;
    return { turns, opened };
  }

  /**
   * The answers of the pending turn, if it was committed before the store failed. Throws `lost` if
   * the last stored turn is neither that nor the one before: another server has used the store, so
   * memory outside the store may be wrong.
   */
  #takeUp(remains: Remains | null): Pick<OpenedReport, "answers" | "events" | "granted"> {
    const nothing = { answers: [], events: [], granted: [] };
    if (remains === null) return nothing;
    const { pending, lastTurn, settling } = remains;
    const isLast = ({ turn, tag }: TurnRecord): boolean =>
      this.#memory.lastTurn.turn === turn && this.#memory.lastTurn.tag === tag;
    if (!isLast(pending?.before ?? lastTurn) && !(pending && isLast(pending.record))) {
      throw new StoreError("lost", "the store is not as this server has left it");
    }
    if (pending === null) {
      this.#settleAgain(settling);
      return nothing;
    }
    const { record, changeSet, began, ended } = pending;
    if (isLast(record)) {
      this.#settleAgain(new Set([...settling, ...began.filter((one) => !ended.includes(one))]));
      const { answers, events, granted } = changeSet;
      return { answers, events, granted };
    }
    const continued = new Set([...settling, ...ended]).difference(new Set(began));
    // On all partitions of the work: the void turn may have finished some.
    this.#settleAgain(continued, ({ slots }) => slots);
    return nothing;
  }

  /** Continues work in pieces on the partitions of a new memory. */
  #settleAgain(
    settling: Iterable<Settling>,
    slotsOf: (settling: Settling) => readonly number[] = slotsLeft,
  ): void {
    this.#settling = [...settling];
    for (const one of this.#settling) {
      one.partitions = new Set(slotsOf(one).map((slot) => this.#memory.partition(slot)));
      // The progress of a recount was in the old memory.
      if (one.work === "clear") continue;
      for (const partition of one.partitions) beginRecount(this.#memory, partition);
    }
  }

  /** Read after a failure. */
  get remains(): Remains {
    const { lastTurn } = this.#memory;
    return { pending: this.#pending, lastTurn, settling: this.#settling };
  }

  /** Runs turns, because requests have arrived, or leases that may find items. */
  wake(): void {
    this.#arrived?.();
    if (this.#isAsked) this.#pump();
  }

  /** Updates the timer for a new wake time of a line. No turn runs before the first `wake`. */
  wakeInTime(): void {
    if (this.#hasBegun && !this.#running && !this.#stopped) this.#wakeWhenDue();
  }

  remembers(digest: string): boolean {
    return this.#memory.receipts.find(digest) !== undefined;
  }

  /** Waits for the present turn, and closes the store. Returns `false` if a turn failed. */
  async close(): Promise<boolean> {
    this.stop();
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#options.backend.store.close();
    return !this.#hasFailed;
  }

  /** Begins no other turn. */
  stop(): void {
    this.#stopped = true;
    this.#wake?.cancel();
    this.#tidy?.cancel();
  }

  #pump(): void {
    if (this.#running || this.#stopped) return;
    this.#hasBegun = true;
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
    this.stop();
    this.#hasFailed = true;
    this.#idle?.();
    this.#options.fail(cause);
  }

  async #run(): Promise<void> {
    do {
      await this.#turn(this.#options.inbox.take());
      await this.#options.backend.maintenance.relieve();
      await this.#checkRoom();
      await this.#answeredOrAsked();
    } while (!this.#stopped && this.#isAsked);
    await this.#answering;
  }

  get #isAsked(): boolean {
    const { clock, inbox, lines, limits: bounds } = this.#options;
    const { isReady, asked } = lines;
    if (this.#answering === null) {
      // Leases that found no room keep their place until there may be room.
      const isPaused = clock.machine.now() < this.#pausedUntil;
      return asked > 0 || (isReady && !isPaused) || inbox.weighs(0);
    }
    // During a sync a turn needs a minimum weight, so that requests are batched.
    const least = bounds.secondTurnWeightMin - asked;
    return least <= 0 || inbox.weighs(least);
  }

  /** Waits until the turn is answered, or enough requests wait to decide the next one. */
  async #answeredOrAsked(): Promise<void> {
    while (this.#answering !== null && !this.#stopped && !this.#isAsked) {
      const asked = new Promise<void>((resolve) => (this.#arrived = resolve));
      await Promise.race([this.#answering, asked]);
    }
    this.#arrived = null;
  }

  async #checkRoom(): Promise<void> {
    const { backend, clock } = this.#options;
    if (!this.#full || clock.machine.now() < this.#checkRoomAt) return;
    await backend.maintenance.tidy();
    // Wait, because the turn that is being synced was decided without room: report that first.
    await this.#answering;
    if (!backend.maintenance.size().full) this.#reportRoom();
    this.#checkRoomAt = clock.machine.now() + idleMs;
  }

  /** Waits for the next request or due time. */
  #rest(): void {
    this.#running = false;
    this.#idle?.();
    if (this.#stopped) return;
    this.#wakeWhenDue();
    const { machine } = this.#options.clock;
    this.#tidy = machine.at(machine.now() + idleMs, () => this.#tidyUp());
  }

  #wakeWhenDue(): void {
    const { clock } = this.#options;
    const { machine } = clock;
    const now = clock.now();
    const { limits: bounds, lines } = this.#options;
    const due = Math.min(nextDue(this.#memory, bounds, now), lines.nextAt(now));
    this.#wake?.cancel();
    const wake = (): void => this.#pump();
    if (due <= clock.now() && this.#pausedUntil > machine.now()) {
      this.#wake = machine.at(this.#pausedUntil, wake);
    } else if (due < Number.POSITIVE_INFINITY) {
      // Through the clock even if due now, so that requests get in between pieces of work.
      this.#wake = clock.at(due, wake);
    }
  }

  #tidyUp(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#wake?.cancel();
    const { backend, clock } = this.#options;
    const { machine } = clock;
    backend.maintenance.tidy().then(
      (more) => {
        this.#running = false;
        this.#idle?.();
        if (this.#stopped) return;
        if (this.#full && !backend.maintenance.size().full) this.#reportRoom();
        this.#wakeWhenDue();
        if (this.#isAsked) this.#pump();
        else if (more) this.#tidy = machine.at(machine.now(), () => this.#tidyUp());
        else if (this.#full) this.#tidy = machine.at(machine.now() + idleMs, () => this.#tidyUp());
      },
      (cause) => this.#fail(cause),
    );
  }

  /** Reports at once, because the next turn may come much later. */
  #reportRoom(): void {
    this.#full = false;
    const receipts = this.#memory.receipts.size;
    const report = { answers: [], granted: [], counts: [], events: [], outbox: [], receipts };
    this.#options.report({ ...report, commit: null, full: false, refusing: false });
  }

  async #turn(requests: readonly NumberedRequest[]): Promise<void> {
    const counting = [...this.#memory.recounting].map(({ slot }) => slot);
    const { clock, lines } = this.#options;
    const { machine } = clock;
    const asked = { requests, linesToServe: lines.take(clock.now()) };
    const wasPaused = machine.now() < this.#pausedUntil;
    let full = false;
    let isStill = wasPaused;
    let turn = await this.#decide(asked, isStill);
    let commit = await this.#commit(turn);
    const damaged: DamagedItems["items"][number][] = [];
    while (commit.is !== "written") {
      if (commit.is === "full" && full && isStill) break;
      // Nothing was written, and the decisions are void. Decide again from the stored state,
      // without requests that only add, or with the damaged items that are known so far.
      await this.#reload(counting, turn.changeSet);
      if (commit.is === "damaged_items") damaged.push(...commit.items);
      else {
        // The last attempt is without the sweep, which may be the only part that finds no room.
        isStill ||= full;
        full = true;
        this.#full = true;
        this.#checkRoomAt = machine.now() + idleMs;
      }
      this.#memory.markDamaged(damaged);
      turn = await this.#decide(asked, isStill);
      commit = await this.#commit(turn);
    }
    if (commit.is !== "written") {
      // Not even requests that free space find room.
      await this.#reload(counting, turn.changeSet);
      const moment = { now: clock.now(), machineNow: machine.now() };
      const { changeSet } = turn;
      const { linesToServe } = asked;
      turn = this.#context(nothingRead, noPlan, { ...moment, linesToServe, isStill });
      refuseChanges(turn, requests, changeSet);
      lines.grant(turn.changeSet.granted);
    }
    if (turn.changeSet.history !== null) this.#history.keep(turn.changeSet.history);
    const written = commit.is === "written" ? commit.commit : null;
    const isIdle = written === null && requests.length === 0;
    if (full && !wasPaused && (commit.is !== "written" || isStill || isIdle)) {
      this.#pausedUntil = machine.now() + noRoomMs;
    }
    lines.turnEnded();
    this.#settling.push(...turn.settling);
    this.#settle(turn);
    await this.#answer(turn, requests, { commit: written, full });
  }

  async #decide({ requests, linesToServe }: TurnInput, isStill: boolean): Promise<Turn> {
    const { backend, clock, lines } = this.#options;
    const now = clock.now();
    const context = {
      memory: this.#memory,
      now,
      machineNow: clock.machine.now(),
      limits: this.#limits,
      linesToServe,
    };
    const planner = planReads(context, requests);
    const asked = planner.plan;
    const readResult = asked === null ? nothingRead : await backend.store.read(asked);
    // A deadline may have passed while the store was read.
    const machineNow = clock.machine.now();
    const turn = this.#context(readResult, planner, {
      now,
      machineNow,
      linesToServe,
      isStill,
    });
    decide(turn, requests);
    lines.grant(turn.changeSet.granted);
    return turn;
  }

  /** Moved items are rewritten, and a full store has little room for that. */
  get #limits(): TurnLimits {
    const { limits: usual } = this.#options;
    if (!this.#full) return usual;
    const turnBytesMax = Math.min(usual.turnBytesMax, limits.fullBytesMax);
    return { ...usual, turnBytesMax };
  }

  #context(
    readResult: Turn["readResult"],
    { named, groups: groupHeads }: Pick<ReadPlanner, "named" | "groups">,
    moment: Pick<Turn, "now" | "machineNow" | "linesToServe" | "isStill">,
  ): Turn {
    const { shard, renderLeased, lines } = this.#options;
    return {
      shard,
      renderLeased,
      limits: this.#limits,
      memory: this.#memory,
      readResult,
      named,
      groupHeads,
      changeSet: new ChangeSet(this.#history.isKept ? new TurnHistory(moment.now) : null),
      history: this.#history,
      ...moment,
      stamp: this.#options.clock.stamp(),
      lines,
      full: this.#full,
      settling: [],
    };
  }

  async #commit({ memory, changeSet, now, stamp, shard, settling }: Turn): Promise<Committed> {
    // Decided on top of the commit that is being synced: if that is lost, so is this turn.
    await this.#answering;
    if (changeSet.isEmpty && this.#hasLabel) return { is: "written", commit: null };
    const { backend, clock } = this.#options;
    if (changeSet.sent.size > 0) {
      changeSet.receive.push({ sourceShard: shard, outboundSeq: memory.outbox.seqLast });
    }
    const { tag } = memory.epochs;
    const record: TurnRecord = { turn: memory.lastTurn.turn + 1, at: now, tag };
    this.#pending = { record, before: memory.lastTurn, changeSet, began: settling, ended: [] };
    const begunAt = clock.precise();
    let written: Written;
    try {
      const isNew = memory.isEpochNew || !this.#hasLabel;
      const tags = isNew ? labelOf(this.#options, memory.epochs) : null;
      written = await backend.store.commit(changeSet.changes(record, tags));
    } catch (cause) {
      const isDamaged = cause instanceof DamagedItems;
      if (!isDamaged && !isFull(cause)) throw cause;
      this.#pending = null;
      return isDamaged ? { is: "damaged_items", items: cause.items } : { is: "full" };
    }
    memory.lastTurn = record;
    memory.isEpochNew = false;
    this.#hasLabel = true;
    for (const receipt of changeSet.receipts.values()) memory.receipts.add(receipt, record);
    memory.receipts.forget(changeSet.forgetTurn);
    for (const partition of changeSet.tallied) partition.committed(stamp);
    await this.#options.observe?.(memory);
    const report = {
      items: changeSet.itemCount,
      quarantined: changeSet.quarantinedCount,
      size: record.turn % sizeEvery === 0 ? backend.maintenance.size() : null,
    };
    return { is: "written", commit: { ...written, report, begunAt } };
  }

  /** `counting`: slots with a recount in progress at the beginning of the turn. */
  async #reload(counting: readonly number[], changeSet: ChangeSet): Promise<void> {
    const { shard, backend } = this.#options;
    const { rules, receipts, epochs, partitions, outbox } = this.#memory;
    const former = { partitions, outbox, headsBefore: changeSet.headsBefore };
    const kept = { rules, receipts, epochs, former };
    const { memory } = await Memory.load(shard, backend.store, kept);
    // Damage is counted only at a start, and a failure of this assertion leads to one.
    assert(memory.emptied.length === 0, "a lease holds no item");
    for (const slot of counting) beginRecount(memory, memory.partition(slot));
    this.#memory = memory;
    this.#settleAgain(this.#settling);
    for (const { slot } of changeSet.touched) memory.updateLoad(memory.partition(slot));
    this.#options.lines.restore(changeSet.granted);
  }

  /** Answers clears and recounts that are finished. */
  #settle({ changeSet }: Turn): void {
    this.#settling = this.#settling.filter((settling) => {
      const { op, work, answer, partitions } = settling;
      for (const partition of partitions) {
        const isBusy = work === "clear" ? partition.isClearing : partition.recount !== null;
        if (!isBusy) partitions.delete(partition);
      }
      if (partitions.size > 0) return true;
      this.#pending?.ended.push(settling);
      changeSet.answer(op, answer);
      return false;
    });
  }

  /** Sends the answers once the commit is durable. No turn is decided while an errand runs. */
  async #answer(
    turn: Turn,
    requests: readonly NumberedRequest[],
    { commit, full }: { readonly commit: Commit | null; readonly full: boolean },
  ): Promise<void> {
    // Read the counts now: the next turn changes them before these answers are sent.
    const report = this.#reportOf(turn);
    const synced = commit?.synced ?? null;
    if (synced === null) {
      await this.#runErrands(turn, requests);
      this.#report(report, commit, full);
      this.#pending = null;
      return;
    }
    const answering = synced.then(async () => {
      // The next opening looks up the outcome of this turn.
      if (this.#hasFailed) return;
      await this.#runErrands(turn, requests);
      this.#report(report, commit, full);
      this.#pending = null;
      this.#answering = null;
    });
    this.#answering = answering;
    // The rejection is handled where `#answering` is awaited.
    answering.catch(() => undefined);
    if (requests.some((request) => operationOf(request).errand !== undefined)) await answering;
  }

  async #runErrands({ changeSet }: Turn, requests: readonly NumberedRequest[]): Promise<void> {
    for (const request of requests) {
      const { errand } = operationOf(request);
      if (errand === undefined) continue;
      const outcome = errand(this.#options.backend, request).catch((cause: unknown) => {
        if (isFull(cause)) return fullFailure;
        throw cause;
      });
      changeSet.answer(request.op, await outcome);
    }
  }

  #reportOf({ changeSet, memory, full: refusing }: Turn): Omit<Report, "commit" | "full"> {
    const { answers, granted, events, sent, touched } = changeSet;
    const counts = [...touched].map((partition) => {
      const groupsBlocked = memory.groups.get(partitionSlot(partition.slot))?.blockedCount;
      return { ...partition.counts(), ...(groupsBlocked !== undefined && { groupsBlocked }) };
    });
    const outbox = [...sent].map((targetShard) => ({
      targetShard,
      counts: memory.outbox.counts(targetShard),
    }));
    const { size: receipts } = memory.receipts;
    return { answers, granted, counts, events, outbox, receipts, refusing };
  }

  #report(report: Omit<Report, "commit" | "full">, commit: Commit | null, full: boolean): void {
    const { answers, granted, counts } = report;
    const isNothing = answers.length + granted.length + counts.length === 0;
    if (isNothing && commit === null && !full) return;
    if (commit === null) {
      this.#options.report({ ...report, commit, full });
      return;
    }
    const seconds = (this.#options.clock.precise() - commit.begunAt) / 1_000;
    this.#options.report({ ...report, commit: { ...commit.report, seconds }, full });
  }
}

function slotsLeft({ partitions }: Settling): number[] {
  return [...partitions].map(({ slot }) => slot);
}

function isFull(cause: unknown): boolean {
  return cause instanceof StoreError && cause.fault === "full";
}
