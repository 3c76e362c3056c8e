// One shard: the partitions of one store. It takes all that waits, runs a turn, commits
// once, and answers when the commit is synced. While it waits for that, the next turn may
// be decided; it is committed only behind the answers of the one before.

import type { Backend } from "../../stores/backend.ts";
import type { Pause } from "../../stores/queue.ts";
import {
  noFacts,
  SpoiltItems,
  StoreError,
  type TurnRecord,
  type Written,
} from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { assert } from "../assert.ts";
import type { Clock, Timer } from "../clock.ts";
import { fullFailure } from "../errors.ts";
import { kindOf, type NumberedRequest } from "../kinds.ts";
import { limits, type TurnLimits } from "../limits.ts";
import type { CommitReport, Opened, PartitionSettings, Report } from "../messages.ts";
import { type Random, systemRandom } from "../random.ts";
import { Draft } from "./draft.ts";
import { History, TurnHistory } from "./history.ts";
import { Memory } from "./memory.ts";
import { beginRecount, setCountsRight } from "./recount.ts";
import { leaseKeysOf } from "./repeated.ts";
import { nextDue } from "./sweep.ts";
import { decide, refuseChanges, wants } from "./turn.ts";
import type { Settling, Turn } from "./turn-context.ts";

export interface ShardOptions {
  readonly shard: number;
  readonly backend: Backend;
  readonly clock: Clock;
  readonly limits: TurnLimits;
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
  /** Default that of the machine. */
  readonly random?: Random;
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

/** A commit of which the sync may still run. */
interface Commit extends Written {
  readonly report: Omit<CommitReport, "seconds">;
  /** `precise` time. */
  readonly begunAt: number;
}

/** How a turn's commit ended; unless it was written, what had been decided is void. */
type Committed =
  | { readonly is: "written"; readonly commit: Commit | null }
  | { readonly is: "full" }
  | { readonly is: "spoilt"; readonly items: SpoiltItems["items"] };

export class Shard {
  readonly #options: ShardOptions;
  readonly #settings = new Map<number, PartitionSettings>();
  readonly #pauses = new Map<number, Pause>();
  readonly #grants = new Map<number, readonly number[]>();
  readonly #settling: Settling[] = [];
  readonly #history: History;
  #memory: Memory;
  #inbox: NumberedRequest[] = [];
  /** Whether it was told of its partitions since it opened. */
  #isConfigured = false;
  #running = false;
  #stopped = false;
  #hasFailed = false;
  #full = false;
  /** When a store that was full is asked again, however busy the shard is. */
  #askForRoomAt = 0;
  /** Until then what is due waits: the last turn found no room even for that. */
  #pausedUntil = 0;
  #wake: Timer | null = null;
  #tidy: Timer | null = null;
  #idle: (() => void) | null = null;
  /** The answers of a turn whose commit is being synced. */
  #answering: Promise<void> | null = null;
  #arrived: (() => void) | null = null;
  /** The last request that was decided. */
  #opLast: number;
  /** Refusals of turns that had nothing to commit; the next commit records them too. */
  #unrecorded: readonly number[] = [];

  private constructor(options: ShardOptions, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#opLast = memory.lastTurn.opLast;
    this.#history = new History(options.limits.historyBytes, options.clock.now());
  }

  /** Reads the store. Nothing happens by itself until the first `submit`. */
  static async open(options: ShardOptions): Promise<{ shard: Shard; opened: Opened }> {
    const { store, catalog, upkeep } = options.backend;
    const { random = systemRandom } = options;
    const { memory, image } = await Memory.load(options.shard, store, { random });
    // However the machine's clock was set since: what is written is not in the future.
    options.clock.raise(memory.lastTurn.at);
    const miscounted = await setCountsRight(upkeep, memory);
    const opened: Opened = {
      tags: memory.epochs.text,
      catalog: await catalog.load(),
      counts: [...memory.partitions.values()].map((partition) => partition.counts()),
      outbox: memory.outbox.counts(),
      passed: memory.passed(options.shard),
      lostCommits: options.backend.lostCommits ?? 0,
      holdings: [...memory.partitions.values()].flatMap(({ slot, owner, itemCount, asideCount }) =>
        itemCount + asideCount > 0 ? [{ slot, owner, count: itemCount + asideCount }] : [],
      ),
      at: memory.lastTurn.at,
      opLast: memory.lastTurn.opLast,
      refused: image.turns.flatMap(({ refused }) => refused),
      leaseKeys: leaseKeysOf(memory.receipts),
      receipts: memory.receipts.size,
      tasks: image.tasks,
      quarantined: image.quarantinedCount,
      miscounted,
      full: upkeep.size().full,
    };
    const shard = new Shard(options, memory);
    shard.#full = opened.full;
    return { shard, opened };
  }

  submit(requests: readonly NumberedRequest[]): void {
    if (this.#stopped) return;
    for (const request of requests) this.#inbox.push(request);
    this.#arrived?.();
    this.#pump();
  }

  /**
   * Finishes the turn that runs and closes the store; requests that came too late stay unanswered.
   * `false`: the turn failed.
   */
  async close(): Promise<boolean> {
    this.#stopped = true;
    this.#wake?.cancel();
    this.#tidy?.cancel();
    if (this.#running) await new Promise<void>((resolve) => (this.#idle = resolve));
    await this.#options.backend.store.close();
    return !this.#hasFailed;
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
    this.#hasFailed = true;
    this.#idle?.();
    this.#options.fail(cause);
  }

  async #run(): Promise<void> {
    do {
      const requests = this.#inbox;
      this.#inbox = [];
      await this.#turn(requests);
      await this.#options.backend.upkeep.relieve();
      await this.#askForRoom();
      if (this.#inbox.length === 0) await this.#answeredOrAsked();
    } while (!this.#stopped && this.#inbox.length > 0);
    await this.#answering;
  }

  /** Until the turn before is answered or requests are there, of which the next can be decided. */
  async #answeredOrAsked(): Promise<void> {
    if (this.#answering === null) return;
    const asked = new Promise<void>((resolve) => (this.#arrived = resolve));
    await Promise.race([this.#answering, asked]);
    this.#arrived = null;
  }

  async #askForRoom(): Promise<void> {
    const { backend, clock } = this.#options;
    if (!this.#full || clock.machine.now() < this.#askForRoomAt) return;
    await backend.upkeep.tidy();
    // What waits for its sync was decided without room, and would be told after it.
    await this.#answering;
    if (!backend.upkeep.size().full) this.#tellOfRoom();
    this.#askForRoomAt = clock.machine.now() + idleMs;
  }

  /** Until the next request or instant. */
  #rest(): void {
    this.#running = false;
    this.#idle?.();
    if (this.#stopped) return;
    const { clock } = this.#options;
    const { machine } = clock;
    const due = nextDue(this.#memory, this.#options.limits, clock.now());
    const wake = (): void => this.#pump();
    if (due <= clock.now() && this.#pausedUntil > machine.now()) {
      this.#wake = machine.at(this.#pausedUntil, wake);
    } else if (due < Number.POSITIVE_INFINITY) {
      // Work left over waits for the events at hand, so that requests come between its pieces.
      this.#wake = clock.at(due, wake);
    }
    this.#tidy = machine.at(machine.now() + idleMs, () => this.#tidyUp());
  }

  #tidyUp(): void {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const { backend, clock } = this.#options;
    const { machine } = clock;
    backend.upkeep.tidy().then(
      (more) => {
        this.#running = false;
        this.#idle?.();
        if (this.#stopped) return;
        if (this.#full && !backend.upkeep.size().full) this.#tellOfRoom();
        if (this.#inbox.length > 0) this.#pump();
        else if (more) this.#tidy = machine.at(machine.now(), () => this.#tidyUp());
        else if (this.#full) this.#tidy = machine.at(machine.now() + idleMs, () => this.#tidyUp());
      },
      (cause) => this.#fail(cause),
    );
  }

  /** At once: there may be no turn for long. */
  #tellOfRoom(): void {
    this.#full = false;
    const receipts = this.#memory.receipts.size;
    const told = { answers: [], counts: [], events: [], outbox: [], receipts };
    this.#options.report({ ...told, commit: null, full: false, refusing: false });
  }

  async #turn(requests: readonly NumberedRequest[]): Promise<void> {
    // Before all else: an item whose partition has no settings would be taken for an orphan.
    for (const request of requests) {
      if (request.kind === "configure") this.#isConfigured = true;
      else assert(this.#isConfigured, "a shard was asked before it knew its partitions");
      if (request.kind === "advance") this.#options.clock.raise(request.at);
    }
    const counting = [...this.#memory.recounting].map(({ slot }) => slot);
    const { machine } = this.#options.clock;
    const wasPaused = machine.now() < this.#pausedUntil;
    let full = false;
    let isStill = wasPaused;
    let turn = await this.#decide(requests, isStill);
    let commit = await this.#commit(turn, requests);
    const spoilt: SpoiltItems["items"][number][] = [];
    while (commit.is !== "written") {
      if (commit.is === "full" && full && isStill) break;
      // Nothing was written, and what was decided is void: decide again from what is stored,
      // without the requests that only add to it, or knowing of every damaged item met so far.
      await this.#reload(counting, turn.draft);
      if (commit.is === "spoilt") spoilt.push(...commit.items);
      else {
        // At last without what the clock makes happen: it may be that alone which finds none.
        isStill ||= full;
        full = true;
        this.#full = true;
        this.#askForRoomAt = machine.now() + idleMs;
      }
      this.#memory.spoil(spoilt);
      turn = await this.#decide(requests, isStill);
      commit = await this.#commit(turn, requests);
    }
    if (commit.is !== "written") {
      // Not even what makes room finds any.
      await this.#reload(counting, turn.draft);
      const { clock } = this.#options;
      const moment = { now: clock.now(), machineNow: clock.machine.now() };
      const { answers } = turn.draft;
      turn = this.#context(noFacts, new Map(), { ...moment, isStill });
      refuseChanges(turn, requests, answers);
      this.#noteRefused(turn.draft);
    }
    if (turn.draft.history !== null) this.#history.keep(turn.draft.history);
    this.#keepGrants(turn.draft);
    const written = commit.is === "written" ? commit.commit : null;
    const isIdle = written === null && requests.length === 0;
    if (full && !wasPaused && (commit.is !== "written" || isStill || isIdle)) {
      this.#pausedUntil = machine.now() + noRoomMs;
    }
    for (const settling of turn.settling) this.#settling.push(settling);
    this.#settle(turn);
    await this.#answer(turn, requests, { commit: written, full });
  }

  /** One read, then the decision. */
  async #decide(requests: readonly NumberedRequest[], isStill: boolean): Promise<Turn> {
    const { backend, clock } = this.#options;
    const now = clock.now();
    const scene = {
      memory: this.#memory,
      now,
      machineNow: clock.machine.now(),
      limits: this.#limits,
    };
    const asking = wants(scene, requests);
    const asked = asking.wants;
    const facts = asked === null ? noFacts : await backend.store.read(asked);
    // A deadline may have passed while the store was read.
    const machineNow = clock.machine.now();
    const turn = this.#context(facts, asking.named, { now, machineNow, isStill });
    decide(turn, requests);
    return turn;
  }

  /** What moves is written anew, and a full store has little room for that. */
  get #limits(): TurnLimits {
    const { limits: usual } = this.#options;
    if (!this.#full) return usual;
    const turnBytesMax = Math.min(usual.turnBytesMax, limits.fullBytesMax);
    return { ...usual, turnBytesMax };
  }

  #context(
    facts: Turn["facts"],
    named: Turn["named"],
    moment: Pick<Turn, "now" | "machineNow" | "isStill">,
  ): Turn {
    const { shard, renderLeased } = this.#options;
    return {
      shard,
      renderLeased,
      limits: this.#limits,
      memory: this.#memory,
      facts,
      named,
      draft: new Draft(this.#history.isKept ? new TurnHistory(moment.now) : null),
      history: this.#history,
      ...moment,
      stamp: this.#options.clock.stamp(),
      settings: this.#settings,
      pauses: this.#pauses,
      grants: this.#grants,
      full: this.#full,
      settling: [],
    };
  }

  async #commit(
    { memory, draft, now, stamp, shard }: Turn,
    requests: readonly NumberedRequest[],
  ): Promise<Committed> {
    // What was decided on a commit that is lost is lost with it.
    await this.#answering;
    const refused = draft.refused();
    // Also where nothing is committed: a number that was decided must never be given again.
    this.#opLast = requests.at(-1)?.op ?? this.#opLast;
    if (draft.isEmpty) {
      this.#noteRefused(draft);
      return { is: "written", commit: null };
    }
    const { backend, clock } = this.#options;
    if (draft.sent.size > 0) {
      draft.receive.push({ sourceShard: shard, outboundSeq: memory.outbox.seqLast });
    }
    const record: TurnRecord = {
      turn: memory.lastTurn.turn + 1,
      at: now,
      opLast: this.#opLast,
      refused: [...this.#unrecorded, ...refused],
    };
    const begunAt = clock.precise();
    let written: Written;
    try {
      const tags = memory.isEpochNew ? memory.epochs.text : null;
      written = await backend.store.commit(draft.changes(record, tags));
    } catch (cause) {
      if (cause instanceof SpoiltItems) return { is: "spoilt", items: cause.items };
      if (isFull(cause)) return { is: "full" };
      throw cause;
    }
    memory.lastTurn = record;
    memory.isEpochNew = false;
    for (const receipt of draft.receipts.values()) memory.receipts.add(receipt, record);
    memory.receipts.forget(draft.forgetTurn);
    this.#unrecorded = [];
    for (const partition of draft.tallied) partition.committed(stamp);
    await this.#options.observe?.(memory);
    const report = {
      items: draft.itemCount,
      quarantined: draft.quarantinedCount,
      size: record.turn % sizeEvery === 0 ? backend.upkeep.size() : null,
    };
    return { is: "written", commit: { ...written, report, begunAt } };
  }

  /** For the next record: until then nothing else tells that they had no effect. */
  #noteRefused(draft: Draft): void {
    this.#unrecorded = [...this.#unrecorded, ...draft.refused()].slice(-refusalsMax);
  }

  /** `counting`: slots whose partitions were being counted when the turn began. */
  async #reload(counting: readonly number[], draft: Draft): Promise<void> {
    const { shard, backend } = this.#options;
    const { receipts, epochs, partitions, outbox } = this.#memory;
    const settings = this.#settings.values();
    const { headsBefore, adopted } = draft;
    const kept = { receipts, epochs, former: { partitions, outbox, headsBefore, adopted } };
    const { memory } = await Memory.load(shard, backend.store, { settings, ...kept });
    // Damage is told at a start: one that counts it takes the place of this shard.
    assert(memory.emptied.length === 0, "a lease holds no item");
    for (const slot of counting) beginRecount(memory, memory.partition(slot));
    this.#memory = memory;
    for (const settling of this.#settling) {
      settling.partitions = new Set(
        [...settling.partitions].map(({ slot }) => memory.partition(slot)),
      );
      // What was counted went with the memory.
      if (settling.work === "clear") continue;
      for (const partition of settling.partitions) beginRecount(memory, partition);
    }
  }

  #keepGrants({ grants }: Draft): void {
    for (const [op, seqs] of grants) {
      if (seqs === null) this.#grants.delete(op);
      else this.#grants.set(op, seqs);
    }
    for (const op of this.#grants.keys()) {
      if (this.#grants.size <= grantsMax) break;
      this.#grants.delete(op);
    }
  }

  /**
   * Answers the clears that have nothing left to remove, and the recounts that are through. A start
   * does not wait for strays where there is no room to set them aside.
   */
  #settle({ draft, isStill }: Turn): void {
    for (let index = this.#settling.length - 1; index >= 0; index -= 1) {
      const { op, work, answer, partitions } = this.#settling[index] as Settling;
      for (const partition of partitions) {
        const isBusy = work === "clear" ? partition.isClearing : partition.recount !== null;
        if (!isBusy) partitions.delete(partition);
      }
      const isRefused = isStill && partitions.values().some(({ strayBelow }) => strayBelow > 0);
      if (partitions.size > 0 && !isRefused) continue;
      this.#settling.splice(index, 1);
      draft.answer(op, isRefused ? fullFailure : answer);
    }
  }

  /** Lets the answers out as soon as what they say is on the disk. Nothing is decided beside an errand. */
  async #answer(
    turn: Turn,
    requests: readonly NumberedRequest[],
    { commit, full }: { readonly commit: Commit | null; readonly full: boolean },
  ): Promise<void> {
    // Before the next turn is decided: it changes what is told here.
    const told = this.#told(turn);
    const synced = commit?.synced ?? null;
    if (synced === null) {
      await this.#runErrands(turn, requests);
      this.#report(told, commit, full);
      return;
    }
    const answering = synced.then(async () => {
      await this.#runErrands(turn, requests);
      this.#answering = null;
      this.#report(told, commit, full);
    });
    this.#answering = answering;
    // The next turn hears of it, when it has been decided.
    answering.catch(() => undefined);
    if (requests.some((request) => kindOf(request).errand !== undefined)) await answering;
  }

  async #runErrands({ draft }: Turn, requests: readonly NumberedRequest[]): Promise<void> {
    for (const request of requests) {
      const { errand } = kindOf(request);
      if (errand === undefined) continue;
      const outcome = errand(this.#options.backend, request).catch((cause: unknown) => {
        if (isFull(cause)) return fullFailure;
        throw cause;
      });
      draft.answer(request.op, await outcome);
    }
  }

  #told({ draft, memory, full: refusing }: Turn): Omit<Report, "commit" | "full"> {
    const { answers, events, sent, touched } = draft;
    const counts = [...touched].map((partition) => partition.counts());
    const outbox = [...sent].map((targetShard) => ({
      targetShard,
      counts: memory.outbox.counts(targetShard),
    }));
    return { answers, counts, events, outbox, receipts: memory.receipts.size, refusing };
  }

  #report(told: Omit<Report, "commit" | "full">, commit: Commit | null, full: boolean): void {
    if (told.answers.length + told.counts.length === 0 && commit === null && !full) return;
    if (commit === null) {
      this.#options.report({ ...told, commit, full });
      return;
    }
    const seconds = (this.#options.clock.precise() - commit.begunAt) / 1_000;
    this.#options.report({ ...told, commit: { ...commit.report, seconds }, full });
  }
}

function isFull(cause: unknown): boolean {
  return cause instanceof StoreError && cause.fault === "full";
}
