// Checks every answer of a simulated world against the promises. It sees calls, answers and the
// clock, but nothing inside the engine, so it cannot share a mistake with it. It checks the
// invariants I1 to I13, I15, I17, I19, I20, I22, and I24 to I29 of the report. I16 is in `repeats.ts`,
// I18 in `explanations.ts`, I21 in `histories.ts` and `finds.ts`, and I23 in `advances.ts`.

import type { Payload } from "../../stores/item.ts";
import type {
  Cancelled,
  Extended,
  GroupInfo,
  LeasedItem,
  Produced,
  RetryItem,
  Transacted,
} from "../model/api.ts";
import { pending } from "../model/duration.ts";
import { parseRate } from "../model/lease-rate.ts";
import type { Past } from "../model/provenance.ts";
import { parseBackoff } from "../model/retry-backoff.ts";
import type { Ending, Leased } from "./bundle.ts";
import type { ListedInGroup } from "./group-list-rule.ts";
import type { GroupGrant } from "./group-order-rule.ts";
import { type BrokenRule, GroupRules } from "./group-rules.ts";
import type { GroupSettingsCall, GroupSettingsChange } from "./group-settings-known.ts";
import type { OpenGroups } from "./group-turn-rule.ts";
import type { Parameters, QueueParameters } from "./parameters.ts";
import { Pauses, type Period } from "./pauses.ts";
import { PriorityRule } from "./priority-rule.ts";
import type { Situations } from "./situations.ts";
import { type Tally, tallyOf } from "./tally.ts";
import {
  comeBack,
  type Grant,
  handReason,
  type Instant,
  type ItemText,
  isCertain,
  isConcerned,
  isHeld,
  mayBeAbsent,
  mayHaveDied,
  type ProduceCall,
  settingsIn,
  type TaskCall,
  type TaskPlan,
  type Tracked,
  trackedOf,
} from "./tracked.ts";
import { notFull, overfilled } from "./waiting-rule.ts";

export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}

/** When an answer arrived; `wasLost`: an earlier one was lost, so the call may be long done. */
interface Answered {
  readonly now: number;
  readonly wasLost: boolean;
}

export interface CancelTarget {
  readonly id: string;
  readonly payload?: Payload;
}

type CancelCall = readonly {
  readonly id: string;
  readonly item: Tracked;
  /** It was certainly leased with this id, and no other call was in flight. */
  readonly wasHeld: boolean;
}[];

type Verb = "complete" | "retry" | "extend" | "release";

/** The parts of a transact. */
export interface TransactPlan {
  readonly finishes: readonly {
    readonly verb: "complete" | "retry";
    readonly queue: string;
    readonly where: { readonly partition: number; readonly ids: readonly string[] };
    readonly how: readonly RetryItem[];
  }[];
  readonly outputs: readonly { readonly queue: string; readonly texts: readonly ItemText[] }[];
}

export interface TransactCall {
  readonly finishes: readonly FinishCall[];
  readonly outputs: readonly ProduceCall[];
  /** The queues of the items to complete, when the call began. */
  readonly places: ReadonlyMap<Tracked, QueueParameters>;
  isDoubted: boolean;
}

/** A call on leased items. `items`: those of its ids that the auditor knows. */
export interface FinishCall {
  readonly verb: Verb;
  readonly partition: number;
  readonly ids: readonly string[];
  readonly items: readonly Tracked[];
  /** Its number in the order of all calls and answers. */
  readonly begun: number;
  readonly begunAt: number;
  /** For a retry, by item. */
  readonly how: readonly RetryItem[];
  /** For an extend; `null` = the timeout of the queue. */
  readonly leaseTimeoutMs: number | null;
  /** For an extend: the grants of its items when it began. */
  readonly grants: readonly Grant[];
}

/** A clear, or a delete of the whole queue. */
export interface ClearCall {
  readonly queue: string;
  readonly isDelete: boolean;
  readonly takesLeased: boolean;
  /** Items that it must remove if it succeeds. */
  readonly sure: readonly Tracked[];
  /** Items that it may remove, with the id of their lease if they were leased. */
  readonly doubted: Map<Tracked, string | null>;
}

/** A lease without an answer: its granted items return to the tail, and no client sees them. */
interface UnansweredLease {
  readonly queue: string;
  /** How many items it may still have moved. */
  left: number;
  /** In the order of all calls: it cannot have had items that were produced later. */
  before: number;
}

/** The request of an answered lease. */
export interface LeaseCall {
  /** Its number in the order of all calls and answers. */
  readonly begun: number;
  readonly begunAt: number;
  readonly priorityMin: number;
  readonly leaseTimeoutMs: number | null;
  readonly clientId: string;
  /** The number of faults when it began: the process that granted it may be dead. */
  readonly faults: number;
  /** The pause of the queue when it began. */
  readonly paused: Period | null;
}

/** The death of an item that was found in a dead queue; `attempts`: as the item records. */
interface Death {
  readonly at: number;
  readonly attempts: number | undefined;
}

/** Items of a queue that were granted at the same instant. */
interface RateGrant {
  readonly at: number;
  readonly count: number;
}

/** The place of an item in a listing of everything. */
export interface Sighting {
  readonly queue: string;
  readonly partition: number;
  readonly isLeased: boolean;
  readonly payload: Uint8Array;
  /** How often it was redriven from the dead queue. */
  readonly redriven: number;
}

/** The latest produce whose items a partition has granted, and by produce the last item. */
interface Offered {
  /** When the last item was granted. */
  at: number;
  begun: number;
  readonly indexes: Map<ProduceCall, number>;
  /** The state without the grants of that instant. */
  before: Pick<Offered, "begun" | "indexes">;
}

/** Items expire in pieces and after faults, but at most this late. */
const overdueMs = 20_000;
/** Refusals of a transact that do not depend on its ids. */
const elsewhere =
  /no such queue|was deleted|is paused|is full|different shards|not a valid partition/;
const utf8 = new TextDecoder();

export class Auditor {
  /** The pauses that are certain, during which nothing may be granted or produced. */
  readonly pauses = new Pauses();
  readonly #situations: Situations;
  readonly #queues: ReadonlyMap<string, QueueParameters>;
  readonly #items = new Map<string, Tracked>();
  readonly #produces: ProduceCall[] = [];
  readonly #transacts: TransactCall[] = [];
  /** By id, the number of calls to finish it. */
  readonly #finishCounts = new Map<string, number>();
  /** Every id that a lease ever returned. */
  readonly #ids = new Map<string, Tracked>();
  /** By id, when a lease was answered after it had lapsed, in the order of calls and answers. */
  readonly #lapsed = new Map<string, number>();
  readonly #priorityRule = new PriorityRule();
  readonly #groups: GroupRules;
  /** By queue, partition and priority. */
  readonly #offered = new Map<string, Offered>();
  readonly #hasPriorities: boolean;
  readonly #sweepsWhole: boolean;
  readonly #clears: ClearCall[] = [];
  /** By queue, when its last clear was answered. */
  readonly #clearedAt = new Map<string, number>();
  /** With several nodes, answers of the same instant may overtake each other. */
  readonly #hasNodes: boolean;
  #stamp = 0;
  #damagedCount = 0;
  readonly #unansweredLeases: UnansweredLease[] = [];
  /** Tasks that may still begin. */
  readonly #tasks: TaskCall[] = [];
  /** The grants of this process, by queue. */
  readonly #rateGrants = new Map<string, RateGrant[]>();
  /** When the present owner took ownership; infinite = a new owner may follow at any time. */
  #ownedSince = Number.NEGATIVE_INFINITY;
  /** In the order of calls: when the database last lost acknowledged commits; 0 = never. */
  #wentBackAt = 0;
  /** The engine time of that loss. */
  #lostUntil = Number.NEGATIVE_INFINITY;
  #isUnlimited = false;
  #areGroupsOpen = false;
  #faults = 0;
  #unansweredCommits = 0;

  constructor(parameters: Parameters, situations: Situations, { hasNodes = false } = {}) {
    this.#hasNodes = hasNodes;
    this.#situations = situations;
    this.#queues = new Map(parameters.queues.map((queue) => [queue.name, queue]));
    this.#hasPriorities = parameters.hasPriorities === true;
    this.#sweepsWhole = parameters.bounds.sweepItemsMax >= 1_000;
    this.#groups = new GroupRules({
      ...{ parameters, situations, hasNodes },
      items: () => this.#items.values(),
      faults: () => this.#faults,
    });
  }

  #instant(at: number): Instant {
    return { stamp: this.#stamp, at };
  }

  #require(broken: BrokenRule | null): void {
    if (broken !== null) throw new Violation(...broken);
  }

  /** Items that were damaged; the engine counts them until they are quarantined. */
  get damagedCount(): number {
    return this.#damagedCount;
  }

  /** The number of the next call or answer, in their order. */
  get begun(): number {
    return this.#stamp;
  }

  get faults(): number {
    return this.#faults;
  }

  itemOf(payload: Payload): Tracked | undefined {
    const text = typeof payload === "string" ? payload : utf8.decode(payload);
    return this.#items.get(text.split("|", 1)[0] ?? "");
  }

  #queue(name: string): QueueParameters {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new Error(`the world has no queue ${name}`);
    return queue;
  }

  /**
   * Something failed: a grant may be lost, and the order of items with it. `applies`: the failed
   * commit was written, so its answers may be reported by the next opening.
   */
  faulted({ applies = false } = {}): void {
    this.#faults += 1;
    if (applies) this.#unansweredCommits += 1;
    this.#groups.faulted();
    for (const item of this.#items.values()) {
      item.isOrdered = false;
      // A shard that was opened again does not know the client.
      if (item.grant !== null) item.grant.client = null;
    }
  }

  /** The client disconnected, or the request timed out: a grant in flight is withdrawn. */
  leaseUnanswered(
    queue: string,
    { batchSize, begun, begunAt }: Record<"batchSize" | "begun" | "begunAt", number>,
  ): void {
    this.#groups.leaseUnanswered(queue, begun);
    this.#unansweredLeases.push({ queue, left: batchSize, before: Number.POSITIVE_INFINITY });
    if (this.#lastClearOf(queue) < begunAt) return;
    // Another node may have cleared the queue while the grant was in flight.
    for (const item of this.#items.values()) {
      if (item.end === "cleared" && item.place.name === queue) comeBack(item);
    }
  }

  /**
   * The commit of a grant stalls: the lease may lapse before its items are released, and then the
   * attempt counts.
   */
  mayHaveLapsed(queue: string): void {
    for (const item of this.#items.values()) {
      if (placesOf(item).includes(queue)) item.faultsSeen -= 1;
    }
  }

  /** No grant is in flight any more. */
  rested(now: number): void {
    this.#stamp += 1;
    for (const one of this.#unansweredLeases) one.before = Math.min(one.before, this.#stamp);
    this.#groups.rested(this.#instant(now));
  }

  /**
   * The database has lost its latest commits: its state of these items is older than the answers,
   * or gone. Their ids must never be reused for other items.
   */
  wentBack(at: number, isOther: (key: string) => boolean, left: ReadonlyMap<string, string>) {
    const sums = { lost: 0, again: 0 };
    this.faulted({ applies: true });
    this.tookOver(Number.POSITIVE_INFINITY);
    this.#groups.wentBack();
    this.#wentBackAt = this.#stamp;
    this.#lostUntil = at;
    for (const item of this.#items.values()) {
      const isSure = left.has(item.key) || item.end !== null;
      if (isSure && !isOther(item.key)) continue;
      if (!left.has(item.key) && isCertain(item)) sums.lost += 1;
      if (item.end === "completed") sums.again += 1;
      item.wentBackAt = this.#stamp;
      // Its first id is lost with it: it gets another one when it is written again or arrives.
      if (left.get(item.key)?.includes("/out/") ?? true) item.origin = null;
      comeBack(item);
      item.grant = null;
      item.attempts = 0;
      item.faultsSeen = Number.NEGATIVE_INFINITY;
      item.notBefore = 0;
      item.rejected = "maybe";
      item.redriven = 0;
      item.place = this.#queue(item.produce.queue);
    }
    return sums;
  }

  damaged(item: Tracked, now: number): void {
    if (item.damagedAt === null) this.#damagedCount += 1;
    item.damagedAt ??= now;
  }

  // produce ---------------------------------------------------------------

  produceBegun(queue: string, texts: readonly ItemText[], now: number): ProduceCall {
    this.#stamp += 1;
    const call: ProduceCall = {
      queue,
      begun: this.#stamp,
      answered: 0,
      begunAt: now,
      answeredAt: 0,
      outcome: "open",
      unansweredCommits: this.#unansweredCommits,
      paused: this.pauses.since(queue).produce,
      items: [],
    };
    for (const text of texts) {
      const item = trackedOf(text, call, this.#queue(queue));
      item.faultsSeen = this.#faults;
      item.isOrdered = text.enqueueAt === null;
      item.mayBeCleared = this.isBeingCleared(queue);
      for (const task of this.#tasks) concern(item, task);
      call.items.push(item);
      this.#items.set(text.key, item);
    }
    this.#produces.push(call);
    return call;
  }

  /** An answer was lost, and the call is repeated with the same key. */
  produceDoubted(call: ProduceCall): void {
    if (call.outcome === "open") call.outcome = "unknown";
  }

  /** `null` = no answer will ever arrive. */
  produceEnded(call: ProduceCall, ending: Ending<Produced> | null, now: number): void {
    this.#stamp += 1;
    call.answered = this.#stamp;
    call.answeredAt = now;
    if (ending === null) call.outcome = "unknown";
    else call.outcome = ending.ok ? "written" : "not written";
    if (ending?.ok === false) {
      if (call.items.some(({ attempts }) => attempts > 0)) {
        throw new Violation("I8", `a produce whose items were offered was refused; ${ending.code}`);
      }
      if (ending.code === "empty") this.#situations.reached("a produce is too late");
    }
    if (ending?.ok !== true) return;
    this.#situations.reached("a produce is answered");
    const duplicates = call.items.filter(({ index }) => ending.value.duplicates.includes(index));
    for (const item of duplicates) item.end = "reported as a duplicate";
    const began = { stamp: call.begun, at: call.begunAt };
    for (const item of call.items) this.#groups.produced(item, began, this.#instant(now));
    for (const item of call.items) {
      if (duplicates.includes(item)) this.#checkDuplicate(item);
      else if (item.uniqueKey !== "") this.#checkUnique(item, now);
    }
    // A failed opening may have written it long before the next one reports it.
    const isOfNow = call.unansweredCommits === this.#unansweredCommits && !ending.value.replayed;
    const { produce: period } = this.pauses.since(call.queue);
    const isSince = !this.#hasNodes || period === call.paused;
    if (period !== null && isSince && isOfNow) {
      throw new Violation("I15", `a produce to ${call.queue} was done while it was paused`);
    }
  }

  /** Checks the answer of a call that its queue refuses if it is full. */
  checkWaiting(call: ProduceCall, ending: Ending<Produced> | null, now: number): void {
    const { waitingMax: max } = this.#queue(call.queue);
    if (ending === null) return;
    this.#checkGroupsWaiting(call, ending, now);
    if (max === 0) return;
    const items = this.#items.values();
    if (!ending.ok) {
      if (!ending.message.startsWith("queue is full")) return;
      const reported = notFull(items, call, ending.message, { max, now });
      if (reported !== null) throw new Violation("I15", reported);
      this.#situations.reached("a produce is refused, because its queue is full");
      return;
    }
    // Another node may have granted items, but not answered yet.
    if (this.#hasNodes || this.#isUnlimited || ending.value.replayed) return;
    const mayBeHeld = (item: Tracked) => this.#unansweredLeaseOf(item) !== undefined;
    const reported = overfilled(items, call, { max, now, faults: this.#faults, mayBeHeld });
    if (reported !== null) throw new Violation("I15", reported);
  }

  /** Like `checkWaiting`, for each group. */
  #checkGroupsWaiting(call: ProduceCall, ending: Ending<Produced>, now: number): void {
    const { groupWaitingMax: max = 0 } = this.#queue(call.queue);
    const [, full] =
      (!ending.ok && /^group is full; .* wait in '(.*)' and/.exec(ending.message)) || [];
    if (max === 0 || (!ending.ok && full === undefined)) return;
    const mayBeHeld = (item: Tracked) => this.#unansweredLeaseOf(item) !== undefined;
    for (const [group, items] of Map.groupBy(call.items, (item) => item.group)) {
      if (full !== undefined && full !== group) continue;
      const others = [...this.#items.values()].filter((item) => item.group === group);
      const own = { ...call, items };
      if (!ending.ok) {
        const reported = notFull(others, own, ending.message, { max, now });
        if (reported !== null) throw new Violation("I27", reported);
        this.#situations.reached("a produce is refused, because a group is full");
      } else if (!(this.#hasNodes || this.#areGroupsOpen || ending.value.replayed)) {
        const reported = overfilled(others, own, { max, now, faults: this.#faults, mayBeHeld });
        if (reported !== null) throw new Violation("I27", reported);
      }
    }
  }

  /** Other items of the queue with the same unique key that were written, or may have been. */
  #rivals({ uniqueKey, produce, key }: Tracked): Tracked[] {
    return [...this.#items.values()].filter(
      (other) =>
        other.key !== key &&
        other.uniqueKey === uniqueKey &&
        other.produce.queue === produce.queue &&
        other.produce.outcome !== "not written" &&
        other.end !== "reported as a duplicate",
    );
  }

  /** Whether the item certainly has its unique key, in a queue whose keys end with their items. */
  #isUnfinished(item: Tracked, now: number): boolean {
    return (
      isCertain(item) &&
      item.place.name === item.produce.queue &&
      item.leftAt === null &&
      item.open === 0 &&
      item.wentBackAt === 0 &&
      !mayHaveDied(item, now, this.#faults)
    );
  }

  /** A duplicate was not written, because another item with its key was written recently. */
  #checkDuplicate(item: Tracked): void {
    const { key, uniqueKey, produce } = item;
    if (item.attempts > 0) {
      throw new Violation("I17", `${key} was offered, but reported as a duplicate`);
    }
    const { uniqueForMs } = this.#queue(produce.queue);
    const rivals = this.#rivals(item);
    const isExplained =
      uniqueKey !== "" &&
      rivals.some(
        (other) =>
          other.produce.outcome !== "written" ||
          (uniqueForMs === pending
            ? other.leftAt === null || other.leftAt >= produce.begun
            : other.produce.answeredAt + uniqueForMs > produce.begunAt),
      );
    if (!isExplained) {
      throw new Violation("I17", `${key} was reported as a duplicate, but of no item`);
    }
    this.#situations.reached("an item is a duplicate");
    if (uniqueForMs === pending)
      this.#situations.reached("an item is a duplicate of a pending one");
    const isFormer = rivals.every(
      (other) =>
        other.produce.outcome === "written" && other.produce.answeredAt <= this.#ownedSince,
    );
    if (this.#hasNodes && isFormer) {
      this.#situations.reached("an item is a duplicate of one that a former owner wrote");
    }
  }

  /** The item was written, so no other one with its key was within the time of the queue. */
  #checkUnique(item: Tracked, now: number): void {
    const { produce, uniqueKey } = item;
    const { uniqueForMs } = this.#queue(produce.queue);
    for (const other of this.#rivals(item)) {
      const { outcome, begun } = other.produce;
      // The database may have lost its key.
      if (outcome !== "written" || begun <= this.#wentBackAt) continue;
      const isApart =
        uniqueForMs === pending
          ? other.produce.answered >= produce.begun || !this.#isUnfinished(other, now)
          : other.produce.answeredAt >= produce.begunAt + uniqueForMs ||
            produce.answeredAt >= other.produce.begunAt + uniqueForMs;
      if (!isApart) {
        const reported = `${item.key} and ${other.key} were both written with the key ${uniqueKey}`;
        throw new Violation("I17", reported);
      }
      const isFreed = uniqueForMs === pending && (other.leftAt ?? produce.begun) < produce.begun;
      if (isFreed) this.#situations.reached("a unique key is free once its item is finished");
      this.#situations.reached("a unique key is free again");
    }
  }

  // transact --------------------------------------------------------------

  transactBegun({ finishes, outputs }: TransactPlan, now: number): TransactCall {
    const calls = finishes.map(({ verb, where, how }) =>
      this.finishBegun(verb, where, now, { how }),
    );
    const completed = calls.flatMap(({ verb, items }) => (verb === "complete" ? items : []));
    const call: TransactCall = {
      finishes: calls,
      outputs: outputs.map(({ queue, texts }) => this.produceBegun(queue, texts, now)),
      places: new Map(completed.map((item) => [item, item.place])),
      isDoubted: false,
    };
    for (const item of call.outputs.flatMap(({ items }) => items)) {
      item.isOrdered = false;
      item.isSent = true;
    }
    this.#transacts.push(call);
    return call;
  }

  transactDoubted(call: TransactCall): void {
    for (const finish of call.finishes) this.finishDoubted(finish);
    for (const output of call.outputs) this.produceDoubted(output);
  }

  transactEnded(call: TransactCall, ending: Ending<Transacted> | null, answered: Answered): void {
    call.isDoubted = ending === null;
    for (const [index, output] of call.outputs.entries()) {
      const reported = ending?.ok === true ? ending.value.produced[index] : undefined;
      if (ending?.ok === true && reported?.queue !== output.queue) {
        throw new Violation("I20", `a transact to ${output.queue} reports ${reported?.queue}`);
      }
      const duplicates = reported?.duplicates ?? [];
      const isReplayed = ending?.ok === true && ending.value.replayed;
      const produced =
        ending?.ok === true
          ? { ...ending, value: { replayed: isReplayed, duplicates } }
          : (ending ?? null);
      this.produceEnded(output, produced, answered.now);
      // A refusal does not say which output it is about.
      const isAbout = reported?.delivered ?? call.outputs.length === 1;
      if (isAbout) this.checkWaiting(output, produced, answered.now);
    }
    const isRefused = ending?.ok === false && /^(refused|invalid)$/.test(ending.code);
    const isOfIds = isRefused && !elsewhere.test(ending.message);
    if (isOfIds) this.#checkRefusal(call.finishes, ending.details, answered.now);
    for (const finish of call.finishes) {
      if (isRefused) for (const item of finish.items) item.open -= 1;
      else this.finishEnded(finish, ending, answered);
    }
  }

  /** After a transact without an answer, items are finished if and only if each output exists. */
  #checkTogether(call: TransactCall, now: number): void {
    if (!call.isDoubted) return;
    const isThere = (item: Tracked): boolean =>
      item.attempts > 0 ||
      item.redriven > 0 ||
      item.end === "cancelled" ||
      item.place.name !== item.produce.queue;
    const outputs = call.outputs.flatMap(({ items }) => items);
    const signs = { held: outputs.filter(isThere).map(({ key }) => key), not: [] as string[] };
    for (const item of outputs) if (!isThere(item) && !mayBeAbsent(item)) signs.not.push(item.key);
    for (const { verb, ids } of call.finishes) {
      for (const id of verb === "complete" ? ids : []) {
        const item = this.#ids.get(id);
        if (item === undefined || item.damagedAt !== null || item.mayBeCleared) continue;
        if (item.cancels > 0) continue;
        if (item.tasks.length > 0 || item.wentBackAt > 0) continue;
        const isBack = item.grant?.id !== id || item.place !== call.places.get(item);
        const isGone = item.end === null && this.#finishCounts.get(id) === 1;
        const mayBeDiscarded = item.place.deadQueue === "" && mayHaveDied(item, now, this.#faults);
        if (isBack && this.#finishCounts.get(id) === 1) signs.not.push(item.key);
        else if (!isBack && isGone && !mayBeDiscarded) signs.held.push(item.key);
      }
    }
    if (signs.held.length > 0 && signs.not.length > 0) {
      const reported = `${signs.held.join(" ")} show its effect, ${signs.not.join(" ")} do not`;
      throw new Violation("I20", `a transact was done in part: ${reported}`);
    }
    if (signs.held.length > 0) this.#situations.reached("a transact without an answer took effect");
    if (signs.not.length > 0) {
      this.#situations.reached("a transact without an answer had no effect");
    }
  }

  // lease -----------------------------------------------------------------

  leased({ queue, partition, items, replayed }: Leased, call: LeaseCall, now: number): void {
    const { begunAt, leaseTimeoutMs, clientId, faults, paused } = call;
    this.#stamp += 1;
    const { lease: period } = this.pauses.since(queue);
    const place = this.#queue(queue);
    const groups = {
      open: this.#openGroups(place, { replayed, faults, begun: call.begun, now }),
      grants: [] as GroupGrant[],
    };
    for (const leased of items) {
      if (leased.priority < call.priorityMin) {
        throw new Violation("I24", `a lease from ${call.priorityMin} on got ${leased.priority}`);
      }
      const at = this.#grantedAt(leased, place, leaseTimeoutMs);
      if (at < begunAt || at > now) {
        throw new Violation("I2", `a lease was granted at ${at}, between ${begunAt} and ${now}`);
      }
      // A node may report a grant late.
      const isSince = !this.#hasNodes || period === paused || at > (period?.at ?? now);
      // A replayed answer was granted before.
      if (period !== null && isSince && !replayed) {
        throw new Violation("I15", `${queue} granted a lease while it was paused`);
      }
      // A node that was stopped meanwhile reports it: others may have had the item since.
      const hasLapsed = this.#hasNodes && leased.leaseDeadline <= now;
      if (hasLapsed || this.#isLost(leased, at)) {
        this.#grantedBefore(leased);
        continue;
      }
      const grant = place.grouped
        ? this.#groupGrant(place, leased, { at, begun: call.begun })
        : null;
      const item = this.#granted(place, partition, leased, at);
      if (grant !== null && !replayed) groups.grants.push(grant);
      if (!place.grouped) this.#priorityRule.granted(item, { at, ...call });
      const isKnown = !replayed && faults === this.#faults;
      if (item.grant !== null && isKnown) item.grant.client = clientId;
    }
    if (place.grouped && groups.grants.length > 0) {
      this.#require(this.#groups.leased(place, groups, { priorityMin: call.priorityMin, now }));
      if ((groups.grants[0]?.at ?? 0) > this.#ownedSince)
        this.#require(this.#groups.rated(groups.grants));
    }
    if (this.#isUnlimited) return;
    this.#checkLeasedMax(place, now);
    const [first] = items;
    if (first === undefined || place.leaseRate === "" || replayed) return;
    const at = this.#grantedAt(first, place, leaseTimeoutMs);
    this.#checkLeaseRate(place, { at, count: items.length });
  }

  #grantedAt(
    { payload, leaseDeadline }: LeasedItem,
    place: QueueParameters,
    leaseTimeoutMs: number | null,
  ): number {
    const own = settingsIn(place, this.itemOf(payload)).leaseTimeoutMs;
    return leaseDeadline - (leaseTimeoutMs ?? own);
  }

  /** Groups that were certainly open; none if the grants may be of another opening. */
  #openGroups(
    place: QueueParameters,
    {
      replayed,
      faults,
      begun,
      now,
    }: { replayed: boolean; faults: number; begun: number; now: number },
  ): OpenGroups {
    const isUnsure = replayed || this.#hasNodes || faults !== this.#faults;
    if (!place.grouped || isUnsure || this.isBeingCleared(place.name)) return new Map();
    return this.#groups.open(place, { begun, now });
  }

  /** Checks the order of its group before the grant is noted. */
  #groupGrant(
    place: QueueParameters,
    leased: LeasedItem,
    { at, begun }: Record<"at" | "begun", number>,
  ): GroupGrant | null {
    const item = this.itemOf(leased.payload);
    if (item === undefined || item.end !== null) return null;
    this.#noteRedrive(item, leased.past?.redriven ?? 0, at);
    if (item.place !== place) return null;
    const grant = { item, attempts: leased.attempts, at, begun, answered: this.#stamp };
    this.#require(this.#groups.granted(grant));
    return grant;
  }

  /** A lease found nothing until it timed out, although nothing failed. */
  checkIdle(
    queue: string,
    { begun, faults, priorityMin }: Pick<LeaseCall, "begun" | "faults" | "priorityMin">,
    now: number,
  ): void {
    const place = this.#queue(queue);
    const { leasedMax, leaseRate } = place;
    const isLimited = !this.#isUnlimited && (leasedMax > 0 || leaseRate !== "");
    if (!place.grouped || isLimited || this.pauses.mayBe(queue) || faults !== this.#faults) return;
    if (this.#hasNodes || this.isBeingCleared(queue)) return;
    const group = this.#groups.idle(place, { begun, priorityMin, now });
    if (group === null) return;
    throw new Violation(
      "I28",
      `a lease of ${queue} found nothing, although group '${group}' is open`,
    );
  }

  #checkLeasedMax({ name, leasedMax }: QueueParameters, now: number): void {
    if (leasedMax === 0) return;
    const held = [...this.#items.values()].filter(
      (item) =>
        item.place.name === name &&
        item.open === 0 &&
        item.grant !== null &&
        isHeld(item, item.grant.id, now),
    );
    if (held.length > leasedMax) {
      const reported = `${held.length} items of ${name} are leased, at most ${leasedMax} may be`;
      throw new Violation("I15", reported);
    }
    if (held.length === leasedMax)
      this.#situations.reached("a queue has its maximum of leased items");
  }

  /** Checks the rate over all grants of the same process, however late they are reported. */
  #checkLeaseRate({ name, leaseRate }: QueueParameters, grant: RateGrant): void {
    const rate = parseRate(leaseRate);
    if (rate === null) throw new Error(`the world has no rate ${leaseRate}`);
    if (grant.at <= this.#ownedSince) return;
    const grants = this.#rateGrants.getOrInsertComputed(name, () => []);
    grants.push(grant);
    for (const { at: last } of grants) {
      const within = grants.filter(({ at }) => at <= last && at > last - rate.intervalMs);
      const count = within.reduce((sum, one) => sum + one.count, 0);
      if (count > rate.items) {
        const reported = `${count} items of ${name} were leased until ${last}, its rate is ${leaseRate}`;
        throw new Violation("I15", reported);
      }
      if (count === rate.items) this.#situations.reached("a queue reaches its lease rate");
    }
  }

  /** Queues have no limits any more. */
  limitsLifted(): void {
    this.#isUnlimited = true;
  }

  /** Groups have no limits any more, and dead letters do not close them. */
  groupLimitsLifted(): void {
    this.#areGroupsOpen = true;
    this.#groups.limitsLifted();
  }

  groupBegun(queue: string, group: string | null, change: GroupSettingsChange): GroupSettingsCall {
    this.#stamp += 1;
    return this.#groups.changeBegun(queue, group, change);
  }

  groupEnded(call: GroupSettingsCall, ending: Ending<unknown> | null, now: number): void {
    this.#stamp += 1;
    this.#groups.changeEnded(call, ending, this.#instant(now));
  }

  /** Compares a list of groups with the items that their queue lists. */
  checkGroups(
    queue: string,
    groups: readonly GroupInfo[],
    found: { readonly listed: readonly ListedInGroup[]; readonly now: number },
  ): void {
    if (this.#damagedCount > 0) return;
    this.#require(this.#groups.checkList(this.#queue(queue), groups, found));
  }

  /** A new process starts with empty rate windows. */
  restarted(): void {
    this.#rateGrants.clear();
    this.#groups.restarted(this.#stamp);
    for (const { grant } of this.#items.values()) if (grant !== null) grant.client = null;
  }

  /** A new owner grants now, and starts with empty rate windows. */
  tookOver(now: number): void {
    this.#rateGrants.clear();
    this.#groups.restarted(this.#stamp);
    this.#ownedSince = now;
  }

  tallyOf(place: QueueParameters, now: number): Tally {
    return tallyOf(this.#items.values(), place, {
      ...{ now, faults: this.#faults, isDoubted: this.isBeingCleared(place.name) },
      hasUnanswered: this.#unansweredLeases.some(({ queue }) => queue === place.name),
    });
  }

  /** Whether the grants of the latest interval use up the rate of the queue. */
  isAtRate({ name, leaseRate }: QueueParameters, now: number): boolean {
    const rate = parseRate(leaseRate);
    if (rate === null) return false;
    const grants = this.#rateGrants.get(name) ?? [];
    const within = grants.filter(({ at }) => at > now - rate.intervalMs);
    return within.reduce((sum, { count }) => sum + count, 0) >= rate.items;
  }

  get isUnlimited(): boolean {
    return this.#isUnlimited;
  }

  #granted(place: QueueParameters, partition: number, leased: LeasedItem, at: number): Tracked {
    const item = this.itemOf(leased.payload);
    if (item === undefined)
      throw new Violation("I10", "a payload that was never produced was offered");
    this.#checkContent(item, leased);
    item.priority = leased.priority;
    const { key } = item;
    if (item.produce.outcome === "not written") {
      throw new Violation("I8", `${key} was offered, but its produce was refused`);
    }
    // One node reports an earlier grant, and another has reported the clear.
    const mayBeOver = at <= this.#lastClearOf(place.name);
    if (item.end !== null && !(item.end === "cleared" && mayBeOver)) {
      throw new Violation("I3", `${key} was offered after it was ${item.end}`);
    }
    if (item.end !== null) comeBack(item);
    // After a failed store, a grant may be reported late.
    if (item.damagedAt !== null && at > item.damagedAt) {
      throw new Violation("I10", `${key} was offered, although it is damaged`);
    }
    const former = this.#ids.get(leased.id);
    if (former !== undefined && !(former === item && item.wentBackAt > 0)) {
      throw new Violation("I2", `${key} got an id that was used before, for ${former.key}`);
    }
    this.#noteRedrive(item, leased.past?.redriven ?? 0, at);
    if (item.place !== place) this.#died(item, place, { at, attempts: leased.past?.attempts });
    this.#checkPast(item, leased);
    this.#checkAgainstGrant(item, at);
    this.#checkAttempts(item, leased.attempts);
    if (at < item.notBefore) {
      throw new Violation("I4", `${key} was offered at ${at}, not before ${item.notBefore}`);
    }
    this.#checkExpiry(item, at);
    this.#checkOrder(item, partition, at);
    this.#checkPriority(item, at);
    this.#ids.set(leased.id, item);
    if (item.mayBeCompleted) {
      this.#situations.reached("a complete without an answer had no effect");
    }
    item.mayBeCompleted = false;
    item.mayBeRetried = false;
    item.mayBeReleased = false;
    // An unanswered clear may still remove it.
    item.mayBeCleared = mayBeOver || this.isBeingCleared(place.name);
    item.attempts = leased.attempts;
    item.tasks = item.tasks.filter(({ answeredAt }) => answeredAt >= at);
    item.faultsSeen = this.#faults;
    const { id, leaseDeadline: deadline } = leased;
    const answered = this.#stamp;
    item.grant = {
      ...{ id, partition, client: null, deadline, at, answered },
      ...{ unansweredExtends: 0, isOver: false },
    };
    return item;
  }

  /** The grant may be among the lost commits, however late it is reported. */
  #isLost({ payload }: LeasedItem, at: number): boolean {
    return at <= this.#lostUntil && (this.itemOf(payload)?.wentBackAt ?? 0) > 0;
  }

  #grantedBefore(leased: LeasedItem): void {
    const item = this.itemOf(leased.payload);
    if (item === undefined)
      throw new Violation("I10", "a payload that was never produced was offered");
    this.#checkContent(item, leased);
    if (this.#ids.has(leased.id)) return;
    this.#ids.set(leased.id, item);
    // By the clock of a node that is behind, it may still be leased, and that is one more attempt.
    this.#lapsed.set(leased.id, this.#stamp);
    item.faultsSeen -= 1;
    item.isOrdered = false;
  }

  /** Whether that lease, which was reported as lapsed, is the latest lease of the item. */
  #mayHoldLapsed({ grant }: Tracked, id: string): boolean {
    return (this.#lapsed.get(id) ?? 0) > (grant?.answered ?? 0);
  }

  #checkContent(item: Tracked, leased: LeasedItem): void {
    const same =
      utf8.decode(leased.payload) === item.payload &&
      leased.kind === item.kind &&
      leased.encoding === item.encoding &&
      leased.reference === item.reference &&
      item.priorities.has(leased.priority) &&
      (leased.group ?? "") === item.group &&
      leased.headers?.["of"] === item.headers?.["of"] &&
      (leased.past?.maxAttempts ?? 0) === item.maxAttempts &&
      (leased.past?.leaseTimeoutMs ?? 0) === item.leaseTimeoutMs;
    if (!same) throw new Violation("I10", `${item.key} is not what was produced`);
  }

  /** The provenance of an item: its first id never changes, and its reason and death are right. */
  #checkPast(item: Tracked, { id, past = {} }: LeasedItem): void {
    const { key, place, produce } = item;
    const { origin = id, reason, death, queue } = past;
    item.origin ??= origin;
    if (item.origin !== origin) {
      throw new Violation("I19", `${key} came from ${item.origin}, but reports ${origin}`);
    }
    if (reason !== undefined && !item.reasons.has(reason)) {
      throw new Violation("I19", `${key} has a reason that no call gave`);
    }
    const isKnown = item.wentBackAt === 0;
    if (isKnown && reason !== item.reason && !item.mayBeReasons.has(reason)) {
      throw new Violation(
        "I19",
        `${key} has the reason ${reason}, but was retried with ${item.reason}`,
      );
    }
    item.reason = reason;
    item.mayBeReasons.clear();
    // A running task may still act on it.
    if (isConcerned(item, "reject", "retry")) item.mayBeReasons.add(handReason);
    const isDead = place.name !== produce.queue;
    if ((death !== undefined) !== isDead || (isDead && queue !== produce.queue)) {
      throw new Violation("I19", `${key} is in ${place.name}; it died ${death} in ${queue}`);
    }
    if (isDead) this.#checkOrigin(item, past);
    if (reason !== undefined) this.#situations.reached("a leased item has a reason");
  }

  /** The recorded attempts and creation time of a dead item never change. */
  #checkOrigin(item: Tracked, { attempts = -1, createdAt = -1 }: Past): void {
    const { key, produce } = item;
    const isRight = attempts === (item.originAttempts ?? attempts);
    if (!isRight) {
      throw new Violation("I19", `${key} died after ${item.originAttempts} attempts, ${attempts}`);
    }
    item.originAttempts = attempts;
    // The stamp is rounded up to a whole millisecond; in another shard it is that of the arrival.
    const isAnswered = produce.outcome === "written" && !item.isSent;
    const latest = isAnswered ? produce.answeredAt + 1 : createdAt;
    const known = item.originCreatedAt ?? createdAt;
    if (createdAt !== known || createdAt < produce.begunAt || createdAt > latest) {
      const reported = `${known}, between ${produce.begunAt} and ${latest}`;
      throw new Violation("I19", `${key} was produced at ${createdAt}, expected ${reported}`);
    }
    item.originCreatedAt = createdAt;
  }

  /** The item was found in another queue than before. */
  #died(item: Tracked, place: QueueParameters, { at, attempts = -1 }: Death): void {
    const least = item.wentBackAt > 0 ? 0 : item.attempts - Number(item.mayBeReleased);
    const most = item.attempts + this.#faults - item.faultsSeen;
    if (attempts < least || attempts > most) {
      const reported = `${item.key} died after ${attempts} attempts, expected ${least} to ${most}`;
      throw new Violation("I19", reported);
    }
    item.originAttempts = null;
    if (item.place.deadQueue !== place.name) {
      throw new Violation("I1", `${item.key} was offered in ${place.name}, not ${item.place.name}`);
    }
    if (item.rejected !== "yes") this.#groups.died(item, { isSure: false, now: at });
    const mayBeGivenUp = this.#hasNodes && item.open > 0;
    if (!mayBeGivenUp && !mayHaveDied(item, at, this.#faults)) {
      throw new Violation("I6", `${item.key} is in the dead queue without a reason`);
    }
    const { grant } = item;
    const { maxAttempts } = settingsIn(item.place, item);
    if (maxAttempts > 0 && item.attempts >= maxAttempts && grant !== null && !grant.isOver) {
      this.#situations.reached("the lease of a last attempt lapses");
    }
    this.#situations.reached("a dead letter is leased");
    item.place = place;
    item.leftAt ??= this.#stamp;
    item.grant = null;
    item.attempts = 0;
    // Faults since the item was last seen may also have lost grants in the new place.
    item.faultsSeen = Math.min(item.faultsSeen, this.#faults);
    item.notBefore = 0;
    item.rejected = "no";
    // After a redrive, tasks of its own queue may still act on it.
    const mayBeBack = item.redrivenMax > item.redriven;
    item.tasks = item.tasks.filter(({ queue }) => queue === place.name || mayBeBack);
    item.isOrdered = false;
  }

  /** The item was redriven: it is a new item in its queue, or was one since. */
  #noteRedrive(item: Tracked, redriven: number, at: number): void {
    const { key, produce } = item;
    if (redriven === item.redriven) return;
    if (redriven < item.redriven || redriven > item.redrivenMax) {
      const most = `${item.redriven} to ${item.redrivenMax}`;
      throw new Violation("I22", `${key} was redriven ${redriven} times, expected ${most}`);
    }
    const wasDead = item.place.name !== produce.queue;
    if (!wasDead && !mayHaveDied(item, at, this.#faults)) {
      throw new Violation("I22", `${key} was redriven without having died`);
    }
    this.#situations.reached("a redriven item is leased again");
    this.#groups.died(item, { isSure: false, now: at });
    item.redriven = redriven;
    item.place = this.#queue(produce.queue);
    item.leftAt ??= this.#stamp;
    item.grant = null;
    item.attempts = 0;
    item.notBefore = 0;
    item.rejected = "no";
    item.isOrdered = false;
  }

  #ended(item: Tracked, end: "completed" | "cleared" | "cancelled"): void {
    item.end = end;
    item.endedAt = this.#stamp;
    item.leftAt ??= this.#stamp;
  }

  #checkAgainstGrant(item: Tracked, at: number): void {
    const { grant, key } = item;
    if (item.rejected === "yes") {
      throw new Violation("I6", `${key} was offered again after it was given up`);
    }
    if (grant === null || grant.isOver || item.mayBeRetried) return;
    if (isConcerned(item, "retry")) return;
    // Another node may have released it, but not answered yet.
    if (this.#hasNodes && item.open > 0) return;
    if (grant.deadline > at) {
      throw new Violation("I2", `${key} was leased at ${at} while leased until ${grant.deadline}`);
    }
  }

  #checkAttempts(item: Tracked, attempts: number): void {
    const { maxAttempts } = settingsIn(item.place, item);
    // Another node may have released it, but not answered yet.
    const mayBeReleased = item.mayBeReleased || (this.#hasNodes && item.open > 0);
    // A client can release a lease that the database has lost.
    const least = item.wentBackAt > 0 ? 1 : item.attempts + (mayBeReleased ? 0 : 1);
    const most = item.attempts + 1 + this.#faults - item.faultsSeen;
    if (attempts < least || attempts > most) {
      const reported = `${item.key} has ${attempts} attempts, expected ${least} to ${most}`;
      throw new Violation("I5", reported);
    }
    if (attempts > least) this.#situations.reached("a granted lease is lost with its shard");
    if (maxAttempts > 0 && attempts > maxAttempts) {
      throw new Violation("I5", `${item.key} was offered ${attempts} times`);
    }
  }

  /** Only in its own queue: dead queues expire after the end of a world. */
  #checkExpiry({ key, place, produce, enqueueAt, redriven }: Tracked, at: number): void {
    // A redrive sets a new deadline.
    if (redriven > 0) return;
    if (place.name !== produce.queue || produce.outcome !== "written") return;
    const latest = Math.max(produce.answeredAt, enqueueAt ?? 0) + place.expireTimeoutMs;
    if (at >= latest) throw new Violation("I6", `${key} was offered after it had expired`);
  }

  #checkOrder(item: Tracked, partition: number, at: number): void {
    const first = item.attempts === 0 && item.grant === null;
    if (!(first && item.isOrdered)) return;
    const { produce, place, key } = item;
    const line = place.grouped ? `group ${item.group}` : item.priority;
    const name = `${place.name}/${partition}/${line}`;
    const offered = this.#offered.getOrInsertComputed(name, () => {
      const none = { begun: 0, indexes: new Map() };
      return { ...none, at: 0, before: none };
    });
    if (this.#hasNodes && at > offered.at) {
      offered.at = at;
      offered.before = { begun: offered.begun, indexes: new Map(offered.indexes) };
    }
    const { begun, indexes } = this.#hasNodes ? offered.before : offered;
    const wasAnsweredBefore = produce.answered > 0 && produce.answered < begun;
    const isBehindSibling = (indexes.get(produce) ?? -1) > item.index;
    if (wasAnsweredBefore || isBehindSibling) {
      if (this.#mayHaveMoved(item)) return;
      throw new Violation("I4", `${key} was offered after one that was produced after it`);
    }
    offered.begun = Math.max(offered.begun, produce.begun);
    offered.indexes.set(produce, item.index);
  }

  /** Whether the item has certainly been ready since it was produced. */
  #isReadySinceProduced(item: Tracked): boolean {
    const isFirst = item.isOrdered && item.attempts === 0 && item.grant === null;
    return isFirst && isCertain(item) && this.#unansweredLeaseOf(item) === undefined;
  }

  #checkPriority(item: Tracked, at: number): void {
    if (item.place.grouped) return;
    if (this.#hasPriorities) this.#notePriority(item);
    if (!this.#isReadySinceProduced(item)) return;
    const overtaker = this.#priorityRule.overtakerOf(item, at);
    if (overtaker === null) return;
    const { agedMax, at: before } = overtaker;
    const reported = `${item.key} with priority ${item.priority} was offered at ${at}`;
    throw new Violation("I24", `${reported}, after one with at most ${agedMax} at ${before}`);
  }

  #notePriority({ place, produce, priority }: Tracked): void {
    for (const other of this.#items.values()) {
      if (other.place !== place || other.priority === priority) continue;
      if (!this.#isReadySinceProduced(other)) continue;
      const isOlder = other.produce.answered < produce.begun;
      if (isOlder && other.priority < priority) {
        this.#situations.reached("an item overtakes one of a lower priority");
      }
      if (other.priority > priority && produce.answered < other.produce.begun) {
        this.#situations.reached("an item that has waited comes before one of a higher priority");
      }
    }
  }

  /** Each lease without an answer explains as many moved items as it asked for. */
  #mayHaveMoved(item: Tracked): boolean {
    const unanswered = this.#unansweredLeaseOf(item);
    if (unanswered === undefined) return false;
    unanswered.left -= 1;
    return true;
  }

  /** A lease without an answer that may have had the item. */
  #unansweredLeaseOf({ place, produce }: Tracked): UnansweredLease | undefined {
    return this.#unansweredLeases.find(
      ({ queue, left, before }) => queue === place.name && left > 0 && produce.begun < before,
    );
  }

  // complete, retry, extend, release --------------------------------------

  finishBegun(
    verb: Verb,
    { partition, ids }: { readonly partition: number; readonly ids: readonly string[] },
    now: number,
    {
      how = [],
      leaseTimeoutMs = null,
    }: { how?: readonly RetryItem[]; leaseTimeoutMs?: number | null } = {},
  ): FinishCall {
    this.#stamp += 1;
    const items = ids.flatMap((id) => this.#ids.get(id) ?? []);
    if (verb !== "complete" && verb !== "extend") this.#groups.touched(items);
    for (const item of items) item.open += 1;
    for (const { id, reason } of how) {
      if (reason !== undefined) mayGive(this.#ids.get(id), reason);
    }
    for (const id of ids) this.#finishCounts.set(id, (this.#finishCounts.get(id) ?? 0) + 1);
    const grants = verb === "extend" ? items.flatMap(({ grant }) => grant ?? []) : [];
    for (const grant of grants) grant.unansweredExtends += 1;
    const begun = this.#stamp;
    return { grants, verb, partition, ids, items, begun, begunAt: now, how, leaseTimeoutMs };
  }

  /** Those whose leases last as long as the first's: the reply of an extend has one deadline. */
  likeFirst(ids: readonly string[]): string[] {
    const msOf = (id = ""): number | undefined => {
      const item = this.#ids.get(id);
      return item && settingsIn(item.place, item).leaseTimeoutMs;
    };
    const ms = msOf(ids[0]);
    return ids.filter((id) => msOf(id) === ms);
  }

  /** An extend ended; if it succeeded, its `leaseDeadline` is checked. */
  extendEnded(call: FinishCall, ending: Ending<Extended> | null, answered: Answered): void {
    this.finishEnded(call, ending, answered);
    if (ending?.ok === true) this.#extended(call, ending.value.leaseDeadline, answered);
    if (ending === null) return;
    for (const grant of call.grants) grant.unansweredExtends -= 1;
  }

  #extended(
    { ids, items, begunAt, leaseTimeoutMs }: FinishCall,
    deadline: number,
    { now, wasLost }: Answered,
  ): void {
    const [first] = items;
    const own = first === undefined ? 0 : settingsIn(first.place, first).leaseTimeoutMs;
    const ms = leaseTimeoutMs ?? own;
    // The clock may have been set back since the call was first sent.
    if (!wasLost && deadline < begunAt + ms) {
      throw new Violation("I2", `an extend at ${now} by ${ms} returned ${deadline}`);
    }
    for (const { grant } of items) {
      const isSame = grant !== null && ids.includes(grant.id);
      if (isSame) grant.deadline = Math.max(grant.deadline, deadline);
    }
    this.#situations.reached("a lease is extended");
  }

  finishEnded(call: FinishCall, ending: Ending<unknown> | null, { now, wasLost }: Answered): void {
    this.#stamp += 1;
    if (ending === null) this.#finishUnknown(call);
    else if (ending.ok) this.#finished(wasLost ? this.#asItWas(call) : call, now);
    else if (ending.code === "refused" || ending.code === "invalid") {
      this.#checkRefusal([call], ending.details, now);
    }
    for (const item of call.items) item.open -= 1;
    if (call.verb !== "complete" && call.verb !== "extend") this.#groups.touched(call.items);
  }

  /** An answer was lost, and the call is repeated with the same key. */
  finishDoubted(call: FinishCall): void {
    this.#finishUnknown(call);
  }

  /** The call as it was done long ago, without the items whose state is newer. */
  #asItWas(call: FinishCall): FinishCall {
    const ids = call.ids.filter((id) => {
      const item = this.#ids.get(id);
      if (item !== undefined && item.end === null && this.#mayHoldLapsed(item, id)) return true;
      const isSame = item?.grant?.id === id && item.end === null && !item.grant.isOver;
      if (!isSame && call.verb === "complete" && item?.end !== "cleared") {
        throw new Violation("I3", `${item?.key} was offered after it was completed`);
      }
      return isSame;
    });
    const how = call.how.filter(({ id }) => ids.includes(id));
    return { ...call, ids, how, begunAt: Number.NEGATIVE_INFINITY };
  }

  #finishUnknown({ verb, ids, how }: FinishCall): void {
    for (const [index, id] of ids.entries()) {
      const item = this.#ids.get(id);
      if (item === undefined || item.end !== null) continue;
      if (item.grant?.id !== id && !this.#mayHoldLapsed(item, id)) continue;
      maybeFinished(item, verb, how[index]);
    }
  }

  #finished({ verb, ids, begun, begunAt, how }: FinishCall, now: number): void {
    const seen = new Set<string>();
    for (const [index, id] of ids.entries()) {
      const item = this.#ids.get(id);
      if (item === undefined) throw new Violation("I7", `a ${verb} of an unknown id succeeded`);
      const { key, grant } = item;
      if (item.wentBackAt > 0) {
        // A call from before the loss may be lost too, however late it is reported.
        if (verb === "complete" && begun > item.wentBackAt) this.#ended(item, "completed");
        else if (verb !== "extend" && grant !== null) grant.isOver = true;
        // Or it was done since, on the present lease with the same id.
        if (verb === "complete") item.mayBeCompleted = true;
        continue;
      }
      if (seen.has(id)) throw new Violation("I7", `${key} was named twice in one ${verb}`);
      seen.add(id);
      if (item.end === null && this.#mayHoldLapsed(item, id)) {
        if (verb === "complete") this.#ended(item, "completed");
        else maybeFinished(item, verb, how[index]);
        continue;
      }
      // It was done a while ago, by a node that reports it only now.
      const isOld = this.#hasNodes && verb !== "complete" && (grant?.answered ?? begun + 1) > begun;
      if (isOld) continue;
      // One turn extends it, then cancels it.
      const wasFirst = verb === "extend" && begun < (item.endedAt ?? 0);
      if (wasFirst && item.end === "cancelled") continue;
      if (item.end !== null) {
        throw new Violation("I2", `a ${verb} of ${key} succeeded after it was ${item.end}`);
      }
      if (grant === null || grant.id !== id || grant.isOver) {
        throw new Violation("I2", `a ${verb} of ${key} succeeded with an older lease`);
      }
      const isLapsed = grant.deadline <= begunAt && grant.unansweredExtends === 0;
      if (this.#sweepsWhole && isLapsed && verb !== "extend") {
        throw new Violation("I2", `a ${verb} of ${key} succeeded after the lease had lapsed`);
      }
      if (verb === "complete") this.#ended(item, "completed");
      else if (verb === "retry") this.#returned(item, how[index], { begunAt, now });
      else if (verb === "release") {
        grant.isOver = true;
        item.attempts -= 1;
      }
      if (verb === "retry" || verb === "release") {
        this.#groups.returned(item, verb, { stamp: begun, at: begunAt }, this.#instant(now));
      }
    }
    if (verb === "complete") this.#situations.reached("a complete is answered");
    else if (verb === "retry") this.#situations.reached(this.#kindOf(how, now));
    else if (verb === "release") this.#situations.reached("a lease is released");
  }

  #kindOf(how: readonly RetryItem[], now: number) {
    if (how.some(({ dead }) => dead)) return "a retry gives up an item" as const;
    if (how.some(({ retryAt }) => retryAt !== null && retryAt > now)) {
      return "a retry schedules an item" as const;
    }
    return "a retry puts an item at the tail" as const;
  }

  #returned(
    item: Tracked,
    how: RetryItem | undefined,
    { begunAt, now }: { readonly begunAt: number; readonly now: number },
  ): void {
    const { grant, place } = item;
    const { maxAttempts } = settingsIn(place, item);
    if (grant !== null) grant.isOver = true;
    item.reason = how?.reason ?? item.reason;
    item.mayBeReasons.clear();
    if (isConcerned(item, "reject", "retry")) item.mayBeReasons.add(handReason);
    if (how?.dead === true && place.deadQueue === "") {
      throw new Violation("I3", `${item.key} was given up without a dead queue`);
    }
    if (how?.dead === true) item.rejected = "yes";
    else if (maxAttempts > 0 && item.attempts >= maxAttempts) {
      item.rejected = "yes";
      this.#situations.reached("a retry of the last attempt");
    } else if (how !== undefined && !isConcerned(item, "promote")) {
      // A delay counts from the turn, which is not before the call.
      const { retryAt, retryAfterMs = null } = how;
      const mostMs = retryAfterMs ?? mostBackoffMs(item);
      const dueAt = retryAt ?? begunAt + (retryAfterMs ?? Math.floor(0.9 * mostMs));
      if (dueAt > now) {
        item.notBefore = dueAt;
        item.dueBy = retryAt ?? now + mostMs;
      }
      if (dueAt > now && retryAt === null && retryAfterMs === null) {
        this.#situations.reached("a retry waits for the backoff of its queue");
      }
    }
  }

  /** Checks the refusal of a call, or of all parts of a transact. */
  #checkRefusal(
    calls: readonly FinishCall[],
    details: Readonly<Record<string, string>> | undefined,
    now: number,
  ): void {
    const ids = calls.flatMap((call) => call.ids);
    const how = calls.flatMap((call) => call.how);
    const verb = calls.length === 1 ? calls[0]?.verb : "transact";
    if (how.some(({ id, dead }) => dead && this.#isForLost(id))) {
      this.#situations.reached("an item is given up in a queue without a dead queue, and stays");
      return;
    }
    const isDistinct = new Set(ids).size === ids.length;
    const partitions = new Map(calls.flatMap((call) => call.ids.map((id) => [id, call.partition])));
    const isHeldOnce = (id: string): boolean => {
      const item = this.#ids.get(id);
      const isHere = item?.grant?.partition === partitions.get(id) && item?.open === 1;
      return item !== undefined && isHere && isHeld(item, id, now);
    };
    if (isDistinct && ids.length > 0 && ids.every(isHeldOnce)) {
      throw new Violation("I7", `a ${verb} of leased items was refused`);
    }
    if (ids.length > 1) this.#situations.reached("a batch with one wrong id is refused");
    for (const id of Object.keys(details ?? {})) {
      if (isDistinct && isHeldOnce(id)) {
        throw new Violation("I7", `a ${verb} was refused because of an item that is leased`);
      }
      const item = this.#ids.get(id);
      if (item?.end === "completed" && item.grant?.id === id) {
        this.#situations.reached("an item is completed twice");
      } else if (item?.grant?.id === id && item.grant.deadline <= now) {
        this.#situations.reached("a complete arrives after the lease has lapsed");
      }
    }
  }

  #isForLost(id: string): boolean {
    return this.#ids.get(id)?.place.deadQueue === "";
  }

  // cancel ----------------------------------------------------------------

  /** `payload`: of an item that was listed; absent = the id is that of a lease. */
  cancelBegun(targets: readonly CancelTarget[], now: number): CancelCall {
    this.#stamp += 1;
    return targets.flatMap(({ id, payload }) => {
      const item = payload === undefined ? this.#ids.get(id) : this.itemOf(payload);
      if (item === undefined) return [];
      const wasHeld = item.open === 0 && isHeld(item, id, now);
      this.#groups.touched([item]);
      item.open += 1;
      item.cancels += 1;
      return { id, item, wasHeld };
    });
  }

  cancelEnded(
    call: CancelCall,
    ending: Ending<Cancelled> | null,
    { now, wasLost }: Answered,
  ): void {
    this.#stamp += 1;
    const states = ending?.ok === true ? ending.value.items : [];
    for (const { id, item, wasHeld } of call) {
      item.open -= 1;
      this.#groups.touched([item]);
      const was = states.find((one) => one.id === id)?.was ?? "not_found";
      // A repetition after the window finds nothing of what the first call removed.
      if (ending === null || item.wentBackAt > 0 || (wasLost && was === "not_found")) continue;
      item.cancels -= 1;
      const { key } = item;
      if (was !== "not_found") {
        if (item.end !== null) {
          throw new Violation("I25", `${key} was cancelled after it was ${item.end}`);
        }
        this.#ended(item, "cancelled");
        this.#situations.reached(
          was === "leased" ? "a leased item is cancelled" : "a waiting item is cancelled",
        );
      } else if (ending.ok && wasHeld && item.open === 0 && isHeld(item, id, now)) {
        throw new Violation("I25", `${key} is leased, but a cancel did not find it`);
      }
    }
  }

  // tasks -----------------------------------------------------------------

  taskBegun({ queue, action, kind, priority }: TaskPlan): TaskCall {
    this.#stamp += 1;
    const task = { queue, action, kind, priority, answeredAt: Number.POSITIVE_INFINITY };
    this.#tasks.push(task);
    this.#groups.faulted();
    for (const item of this.#items.values()) {
      concern(item, task);
      if (action !== "redrive") continue;
      // After a redrive, running tasks of its own queue may act on it.
      for (const one of this.#tasks) if (!item.tasks.includes(one)) concern(item, one);
    }
    return task;
  }

  /** The items of an answered task are certain; a refused one has none. */
  taskEnded(task: TaskCall, ending: Ending<unknown> | null, now: number): void {
    this.#stamp += 1;
    // A task may still begin after the node that was asked for it is dead.
    if (ending === null && this.#hasNodes) return;
    this.#tasks.splice(this.#tasks.indexOf(task), 1);
    task.answeredAt = now;
    if (ending?.ok !== false || !["refused", "invalid", "closing"].includes(ending.code)) return;
    for (const item of this.#items.values()) {
      item.tasks = item.tasks.filter((one) => one !== task);
    }
  }

  /** A finished task deleted the item, while nothing else happened. */
  deleted(payload: Payload): void {
    const item = this.itemOf(payload);
    if (item !== undefined) this.#ended(item, "cleared");
  }

  // clear, delete ---------------------------------------------------------

  clearBegun(
    queue: string,
    what: { isDelete: boolean; ready: boolean; takesLeased: boolean },
    now: number,
  ): ClearCall {
    const sure: Tracked[] = [];
    const doubted = new Map<Tracked, string | null>();
    for (const item of this.#items.values()) {
      if (item.end !== null) continue;
      const mayBeBack = item.redrivenMax > item.redriven && item.produce.queue === queue;
      if (item.place.name !== queue && !mayBeBack) continue;
      const isFresh =
        item.attempts === 0 &&
        item.enqueueAt === null &&
        (what.takesLeased || item.faultsSeen === this.#faults) &&
        !(item.isSent || mayBeBack);
      if (isCertain(item) && (what.isDelete || (what.ready && isFresh))) sure.push(item);
      const { grant } = item;
      const holder =
        grant !== null && item.open === 0 && isHeld(item, grant.id, now) ? grant.id : null;
      if (!item.mayBeCleared) doubted.set(item, holder);
      item.mayBeCleared = true;
    }
    const { isDelete, takesLeased } = what;
    if (isDelete) {
      this.pauses.forget(queue);
      this.#groups.forget(queue);
      this.#rateGrants.delete(queue);
    }
    if (takesLeased) {
      // This clear may remove leased items that another clear has to leave.
      for (const other of this.#clears) if (other.queue === queue) other.doubted.clear();
    }
    const call = { queue, isDelete, takesLeased, sure, doubted };
    this.#clears.push(call);
    return call;
  }

  /** Only with several nodes, which may report grants from before a clear after it. */
  #lastClearOf(name: string): number {
    return (this.#hasNodes && this.#clearedAt.get(name)) || Number.NEGATIVE_INFINITY;
  }

  isBeingCleared(name: string): boolean {
    return this.#clears.some(({ queue }) => queue === name);
  }

  clearEnded(call: ClearCall, ending: Ending<unknown> | null, now: number): void {
    this.#stamp += 1;
    // A clear may still be done after the node that was asked for it is dead.
    if (ending === null && this.#hasNodes) return;
    this.#clears.splice(this.#clears.indexOf(call), 1);
    const isLast = !this.isBeingCleared(call.queue);
    if (ending?.ok === true) {
      this.#clearedAt.set(call.queue, now);
      for (const [item, id] of call.doubted) {
        const { grant } = item;
        const wasHeld = id !== null && grant?.id === id && !grant.isOver && grant.deadline > now;
        if (isLast && wasHeld && !call.takesLeased) item.mayBeCleared = false;
      }
      for (const item of call.sure) {
        // Except items that were leased meanwhile, even if the lease was lost with its shard, and
        // items that went to the dead queue before.
        const isElsewhere = item.place.name !== call.queue;
        if (isElsewhere || mayHaveDied(item, now, this.#faults)) continue;
        const isUnleased = item.attempts === 0 && item.faultsSeen === this.#faults;
        if (call.isDelete || (call.takesLeased && item.attempts === 0))
          this.#ended(item, "cleared");
        // Except items that a lease without an answer returned to the queue after the clear.
        else if (isUnleased && this.#unansweredLeaseOf(item) === undefined)
          this.#ended(item, "cleared");
      }
      if (call.isDelete) {
        this.#groups.forget(call.queue);
        // Also discards grants reported during the delete: a new queue has an empty rate window.
        this.#rateGrants.delete(call.queue);
        for (const name of this.#offered.keys()) {
          if (name.startsWith(`${call.queue}/`)) this.#offered.delete(name);
        }
      }
    } else if (isLast && ending !== null && call.isDelete && ending.code === "refused") {
      for (const item of call.doubted.keys()) item.mayBeCleared = false;
    }
  }

  /** Calls without an answer are done by now, or never will be. */
  settled(now: number): void {
    this.#clears.length = 0;
    for (const task of this.#tasks.splice(0)) task.answeredAt = now;
  }

  // checks at rest --------------------------------------------

  /** Checks a listing of everything, made while no call is open and no fault lasts. */
  census(sightings: readonly Sighting[], now: number): void {
    const seen = new Set<Tracked>();
    for (const { queue, isLeased, payload, redriven } of sightings) {
      const item = this.itemOf(payload);
      if (item === undefined)
        throw new Violation("I10", "an item that was never produced is listed");
      const { key } = item;
      if (seen.has(item)) throw new Violation("I1", `${key} is in two places`);
      seen.add(item);
      if (item.produce.outcome === "not written") {
        throw new Violation("I8", `${key} is listed, but its produce was refused`);
      }
      if (item.end !== null) throw new Violation("I3", `${key} is listed after it was ${item.end}`);
      this.#noteRedrive(item, redriven, now);
      const isDead = item.place.name !== queue;
      if (isDead && (item.place.deadQueue !== queue || !mayHaveDied(item, now, this.#faults))) {
        throw new Violation("I6", `${key} is in ${queue} without a reason`);
      }
      this.#checkOverdue(item, { isDead, isLeased }, now);
      const { grant } = item;
      if (
        isCertain(item) &&
        !isDead &&
        grant !== null &&
        isHeld(item, grant.id, now) &&
        !isLeased
      ) {
        throw new Violation("I1", `${key} is leased, but not listed as such`);
      }
    }
    for (const item of this.#items.values()) {
      if (seen.has(item) || !isCertain(item)) continue;
      if (item.place.deadQueue === "" && mayHaveDied(item, now, this.#faults)) continue;
      throw new Violation("I1", `${item.key} was acknowledged, but is in no queue`);
    }
  }

  /** Items that wait past their expiry must die even if no client asks for them. */
  #checkOverdue(
    { key, produce, place, enqueueAt, redriven }: Tracked,
    found: { isDead: boolean; isLeased: boolean },
    now: number,
  ): void {
    const isOwn = !found.isDead && place.name === produce.queue && produce.outcome === "written";
    if (!isOwn || found.isLeased || redriven > 0) return;
    const latest = Math.max(produce.answeredAt, enqueueAt ?? 0) + place.expireTimeoutMs;
    if (latest + overdueMs < now)
      throw new Violation("I11", `${key} has expired, but is still listed`);
  }

  /** The end of the world: each item must have ended in a way that the promises allow. */
  finish(now: number): void {
    for (const item of this.#items.values()) {
      if (!isCertain(item)) continue;
      if (item.place.deadQueue === "" && mayHaveDied(item, now, this.#faults)) continue;
      throw new Violation("I1", `${item.key} was acknowledged, but never came to an end`);
    }
    for (const produce of this.#produces) this.#checkWhole(produce);
    for (const transact of this.#transacts) this.#checkTogether(transact, now);
    for (const item of this.#items.values()) {
      if (item.mayBeCompleted && item.end === null) {
        this.#situations.reached("a complete without an answer took effect");
      }
    }
  }

  /** A produce without an answer was written as a whole or not at all. */
  #checkWhole({ outcome, items, queue }: ProduceCall): void {
    if (outcome !== "unknown") return;
    const isSeen = (item: Tracked): boolean =>
      item.attempts > 0 ||
      item.redriven > 0 ||
      item.place.name !== queue ||
      item.end === "completed" ||
      item.end === "cancelled";
    const seen = items.filter(isSeen);
    const unseen = items.filter((item) => !isSeen(item) && !mayBeAbsent(item));
    if (seen.length > 0 && unseen.length > 0) {
      throw new Violation("I7", `a produce wrote ${seen.length} items, but not the others`);
    }
    this.#situations.reached(
      seen.length > 0
        ? "a produce without an answer was stored"
        : "a produce without an answer was not stored",
    );
  }
}

function placesOf({ place, produce, redrivenMax }: Tracked): string[] {
  return [place.name, place.deadQueue, ...(redrivenMax > 0 ? [produce.queue] : [])];
}

/** Adds the task to the item, if it may act on one in its possible queues. */
function concern(item: Tracked, task: TaskCall): void {
  const isElsewhere = !placesOf(item).includes(task.queue);
  if (isElsewhere || (task.kind !== null && task.kind !== item.kind)) return;
  item.tasks.push(task);
  if (task.action === "redrive") item.redrivenMax += 1;
  if (task.action === "promote") item.notBefore = 0;
  if (task.priority !== null) {
    item.priorities.add(task.priority);
    item.isOrdered = false;
  }
  if (task.action === "reject" || task.action === "retry") mayGive(item, handReason);
}

/** A call to finish the item may have succeeded. */
/** The longest time for which the backoff of its queue sets the item aside. */
function mostBackoffMs({ place, attempts }: Tracked): number {
  const backoff = parseBackoff(place.retryBackoff);
  return backoff === null ? 0 : Math.min(backoff.maxMs, backoff.minMs * 2 ** (attempts - 1));
}

function maybeFinished(item: Tracked, verb: Verb, how: RetryItem | undefined): void {
  if (verb === "extend") return;
  if (verb === "complete") item.mayBeCompleted = true;
  else if (how?.dead === true) item.rejected = "maybe";
  else item.mayBeRetried = true;
  if (verb === "release") item.mayBeReleased = true;
}

/** A retry may have given the item this reason. */
function mayGive(item: Tracked | undefined, reason: string): void {
  item?.reasons.add(reason);
  item?.mayBeReasons.add(reason);
}
