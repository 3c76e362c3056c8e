// What the steps of a turn share: what they ask for, and what they work on.

import type { Facts, Page, Wants } from "../../stores/store.ts";
import type { LeasedItem } from "../model/api.ts";
import type { TurnLimits } from "../model/limits.ts";
import { done, type Result } from "../operations/kind.ts";
import type { History } from "../state/history.ts";
import type { Lines, Looking } from "../state/lines.ts";
import type { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import { inOrder } from "./draft.ts";
import type { Scene } from "./moves.ts";

/** What a turn was found to have to know before it is decided. */
export class Asking {
  readonly memory: Memory;
  readonly now: number;
  readonly machineNow: number;
  readonly limits: TurnLimits;
  readonly looking: Looking;
  readonly heads: Wants["heads"][number][] = [];
  readonly items: Page[] = [];
  readonly scheduled: Page[] = [];
  readonly marks: Page[] = [];
  readonly scheduledMarks: Page[] = [];
  readonly outbound: Wants["outbound"][number][] = [];
  readonly uniques = new Set<string>();
  ended: Wants["ended"] = null;
  waking: Wants["waking"] = null;
  early: Wants["early"] = null;
  /** Sequence numbers that ids name, by the request, or its part, that has them; so that each id is read once. */
  readonly named = new Map<object, readonly (number | null)[]>();
  readonly #picks = new Map<number, Set<number>>();
  readonly #sources = new Map<number, Set<string>>();

  constructor({
    memory,
    now,
    machineNow,
    limits,
    looking,
  }: Pick<Asking, "memory" | "now" | "machineNow" | "limits" | "looking">) {
    this.memory = memory;
    this.now = now;
    this.machineNow = machineNow;
    this.limits = limits;
    this.looking = looking;
  }

  pick(slot: number, seqs: Iterable<number>): void {
    addAll(this.#picks, slot, seqs);
  }

  source(slot: number, sourceIds: Iterable<string>): void {
    addAll(this.#sources, slot, sourceIds);
  }

  /** `null`: the turn needs to know nothing. */
  get wants(): Wants | null {
    const { heads, items, scheduled, marks, scheduledMarks, outbound } = this;
    const { ended, waking, early } = this;
    const uniques = [...this.uniques];
    const picks = [...this.#picks].map(([slot, seqs]) => ({ slot, seqs: inOrder(seqs) }));
    const sources = [...this.#sources].map(([slot, ids]) => ({ slot, sourceIds: [...ids] }));
    const pages = { heads, items, scheduled, marks, scheduledMarks };
    const lists = { ...pages, picks, sources, uniques, outbound };
    const isNone = Object.values(lists).every(({ length }) => length === 0);
    if (isNone && ended === null && waking === null && early === null) return null;
    return { ...lists, headBytes: this.limits.turnBytesMax, ended, waking, early };
  }
}

function addAll<T>(sets: Map<number, Set<T>>, slot: number, values: Iterable<T>): void {
  for (const value of values) sets.getOrInsertComputed(slot, () => new Set()).add(value);
}

export interface Turn extends Scene {
  /** What the deadlines of requests are instants of; `now` but under a test clock. */
  readonly machineNow: number;
  readonly facts: Facts;
  readonly named: Asking["named"];
  readonly renderLeased: (items: readonly LeasedItem[]) => unknown;
  readonly looking: Looking;
  /** Told which queues the next turn is to look at, and when. */
  readonly lines: Pick<Lines, "ready" | "rest" | "lookUp" | "isNew" | "nextAt">;
  /** What is remembered of what happened. */
  readonly history: History;
  /** Whether the store had no room lately; what would only add to it is refused. */
  readonly full: boolean;
  /** Nothing is done for the clock's sake: there was no room for that. */
  readonly isStill: boolean;
  /** Filled with the requests that are answered only when a clear or a recount is done. */
  readonly settling: Settling[];
}

/** Requests whose answer comes later than their turn, because their work goes on in pieces. */
export interface Settling {
  readonly op: number;
  readonly work: "clear" | "recount";
  readonly answer: Result;
  readonly slots: readonly number[];
  /** The partitions on which the work is not done yet. */
  partitions: Set<Partition>;
}

/** Puts the answer off until the work is done on the partitions, which it returns. */
export function settleLater(
  turn: Turn,
  { op, slots }: { readonly op: number; readonly slots: readonly number[] },
  work: Settling["work"],
  answer: Result = done,
): Set<Partition> {
  const partitions = new Set(slots.map((slot) => turn.memory.partition(slot)));
  turn.settling.push({ op, work, answer, slots, partitions });
  return partitions;
}
