// The newest items of a queue: reads each partition backwards and merges them by arrival.

import { assert } from "../model/assert.ts";
import { placeOf } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { MatchedItem, Value } from "../model/messages.ts";

/** Greater than the number of any item. */
export const latest = 10 ** 15 - 1;

/** The most items of a line per read, because the other lines wait meanwhile. */
const pieceMax = 100;

/** Lines read in parallel; leaves room in a shard's turn for other requests. */
const atOnceMax = 16;

/** Either the scheduled items of a partition, or the others. */
export interface Line<Where> {
  readonly where: Where;
  /** All items from this number on were returned. */
  readonly before: number;
}

/** Reads back from a number: at most `back` numbers, and `limit` items. */
export type LookBack<Where> = (
  where: Where,
  piece: { readonly before: number; readonly back: number; readonly limit: number },
) => Promise<Extract<Value, { kind: "found" }>>;

export interface Newest<Where> {
  readonly found: readonly { readonly item: MatchedItem; readonly where: Where }[];
  readonly scanned: number;
  /** Where each line continues; finished lines are missing. */
  readonly lines: readonly Line<Where>[];
}

export async function findNewest<Where>(
  lines: readonly Line<Where>[],
  limit: number,
  lookBack: LookBack<Where>,
): Promise<Newest<Where>> {
  const ahead = Math.min(pieceMax, Math.max(1, Math.ceil(limit / lines.length)));
  const open = lines.map((line) => new Reader(line, ahead, lookBack));
  const found: Newest<Where>["found"][number][] = [];
  let scanned = 0;
  while (found.length < limit) {
    // A line whose next item is unknown may have the newest one.
    for (let unread = unreadOf(open); unread.length > 0; unread = unreadOf(open)) {
      if (scanned >= limits.findScannedMax) return ended(open, { found, scanned });
      const counts = await Promise.all(unread.slice(0, atOnceMax).map((reader) => reader.look()));
      scanned += counts.reduce((sum, count) => sum + count, 0);
    }
    const next = newestOf(open);
    if (next === null) break;
    found.push({ item: next.take(), where: next.where });
  }
  return ended(open, { found, scanned });
}

function unreadOf<Where>(readers: readonly Reader<Where>[]): Reader<Where>[] {
  return readers.filter(({ needsRead }) => needsRead);
}

function ended<Where>(
  readers: readonly Reader<Where>[],
  result: Omit<Newest<Where>, "lines">,
): Newest<Where> {
  const left = readers.filter(({ isOver }) => !isOver);
  return { ...result, lines: left.map(({ where, before }) => ({ where, before })) };
}

function newestOf<Where>(readers: readonly Reader<Where>[]): Reader<Where> | null {
  let newest: Reader<Where> | null = null;
  for (const reader of readers) {
    if (!reader.isOver && (newest === null || reader.queuedAt > newest.queuedAt)) newest = reader;
  }
  return newest;
}

class Reader<Where> {
  readonly where: Where;
  readonly #limit: number;
  readonly #lookBack: LookBack<Where>;
  /** Found but not taken, newest first. */
  #items: MatchedItem[] = [];
  /** Items from this number on were read; 0 = all were. */
  #to: number;
  #back: number = limits.findTurnScanned;

  constructor({ where, before }: Line<Where>, limit: number, lookBack: LookBack<Where>) {
    this.where = where;
    this.#to = before;
    this.#limit = limit;
    this.#lookBack = lookBack;
  }

  get isOver(): boolean {
    return this.#items.length === 0 && this.#to === 0;
  }

  /** The next item is unknown. */
  get needsRead(): boolean {
    return this.#items.length === 0 && this.#to > 0;
  }

  get before(): number {
    const [next] = this.#items;
    return next === undefined ? this.#to : (placeOf(next.id)?.seq ?? 0) + 1;
  }

  get queuedAt(): number {
    return this.#items[0]?.queuedAt ?? 0;
  }

  take(): MatchedItem {
    const item = this.#items.shift();
    assert(item !== undefined, "an item was taken from a line that has none");
    return item;
  }

  /** Returns the number of items examined. */
  async look(): Promise<number> {
    const piece = { before: this.#to, back: this.#back, limit: this.#limit };
    const { items, scanned, next } = await this.#lookBack(this.where, piece);
    // A span too large for one read is halved; a sparse one is doubled.
    if (next === this.#to) this.#back = Math.ceil(this.#back / 2);
    else if (scanned < this.#back / 4) this.#back *= 2;
    this.#items = [...items];
    this.#to = next ?? 0;
    return scanned;
  }
}
