// What the auditor knows of one produced item: from the calls and their answers
// alone, never from the inside of the engine.

import type { Headers, ItemState, ProduceItem, TaskAction } from "../model/api.ts";
import type { QueueParameters } from "./parameters.ts";
import type { Period } from "./pauses.ts";

/** What a client handed in. */
export interface ItemText {
  /** Names the item; its payload begins with it. */
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
  readonly headers: Headers | undefined;
}

/** As the engine is given it. */
export function handedIn({ payload, asBytes, key: _, headers, ...text }: ItemText): ProduceItem {
  return {
    ...text,
    payload: asBytes ? new TextEncoder().encode(payload) : payload,
    ...(headers && { headers }),
  };
}

export interface ProduceCall {
  readonly queue: string;
  /** Places in the order of all calls and answers. */
  readonly begun: number;
  answered: number;
  /** The earliest instant at which it was sent; a clock may be set back in between. */
  begunAt: number;
  answeredAt: number;
  outcome: "open" | "written" | "not written" | "unknown";
  /** Failed commits that were there all the same, when it began. */
  readonly unheardCommits: number;
  /** Produces to its queue were, when it began. */
  readonly paused: Period | null;
  readonly items: Tracked[];
}

/** The latest lease of an item that somebody was told of. */
export interface Grant {
  readonly id: string;
  readonly partition: number;
  /** Who holds it, as far as the engine can know; `null` = it was told again, or by another process. */
  client: string | null;
  /** The latest that anyone was told. */
  deadline: number;
  /** Extends of which nobody has heard, or will: it may be held for longer. */
  unheardExtends: number;
  /** The engine time at which it was granted. */
  readonly at: number;
  /** When it was told, in the order of all calls and answers. */
  readonly heard: number;
  /** Its holder gave the item back, and was answered so. */
  isOver: boolean;
}

/** Of what is rejected or taken back by a task. */
export const handReason = "by hand";

/** What a task of a world is to do. */
export interface TaskPlan {
  readonly queue: string;
  readonly action: TaskAction;
  /** `null` = of any kind. */
  readonly kind: string | null;
  /** `null` = all that the action is for. */
  readonly state: ItemState | null;
  /** Of a retry; `null` = whoever holds them. */
  readonly holder: string | null;
  readonly perSecond: number | null;
}

/** A task that may do something with items, of one kind or (`null`) any. */
export interface TaskCall {
  readonly queue: string;
  readonly action: TaskAction;
  readonly kind: string | null;
  /** Whatever was granted later is not meant; infinite = it may yet begin. */
  answeredAt: number;
}

export interface Tracked extends ItemText {
  readonly produce: ProduceCall;
  readonly index: number;
  /** The id that it was leased under first, or was told to have had; `null` = never leased. */
  origin: string | null;
  /** What it has to say why it was given back; `undefined` = nothing. */
  reason: string | undefined;
  /** That a call may have put in its place of which nobody heard, or that is open. */
  readonly mayBeReasons: Set<string | undefined>;
  /** That a holder ever gave for a retry, whatever became of it. */
  readonly reasons: Set<string>;
  /** When it was produced first, as a dead queue told it. */
  originCreatedAt: number | null;
  /** How often it had been leased when it died, as its dead queue told it first. */
  originAttempts: number | null;
  /** The queue it is in: its own, or the dead queue of that. */
  place: QueueParameters;
  end: "completed" | "cleared" | "told to be a duplicate" | null;
  grant: Grant | null;
  /** As the latest lease told it. */
  attempts: number;
  /** Faults that had happened when it was last heard of: each may have lost one grant. */
  faultsSeen: number;
  /** Not to be offered before: by a producer or by a retry. */
  notBefore: number;
  /** A holder gave it up: whether that is certain. */
  rejected: "no" | "maybe" | "yes";
  /** Calls whose outcome nobody knows. */
  mayBeCompleted: boolean;
  mayBeRetried: boolean;
  /** Then its attempt did not count. */
  mayBeReleased: boolean;
  mayBeCleared: boolean;
  damagedAt: number | null;
  /** Those that may not have come to it yet, or that came and nobody saw it since. */
  tasks: TaskCall[];
  /** How often it was sent back from the dead queue, as it was last told, and may have been. */
  redriven: number;
  redrivenMax: number;
  /** When the database last lost commits of which it was told, in the order of all calls; 0 = never. */
  wentBackAt: number;
  /** Calls on it that are not answered. */
  open: number;
  /** It may be on its way from another shard, although it is certain. */
  isSent: boolean;
  /** Whether it must be offered in the order of producing. */
  isOrdered: boolean;
}

export function trackedOf(text: ItemText, produce: ProduceCall, place: QueueParameters): Tracked {
  return {
    ...text,
    produce,
    index: produce.items.length,
    origin: null,
    reason: undefined,
    mayBeReasons: new Set(),
    reasons: new Set(),
    originCreatedAt: null,
    originAttempts: null,
    place,
    end: null,
    grant: null,
    attempts: 0,
    faultsSeen: 0,
    notBefore: text.enqueueAt ?? 0,
    rejected: "no",
    mayBeCompleted: false,
    mayBeRetried: false,
    mayBeReleased: false,
    mayBeCleared: false,
    damagedAt: null,
    tasks: [],
    redriven: 0,
    redrivenMax: 0,
    wentBackAt: 0,
    open: 0,
    isSent: false,
    isOrdered: true,
  };
}

/** A task of one of these kinds may have done it, or may yet. */
export function isConcerned({ tasks }: Tracked, ...by: readonly TaskAction[]): boolean {
  return tasks.some(({ action }) => by.includes(action));
}

/** It is stored, and nothing but the calls to come and time can end it. */
export function isCertain(item: Tracked): boolean {
  return (
    item.produce.outcome === "written" &&
    item.end === null &&
    item.rejected !== "maybe" &&
    !isConcerned(item, "reject", "delete", "retry") &&
    !(item.mayBeCompleted || item.mayBeRetried || item.mayBeCleared || item.damagedAt !== null)
  );
}

/** Somebody holds it without any doubt, and will a moment from `now`. */
export function isHeld(item: Tracked, id: string, now: number): boolean {
  const { grant } = item;
  return (
    isCertain(item) && grant !== null && grant.id === id && !grant.isOver && grant.deadline > now
  );
}

/** Whether its queue's rules allow that it died by `now`; `faults`: how many there were. */
export function mayHaveDied(item: Tracked, now: number, faults: number): boolean {
  const { place, produce, grant } = item;
  if (item.rejected !== "no" || isConcerned(item, "reject")) return true;
  // What was sent back is no longer scheduled.
  const enqueueAt = item.redriven > 0 ? null : item.enqueueAt;
  const available = Math.max(produce.begunAt, enqueueAt ?? 0);
  if (available + place.expireTimeoutMs <= now) return true;
  if (place.maxAttempts === 0) return false;
  const lost = faults - item.faultsSeen;
  const mayBeBack = item.mayBeRetried || isConcerned(item, "retry");
  const isOver = grant === null || grant.isOver || mayBeBack || grant.deadline <= now;
  return item.attempts + lost >= place.maxAttempts && (isOver || lost > 0);
}
