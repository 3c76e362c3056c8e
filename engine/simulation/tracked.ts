// The auditor's knowledge of one produced item. It comes only from calls and their answers, never
// from inside the engine.

import type { ImportItem, ItemState, ProduceItem, TaskAction } from "../model/api.ts";
import type { Headers } from "../model/headers.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Period } from "./pauses.ts";

export interface ItemText {
  /** Identifies the item; its payload begins with the key. */
  readonly key: string;
  readonly payload: string;
  readonly kind: string;
  readonly encoding: string;
  readonly reference: string;
  readonly asBytes: boolean;
  /** The producer's `enqueueAt`; `null` = at once. */
  readonly enqueueAt: number | null;
  /** `""` = none. */
  readonly uniqueKey: string;
  readonly priority: number;
  /** Its own settings; 0 = the queue's. */
  readonly maxAttempts: number;
  readonly leaseTimeoutMs: number;
  /** `""` = the one without a name. */
  readonly group: string;
  readonly headers: Headers | undefined;
}

/** The item in the form of a produce request. */
export function handedIn({ payload, asBytes, key: _, headers, ...text }: ItemText): ProduceItem {
  return {
    ...text,
    payload: asBytes ? new TextEncoder().encode(payload) : payload,
    ...(headers && { headers }),
  };
}

/** The item in the form of an import. */
export function imported(text: ItemText): ImportItem {
  const { maxAttempts, leaseTimeoutMs } = text;
  const past = { ...(maxAttempts && { maxAttempts }), ...(leaseTimeoutMs && { leaseTimeoutMs }) };
  return { ...handedIn(text), past };
}

export interface ProduceCall {
  readonly queue: string;
  /** Its numbers in the order of all calls and answers. */
  readonly begun: number;
  answered: number;
  /** The earliest instant at which it was sent; the clock may be set back before a repetition. */
  begunAt: number;
  answeredAt: number;
  outcome: "open" | "written" | "not written" | "unknown";
  /** When it began: the number of failed commits that were written all the same. */
  readonly unansweredCommits: number;
  /** When it began: the pause of produces to its queue. */
  readonly paused: Period | null;
  readonly items: Tracked[];
}

/** The latest answered lease of an item. */
export interface Grant {
  readonly id: string;
  readonly partition: number;
  /** The client that the engine knows; `null` = the answer was replayed, or of another process. */
  client: string | null;
  /** The latest deadline that was returned. */
  deadline: number;
  /** Extends without an answer, so the lease may last longer. */
  unansweredExtends: number;
  /** The engine time at which it was granted. */
  readonly at: number;
  /** When the answer arrived, in the order of all calls and answers. */
  readonly answered: number;
  /** The client returned the item, and that was acknowledged. */
  isOver: boolean;
}

/** The reason for items that a task rejects or retries. */
export const handReason = "by hand";

export interface TaskPlan {
  readonly queue: string;
  readonly action: TaskAction;
  /** `null` = any kind. */
  readonly kind: string | null;
  /** `null` = all states that the action takes. */
  readonly state: ItemState | null;
  /** For a retry; `null` = any client. */
  readonly holder: string | null;
  /** For `prioritize`; otherwise `null`. */
  readonly priority: number | null;
  readonly perSecond: number | null;
}

/** A task that may act on items of one kind, or of any (`null`). */
export interface TaskCall {
  readonly queue: string;
  readonly action: TaskAction;
  readonly kind: string | null;
  readonly priority: number | null;
  /** The task does not affect items granted later; infinite = it may still begin. */
  answeredAt: number;
}

/** A time, in the order of calls and answers, and by the clock of the engine. */
export interface Instant {
  readonly stamp: number;
  readonly at: number;
}

export const neverKnown: Instant = {
  stamp: Number.POSITIVE_INFINITY,
  at: Number.POSITIVE_INFINITY,
};
export const longAgo: Instant = { stamp: 0, at: Number.NEGATIVE_INFINITY };

/** What is certain about the place of an item in its group. */
export interface GroupPlace {
  /** It joined the tail of the group after this. */
  readonly after: Instant;
  /** It joined the tail of the group before this; `neverKnown` = it may not have. */
  readonly by: Instant;
  /** It has been ready since this at the latest; `neverKnown` = it may not be. */
  readonly freeBy: Instant;
  /** It was never retried and its lease never lapsed, so its produce decides its order. */
  readonly isFirst: boolean;
}

export interface Tracked extends ItemText {
  readonly produce: ProduceCall;
  readonly index: number;
  /** As in its latest lease. */
  priority: number;
  /** All that it may ever have had. */
  readonly priorities: Set<number>;
  /** The first known id, from a lease or from its provenance; `null` = never leased. */
  origin: string | null;
  /** The reason of its last retry; `undefined` = none. */
  reason: string | undefined;
  /** Reasons that an open or unanswered call may have set since. */
  readonly mayBeReasons: Set<string | undefined>;
  /** All reasons that retries ever gave, successful or not. */
  readonly reasons: Set<string>;
  /** When it was first produced, as the item in the dead queue recorded. */
  originCreatedAt: number | null;
  /** Its attempts when it died, as the item in the dead queue first recorded. */
  originAttempts: number | null;
  /** Its present queue: its own, or the dead queue of that. */
  place: QueueParameters;
  end: "completed" | "cleared" | "cancelled" | "reported as a duplicate" | null;
  /**
   * When it certainly had left its queue, finished or dead, in the order of all calls and answers;
   * `null` = it may be there, or is there again after a loss.
   */
  leftAt: number | null;
  /** When its end was last reported, in the order of all calls and answers. */
  endedAt: number | null;
  grant: Grant | null;
  /** The attempts in its latest lease. */
  attempts: number;
  /** The number of faults when it was last seen; each later one may have lost one grant. */
  faultsSeen: number;
  /** It must not be leased before this instant, because of a produce or a retry. */
  notBefore: number;
  /** When it is due at the latest, if it is set aside. */
  dueBy: number;
  /** Whether it was sent to the dead queue. */
  rejected: "no" | "maybe" | "yes";
  /** A complete with an unknown outcome. */
  mayBeCompleted: boolean;
  mayBeRetried: boolean;
  /** If so, its attempt did not count. */
  mayBeReleased: boolean;
  mayBeCleared: boolean;
  /** Cancels that may still remove it, or that may have. */
  cancels: number;
  damagedAt: number | null;
  /** Tasks that may still act on it, or that may have since it was last seen. */
  tasks: TaskCall[];
  /** Its redrives as last recorded, and at most. */
  redriven: number;
  redrivenMax: number;
  /** When the database last lost commits about it, in the order of all calls; 0 = never. */
  wentBackAt: number;
  /** Unanswered calls on it. */
  open: number;
  /** It may be in flight from another shard, although it is certain. */
  isSent: boolean;
  /** Whether it must be leased in the order of producing. */
  isOrdered: boolean;
  groupPlace: GroupPlace;
}

export function trackedOf(text: ItemText, produce: ProduceCall, place: QueueParameters): Tracked {
  return {
    ...text,
    produce,
    index: produce.items.length,
    priorities: new Set([text.priority]),
    origin: null,
    reason: undefined,
    mayBeReasons: new Set(),
    reasons: new Set(),
    originCreatedAt: null,
    originAttempts: null,
    place,
    end: null,
    leftAt: null,
    endedAt: null,
    grant: null,
    attempts: 0,
    faultsSeen: 0,
    notBefore: text.enqueueAt ?? 0,
    dueBy: text.enqueueAt ?? 0,
    rejected: "no",
    mayBeCompleted: false,
    mayBeRetried: false,
    mayBeReleased: false,
    mayBeCleared: false,
    cancels: 0,
    damagedAt: null,
    tasks: [],
    redriven: 0,
    redrivenMax: 0,
    wentBackAt: 0,
    open: 0,
    isSent: false,
    isOrdered: true,
    groupPlace: { after: longAgo, by: neverKnown, freeBy: neverKnown, isFirst: false },
  };
}

/** The settings that apply to an item in a queue: its own, except in a dead queue. */
export function settingsIn(
  queue: QueueParameters,
  item: Tracked | undefined,
): Pick<ItemText, "maxAttempts" | "leaseTimeoutMs"> {
  if (item === undefined || queue.name !== item.produce.queue) return queue;
  return {
    maxAttempts: item.maxAttempts || queue.maxAttempts,
    leaseTimeoutMs: item.leaseTimeoutMs || queue.leaseTimeoutMs,
  };
}

/** It was reported as ended, but may be there. */
export function comeBack(item: Tracked): void {
  item.end = null;
  item.leftAt = null;
}

/** A task with one of these actions may have acted on the item, or may still. */
export function isConcerned({ tasks }: Tracked, ...by: readonly TaskAction[]): boolean {
  return tasks.some(({ action }) => by.includes(action));
}

/** Whether the item is stored, and only later calls and time can end it. */
export function isCertain(item: Tracked): boolean {
  return (
    item.produce.outcome === "written" &&
    item.end === null &&
    item.rejected !== "maybe" &&
    item.cancels === 0 &&
    !isConcerned(item, "reject", "delete", "retry") &&
    !(item.mayBeCompleted || item.mayBeRetried || item.mayBeCleared || item.damagedAt !== null)
  );
}

/** Whether the item is certainly leased, also just after `now`. */
export function isHeld(item: Tracked, id: string, now: number): boolean {
  const { grant } = item;
  return (
    isCertain(item) && grant !== null && grant.id === id && !grant.isOver && grant.deadline > now
  );
}

/** Whether the item may have died by `now`; `faults`: the number of faults so far. */
export function mayHaveDied(item: Tracked, now: number, faults: number): boolean {
  const { place, produce, grant } = item;
  if (item.rejected !== "no" || isConcerned(item, "reject")) return true;
  // A redriven item is not scheduled any more.
  const enqueueAt = item.redriven > 0 ? null : item.enqueueAt;
  const available = Math.max(produce.begunAt, enqueueAt ?? 0);
  if (available + place.expireTimeoutMs <= now) return true;
  const { maxAttempts } = settingsIn(place, item);
  if (maxAttempts === 0) return false;
  const lost = faults - item.faultsSeen;
  const mayBeBack = item.mayBeRetried || isConcerned(item, "retry");
  const isOver = grant === null || grant.isOver || mayBeBack || grant.deadline <= now;
  return item.attempts + lost >= maxAttempts && (isOver || lost > 0);
}

/** Its absence does not show that its call had no effect. */
export function mayBeAbsent(item: Tracked): boolean {
  return (
    item.damagedAt !== null ||
    item.wentBackAt > 0 ||
    item.mayBeCleared ||
    item.cancels > 0 ||
    item.tasks.length > 0 ||
    item.place.deadQueue === "" ||
    // The item may have been a duplicate.
    item.uniqueKey !== ""
  );
}
