// The table of ready and leased items. A row is one item or a pack, and never changes. An item that
// leaves its pack alone is marked in table `hole`, in a row that is small however large the pack.
// When the last item leaves, the pack is deleted.

import type { Database, Statement } from "bun:sqlite";
import type { Item } from "../item.ts";
import type { StoredCounts } from "../maintenance.ts";
import { packsOf } from "../packs.ts";
import {
  type Mark,
  type Read,
  type ReadLimit,
  type ReadPlan,
  type SlotSeq,
  type SlotSeqs,
  type Some,
  type Span,
  StoreError,
} from "../store.ts";
import { packBytesMax, readPasts } from "./pack.ts";
import { type Prepared, prepareAll } from "./prepared.ts";
import {
  isPlain,
  itemColumns,
  itemsOf,
  itemValues,
  packColumns,
  packValues,
  textIn,
} from "./rows.ts";
import { insertedItem, key, keyOf, limitOf, place } from "./sql-text.ts";

/** The key of the row that contains item ?2; if there is none, the item's own key. */
const rowKey = `ifnull((SELECT iif(key + count > ${key}, key, ${key}) FROM item WHERE key <= ${key} ORDER BY key DESC LIMIT 1), ${key})`;
const rows = `FROM item LEFT JOIN hole USING (key) WHERE item.key >= ${rowKey} AND item.key < ${keyOf("?1", "?3")} ORDER BY item.key ${limitOf("?4")}`;
const hole = "hole.gone, hole.check_sum";
const columns = `${place}, ${itemColumns.replace("check_sum", "item.check_sum")}, ${packColumns}, ${hole}`;
const fromKey = keyOf("span.slot", "span.first");

const ofTally = `key >= ${keyOf("slot", "0")} AND key < ${keyOf("slot", "next_seq")}`;

const statements = {
  insert: `INSERT INTO item (key, count, ${itemColumns}) VALUES (${key}, 1, ${insertedItem})`,
  // Most items are new and have only a payload; binding half as many values is measurably faster.
  insertPlain: `INSERT INTO item (key, count, created_at, expire_deadline, early, attempts, payload, check_sum) VALUES (${key}, 1, ?3, ?4, 0, 0, CAST(?5 AS BLOB), ?6)`,
  insertPack: `INSERT INTO item (key, count, created_at, queued_at, expire_deadline, early, attempts, past, sizes, texts, payload, check_sum) VALUES (${key}, ?3, ?4, ?5, ?6, 0, ?7, ?8, ?9, ?10, ?11, ?12)`,
  end: `SELECT (key & 0x1fffffffffff) + count FROM item WHERE key >= ${keyOf("?1", "0")} AND key < ${keyOf("(?1 + 1)", "0")} ORDER BY key DESC LIMIT 1`,
  removeSingle: `DELETE FROM item WHERE key = ${key} AND count = 1`,
  removeRows: `DELETE FROM item WHERE key BETWEEN ${key} AND ${keyOf("?1", "?3")}`,
  fill: `DELETE FROM hole WHERE key BETWEEN ${key} AND ${keyOf("?1", "?3")}`,
  dig: `INSERT OR REPLACE INTO hole VALUES (${key}, ?3, ?4)`,
  items: `SELECT ${columns} ${rows}`,
  heads: `
    WITH
      span AS (SELECT value ->> 0 AS slot, value ->> 1 AS first, value ->> 2 AS before FROM json_each(?1)),
      head AS (
        SELECT ifnull(
          (SELECT iif(key + count > ${fromKey}, key, NULL) FROM item WHERE key <= ${fromKey} ORDER BY key DESC LIMIT 1),
          (SELECT key FROM item WHERE key > ${fromKey} AND key < ${keyOf("span.slot", "span.before")} ORDER BY key LIMIT 1)
        ) AS key FROM span
      )
    SELECT ${columns} FROM head JOIN item USING (key) LEFT JOIN hole USING (key)`,
  at: `
    SELECT ${columns} FROM item LEFT JOIN hole USING (key) WHERE item.key IN (
      SELECT (SELECT key FROM item WHERE key <= ${keyOf("(value ->> 0)", "(value ->> 1)")} ORDER BY key DESC LIMIT 1) FROM json_each(?1)
    )`,
  places: `SELECT key & 0x1fffffffffff, count, ${hole} ${rows}`,
  marks: `SELECT key & 0x1fffffffffff, count, ${hole}, created_at, expire_deadline, attempts, length(payload), past ${rows}`,
  counts: `SELECT slot, (SELECT ifnull(sum(count), 0) FROM item WHERE ${ofTally}), (SELECT count(*) FROM scheduled WHERE ${ofTally}) FROM tally`,
  holes: `SELECT ${place}, ${hole} FROM hole`,
  quarantine: `INSERT INTO quarantine (key, columns, payload) VALUES (${key}, ?3, ?4)`,
} as const;

/** A row's position, without its items. */
interface PackPlace {
  readonly first: number;
  readonly count: number;
  readonly gone: Uint8Array | null;
}

/** Rows of a first read, when the number of items in a row is unknown. */
const firstRows = 1;
/** Maximum rows of one read. */
const placesMax = 256;
/** Partitions whose heads are read at once: all are in memory, and an item may be large. */
const headsMax = 32;
const one: ReadLimit = { items: 1, payloadBytes: 1 };

export class ItemTable {
  readonly #statements: Prepared<typeof statements>;

  constructor(database: Database) {
    this.#statements = prepareAll(database, statements);
  }

  /** Throws if a number is taken, even by an item that has left its pack. */
  insert(items: readonly Item[]): void {
    const run = this.#statements;
    const ends = new Map<number, number>();
    for (const pack of packsOf(items, packBytesMax)) {
      const [first, ...others] = pack;
      if (first === undefined) continue;
      const after = first.seq + pack.length;
      const end = ends.get(first.slot) ?? this.#endOf(first.slot);
      if (first.seq < end) this.#refuseTaken(first.slot, first.seq, after);
      ends.set(first.slot, Math.max(end, after));
      if (others.length > 0) {
        run.insertPack.run(...packValues([first, ...others]));
        continue;
      }
      const values = itemValues(first);
      if (isPlain(values)) {
        const [slot, seq, createdAt, , expireDeadline] = values;
        run.insertPlain.run(slot, seq, createdAt, expireDeadline, values[13], values[14]);
      } else {
        run.insert.run(...values);
      }
    }
  }

  /** The first number after the last row of the slot. */
  #endOf(slot: number): number {
    return Number(this.#statements.end.values(slot)[0]?.[0] ?? 0);
  }

  #refuseTaken(slot: number, from: number, before: number): void {
    if (this.#statements.places.values(slot, from, before, 1).length === 0) return;
    throw new StoreError("failed", "an item was to be written under a number that is taken");
  }

  items({ slot, from, before }: Span, limit: ReadLimit): Some<Read<Item>> {
    const found: Read<Item>[] = [];
    let bytes = 0;
    let isAll = true;
    this.#walk(this.#statements.items, { slot, from, before }, (row) => {
      const { all, gone } = contentsOf(slot, row);
      const first = all[0]?.seq ?? 0;
      for (const item of all) {
        if (item.seq < from || isGone(gone, item.seq - first)) continue;
        if (item.seq >= before) return null;
        found.push(item);
        bytes += item.payload.length;
        if (found.length >= limit.items || bytes >= limit.payloadBytes) {
          isAll = false;
          return null;
        }
      }
      const mean = Math.max(1, bytes / Math.max(1, found.length));
      const left = Math.min(limit.items - found.length, (limit.payloadBytes - bytes) / mean);
      return { count: all.length, more: left / all.length };
    });
    return { found, isAll };
  }

  /** Heads of several partitions: the first row of each in one read, then the rest one by one. */
  heads({ heads, headBytes }: ReadPlan): Map<number, Some<Read<Item>>> {
    const found = new Map<number, Some<Read<Item>>>();
    let payloadBytes = headBytes;
    for (let start = 0; start < heads.length; start += headsMax) {
      const some = heads.slice(start, start + headsMax);
      const begun = some.length > 1 ? this.#firstRows(some) : new Map<number, Read<Item>[]>();
      for (const head of some) {
        if (payloadBytes <= 0) return found;
        const items = this.#head(head, begun.get(head.slot) ?? [], payloadBytes);
        for (const { payload } of items.found) payloadBytes -= payload.length;
        found.set(head.slot, items);
      }
    }
    return found;
  }

  #head(
    { slot, from, before, items }: ReadPlan["heads"][number],
    begun: readonly Read<Item>[],
    payloadBytes: number,
  ): Some<Read<Item>> {
    const found: Read<Item>[] = [];
    let next = from;
    let left = payloadBytes;
    for (const item of begun) {
      found.push(item);
      next = item.seq + 1;
      left -= item.payload.length;
      if (found.length === items || left <= 0) return { found, isAll: false };
    }
    const limit = { items: items - found.length, payloadBytes: left };
    const rest = this.items({ slot, from: next, before }, limit);
    return found.length === 0 ? rest : { found: [...found, ...rest.found], isAll: rest.isAll };
  }

  /** The first row of each span, in one query: a call to SQLite costs as much as several rows. */
  #firstRows(spans: readonly Span[]): Map<number, Read<Item>[]> {
    const bySlot = new Map(spans.map((span) => [span.slot, span]));
    const wanted = JSON.stringify(spans.map(({ slot, from, before }) => [slot, from, before]));
    const heads = new Map<number, Read<Item>[]>();
    for (const row of this.#statements.heads.values(wanted)) {
      const { slot, from, before } = bySlot.get(row[0] as number) as Span;
      const { all, gone } = contentsOf(slot, row);
      const first = all[0]?.seq ?? 0;
      const items = all.filter(
        ({ seq }) => seq >= from && seq < before && !isGone(gone, seq - first),
      );
      if (items.length > 0) heads.set(slot, items);
    }
    return heads;
  }

  /** The items of these places, in their order; `null` = none. Each row is read only once. */
  *at(places: readonly SlotSeq[]): Generator<Read<Item> | null> {
    const found = new Map<number, Map<number, Read<Item> | null | undefined>>();
    for (const { slot, seq } of places) {
      found.getOrInsertComputed(slot, () => new Map()).set(seq, undefined);
    }
    for (const [index, { slot, seq }] of places.entries()) {
      const here = found.get(slot);
      if (here?.get(seq) === undefined) this.#readAt(places.slice(index), found);
      yield here?.get(seq) ?? null;
    }
  }

  /** Reads the rows of the first places that are not read yet, in one query. */
  #readAt(
    places: readonly SlotSeq[],
    found: ReadonlyMap<number, Map<number, Read<Item> | null | undefined>>,
  ): void {
    const wanted: [slot: number, seq: number][] = [];
    for (const { slot, seq } of places) {
      if (found.get(slot)?.get(seq) !== undefined) continue;
      found.get(slot)?.set(seq, null);
      if (wanted.push([slot, seq]) === headsMax) break;
    }
    for (const row of this.#statements.at.values(JSON.stringify(wanted))) {
      const slot = row[0] as number;
      const here = found.get(slot);
      if (here === undefined) continue;
      const first = row[1] as number;
      const gone = goneOf(slot, first, row[18], row[19]);
      for (const item of itemsOf(row, here)) {
        if (!isGone(gone, item.seq - first)) here.set(item.seq, item);
      }
    }
  }

  marks({ slot, from, before }: Span, limit: ReadLimit): Some<Mark> {
    const found: Mark[] = [];
    let isAll = true;
    this.#walk(this.#statements.marks, { slot, from, before }, (row) => {
      const { first, count, gone } = placeOf(slot, row);
      const [createdAt = 0, expireDeadline = 0, attempts = 0, bytes = 0] = row.slice(4) as number[];
      const pasts = count === 1 ? [textIn(row, 8)] : readPasts(row[8] as string | null);
      const payloadBytes = bytes / count;
      for (let index = 0; index < count; index += 1) {
        const seq = first + index;
        if (seq < from || isGone(gone, index)) continue;
        if (seq >= before) return null;
        const past = pasts[index] ?? "";
        found.push({ slot, seq, createdAt, expireDeadline, attempts, past, payloadBytes });
        if (found.length >= limit.items) {
          isAll = false;
          return null;
        }
      }
      return { count, more: (limit.items - found.length) / count };
    });
    return { found, isAll };
  }

  /**
   * Reads rows until `take` has enough. It returns the row's item count and an estimate of how many
   * more such rows it needs; `null` ends the walk.
   */
  #walk(
    statement: Statement,
    { slot, from, before }: Span,
    take: (row: unknown[]) => { readonly count: number; readonly more: number } | null,
  ): void {
    let next = from;
    let ask = firstRows;
    while (next < before) {
      const read = statement.values(slot, next, before, ask);
      const asked = ask;
      for (const row of read) {
        const wish = take(row);
        if (wish === null) return;
        next = Number(seqIn(row)) + wish.count;
        ask = Math.max(1, Math.min(placesMax, Math.ceil(wish.more)));
      }
      if (read.length < asked) return;
    }
  }

  /** Counts items below `next_seq`, for each slot with a tally. */
  counts(): Map<number, StoredCounts> {
    const counts = new Map<number, { items: number; scheduled: number }>();
    const rows = this.#statements.counts.values() as number[][];
    for (const [slot = 0, items = 0, scheduled = 0] of rows) counts.set(slot, { items, scheduled });
    for (const [slot, first, gone, checkSum] of this.#statements.holes.values()) {
      const bits = goneOf(Number(slot), Number(first), gone, checkSum) ?? [];
      const count = counts.get(Number(slot));
      if (count === undefined) continue;
      for (const byte of bits) for (let rest = byte; rest > 0; rest >>= 1) count.items -= rest & 1;
    }
    return counts;
  }

  /** `seqs` in ascending order; missing numbers are ignored. */
  remove({ slot, seqs }: SlotSeqs): void {
    // Finding an item's row costs more than removing it, and with many partitions most turns remove
    // one item from each.
    if (seqs.length === 1 && this.#statements.removeSingle.run(slot, seqs[0] ?? 0).changes === 1) {
      return;
    }
    let index = 0;
    while (index < seqs.length) {
      let end = index + 1;
      while (end < seqs.length && seqs[end] === (seqs[end - 1] as number) + 1) end += 1;
      index = this.#removeFrom(slot, seqs, index, end);
    }
  }

  /** Removes at least the neighbours from `index` up to `end`; returns the next index. */
  #removeFrom(slot: number, seqs: readonly number[], index: number, end: number): number {
    const first = seqs[index] as number;
    const last = seqs[end - 1] as number;
    const places: PackPlace[] = [];
    this.#walk(this.#statements.places, { slot, from: first, before: last + 1 }, (row) => {
      const found = placeOf(slot, row);
      places.push(found);
      return { count: found.count, more: (last - found.first) / found.count };
    });
    let next = index;
    let whole: PackPlace[] = [];
    for (const place of places) {
      const after = place.first + place.count;
      if (place.first >= first && after <= last + 1) {
        next = index + after - first;
        whole.push(place);
        continue;
      }
      const gone = new Uint8Array(Math.ceil(place.count / 8));
      if (place.gone !== null) gone.set(place.gone);
      for (; (seqs[next] ?? after) < after; next += 1)
        mark(gone, (seqs[next] as number) - place.first);
      if (isAllGone(gone, place.count)) {
        whole.push(place);
        continue;
      }
      this.#removeRows(slot, whole);
      whole = [];
      this.#statements.dig.run(slot, place.first, gone, holeSum(slot, place.first, gone));
    }
    this.#removeRows(slot, whole);
    return Math.max(next, end);
  }

  /** Removes adjacent rows. */
  #removeRows(slot: number, places: readonly PackPlace[]): void {
    const first = places[0]?.first;
    const last = places.at(-1)?.first;
    if (first === undefined || last === undefined) return;
    this.#statements.removeRows.run(slot, first, last);
    if (places.some(({ gone }) => gone !== null)) this.#statements.fill.run(slot, first, last);
  }

  /** Moves the item into the `quarantine` table, as far as it can be read. */
  quarantine(slot: number, seq: number): void {
    for (const item of this.items({ slot, from: seq, before: seq + 1 }, one).found) {
      const { payload, damaged: _, ...columns } = item;
      this.#statements.quarantine.run(slot, seq, JSON.stringify(columns), payload);
      this.remove({ slot, seqs: [seq] });
    }
  }
}

/** Rows of `items` begin with slot and seq, those of `places` and `marks` with seq. */
function seqIn(row: unknown[]): unknown {
  return row.length > 9 ? row[1] : row[0];
}

/** A row's items as written, and which of them have left since. */
function contentsOf(slot: number, row: unknown[]): { all: Read<Item>[]; gone: Uint8Array | null } {
  return { all: itemsOf(row), gone: goneOf(slot, row[1] as number, row[18], row[19]) };
}

function placeOf(slot: number, row: unknown[]): PackPlace {
  const [first = 0, count = 0] = row as number[];
  return { first, count, gone: goneOf(slot, first, row[2], row[3]) };
}

function goneOf(slot: number, first: number, gone: unknown, checkSum: unknown): Uint8Array | null {
  if (gone === null) return null;
  const bits = gone as Uint8Array;
  if (holeSum(slot, first, bits) === checkSum) return bits;
  throw new StoreError("damaged", "a stored row is damaged; table 'hole'");
}

function holeSum(slot: number, first: number, gone: Uint8Array): number {
  return Bun.hash.crc32(gone, Bun.hash.crc32(`${slot} ${first}`));
}

function isGone(gone: Uint8Array | null, index: number): boolean {
  return gone !== null && ((gone[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

function mark(gone: Uint8Array, index: number): void {
  gone[index >> 3] = (gone[index >> 3] ?? 0) | (1 << (index & 7));
}

function isAllGone(gone: Uint8Array, count: number): boolean {
  for (let index = 0; index < count; index += 1) if (!isGone(gone, index)) return false;
  return true;
}
