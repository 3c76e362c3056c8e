// The types that the steps of a turn share: the reads that they need, and the turn that they
// change.

import type { GroupHead, Page, ReadPlan, ReadResult } from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import type { TurnLimits } from "../model/limits.ts";
import { done, type Result } from "../model/messages.ts";
import type { History } from "../state/history.ts";
import type { Lines, LinesToServe } from "../state/lines.ts";
import type { IdPlaces, Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import { inOrder } from "./change-set.ts";
import type { StepContext } from "./item-transitions.ts";

/** Collects the reads that a turn needs before it is decided. */
export class ReadPlanner {
  readonly memory: Memory;
  readonly now: number;
  readonly machineNow: number;
  readonly limits: TurnLimits;
  readonly linesToServe: LinesToServe;
  readonly heads: ReadPlan["heads"][number][] = [];
  readonly items: Page[] = [];
  readonly scheduled: Page[] = [];
  readonly marks: Page[] = [];
  readonly scheduledMarks: Page[] = [];
  readonly outbound: ReadPlan["outbound"][number][] = [];
  readonly groups: GroupHead[] = [];
  readonly uniques = new Set<string>();
  ended: ReadPlan["ended"] = null;
  waking: ReadPlan["waking"] = null;
  early: ReadPlan["early"] = null;
  /** The places of ids, by request or part of one: each id is parsed only once. */
  readonly named = new Map<object, IdPlaces>();
  readonly #picks = new Map<number, Set<number>>();
  readonly #sources = new Map<number, Set<string>>();

  constructor({
    memory,
    now,
    machineNow,
    limits,
    linesToServe,
  }: Pick<ReadPlanner, "memory" | "now" | "machineNow" | "limits" | "linesToServe">) {
    this.memory = memory;
    this.now = now;
    this.machineNow = machineNow;
    this.limits = limits;
    this.linesToServe = linesToServe;
  }

  pick(slot: number, seqs: Iterable<number>): void {
    addAll(this.#picks, slot, seqs);
  }

  source(slot: number, sourceIds: Iterable<string>): void {
    addAll(this.#sources, slot, sourceIds);
  }

  /** `null` = the turn needs no reads. */
  get plan(): ReadPlan | null {
    const { heads, groups, items, scheduled, marks, scheduledMarks, outbound } = this;
    const { ended, waking, early } = this;
    const uniques = [...this.uniques];
    const picks = [...this.#picks].map(([slot, seqs]) => ({ slot, seqs: inOrder(seqs) }));
    const sources = [...this.#sources].map(([slot, ids]) => ({ slot, sourceIds: [...ids] }));
    const pages = { heads, groups, items, scheduled, marks, scheduledMarks };
    const lists = { ...pages, picks, sources, uniques, outbound };
    const isNone = Object.values(lists).every(({ length }) => length === 0);
    if (isNone && ended === null && waking === null && early === null) return null;
    return { ...lists, headBytes: this.limits.turnBytesMax, ended, waking, early };
  }
}

function addAll<T>(sets: Map<number, Set<T>>, slot: number, values: Iterable<T>): void {
  for (const value of values) sets.getOrInsertComputed(slot, () => new Set()).add(value);
}

export interface Turn extends StepContext {
  /** The time of request deadlines; it differs from `now` only with a test clock. */
  readonly machineNow: number;
  readonly readResult: ReadResult;
  readonly named: ReadPlanner["named"];
  /** Whose heads are in `readResult.groups`. */
  readonly groupHeads: ReadPlanner["groups"];
  readonly renderLeased: (items: readonly LeasedItem[]) => unknown;
  readonly linesToServe: LinesToServe;
  /** Takes the queues that a later turn serves, and when. */
  readonly lines: Pick<Lines, "ready" | "rest" | "lookUp" | "isNew" | "nextAt">;
  readonly history: History;
  /** The store was recently full, so requests that only add to it are refused. */
  readonly full: boolean;
  /** Skips the sweep and the clears, because the store had no room for them. */
  readonly isStill: boolean;
  /** Collects the requests that are answered only when a clear or a recount is done. */
  readonly settling: Settling[];
}

/** A request whose answer comes in a later turn, because its work continues in pieces. */
export interface Settling {
  readonly op: number;
  readonly work: "clear" | "recount";
  readonly answer: Result;
  readonly slots: readonly number[];
  /** The partitions whose work is not done yet. */
  partitions: Set<Partition>;
}

/**
 * Postpones the answer until the work is done on all partitions whose own slots these are; returns
 * all their slots.
 */
export function settleLater(
  { memory, settling }: Turn,
  { op, slots }: { readonly op: number; readonly slots: readonly number[] },
  work: Settling["work"],
  answer: Result = done,
): Set<Partition> {
  const partitions = new Set(slots.flatMap((slot) => memory.partitionsAt(slot)));
  const all = [...partitions].map(({ slot }) => slot);
  settling.push({ op, work, answer, slots: all, partitions });
  return partitions;
}
