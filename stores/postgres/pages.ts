// Reads the first items of spans, up to a bound of items and payload bytes. One statement reads
// many spans. The number of rows that are enough is a guess; the next round reads what is missing.

import type { Item, ScheduledItem } from "../item.ts";
import { packItemsMax } from "../packs.ts";
import type { Mark, Read, ReadLimit, ScheduledMark, Some, Span } from "../store.ts";
import { int8Array } from "./arrays.ts";
import type { SqlRow } from "./connection.ts";
import type { Database } from "./database.ts";
import {
  itemColumns,
  itemsOf,
  markColumns,
  marksOf,
  packColumns,
  scheduledColumns,
  scheduledMarkColumns,
  scheduledMarkOf,
  scheduledOf,
} from "./rows.ts";

export interface Wanted extends Span {
  readonly limit: ReadLimit;
}

interface PageRow {
  readonly seq: number;
}

interface PageSource<T extends PageRow> {
  readonly text: string;
  /** The items of a row, without its first two columns: the span's number, and if rows follow. */
  readonly read: (row: SqlRow) => readonly T[];
  /** The first number after the row. */
  readonly endOf: (row: SqlRow) => number;
  /** Bytes that count towards the bound. */
  readonly bytesOf: (found: T) => number;
}

const span =
  'unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS span(slot, "from", before, rows, bytes, place)';
const ahead =
  "coalesce(sum(bytes) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ahead, count(*) OVER () AS found";

const packs = (columns: string): string => `
  SELECT span.place, i.found = span.rows OR i.ahead + i.bytes >= span.bytes, ${packColumns}, ${columns}
  FROM ${span}
  CROSS JOIN LATERAL (
    SELECT near.*, ${ahead} FROM (
      SELECT * FROM shard.item
      WHERE slot = span.slot AND seq > span."from" - ${packItemsMax} AND seq + count > span."from" AND seq < span.before
      ORDER BY seq LIMIT span.rows
    ) near
  ) i
  LEFT JOIN LATERAL (
    SELECT array_agg(seq) AS seqs FROM shard.gone
    WHERE slot = i.slot AND seq >= i.seq AND seq < i.seq + i.count
  ) gone ON i.count > 1
  WHERE i.ahead < span.bytes
  ORDER BY span.place, i.seq`;

const aside = (columns: string): string => `
  SELECT span.place, i.found = span.rows OR i.ahead + length(i.payload) >= span.bytes, ${columns}
  FROM ${span}
  CROSS JOIN LATERAL (
    SELECT near.*, ${ahead} FROM (
      SELECT *, length(payload) AS bytes FROM shard.scheduled
      WHERE slot = span.slot AND seq >= span."from" AND seq < span.before
      ORDER BY seq LIMIT span.rows
    ) near
  ) i
  WHERE i.ahead < span.bytes
  ORDER BY span.place, i.seq`;

const nothing = (): number => 0;
const endOfPack = (row: SqlRow): number => Number(row[3]) + Number(row[4]);
const endOfOne = (row: SqlRow): number => Number(row[3]) + 1;
const payloadBytes = ({ payload }: Item): number => payload.length;

export const sources = {
  items: {
    text: packs(itemColumns),
    read: itemsOf,
    endOf: endOfPack,
    bytesOf: payloadBytes,
  } as PageSource<Read<Item>>,
  marks: {
    text: packs(markColumns),
    read: marksOf,
    endOf: endOfPack,
    bytesOf: nothing,
  } as PageSource<Mark>,
  scheduled: {
    text: aside(scheduledColumns),
    read: (row) => [scheduledOf(row)],
    endOf: endOfOne,
    bytesOf: payloadBytes,
  } as PageSource<Read<ScheduledItem>>,
  scheduledMarks: {
    text: aside(scheduledMarkColumns),
    read: (row) => [scheduledMarkOf(row)],
    endOf: endOfOne,
    bytesOf: nothing,
  } as PageSource<ScheduledMark>,
} as const;

/** Maximum rows of a span's first round. */
const firstRows = 64;
const bytesUnbound = Number.MAX_SAFE_INTEGER;

/** The read of one span, over several rounds. */
class Reading<T extends PageRow> {
  readonly found: T[] = [];
  readonly #wanted: Wanted;
  readonly #source: PageSource<T>;
  #from: number;
  #bytes: number;
  #rows: number;
  /** More rows may follow. */
  isOpen = true;
  isAll = true;

  constructor(wanted: Wanted, source: PageSource<T>) {
    this.#wanted = wanted;
    this.#source = source;
    this.#from = wanted.from;
    this.#bytes = wanted.limit.payloadBytes;
    this.#rows = Math.min(wanted.limit.items, firstRows);
  }

  /** Values for `span`. */
  values(): readonly [number, number, number, number, number] {
    const { slot, before } = this.#wanted;
    return [slot, this.#from, before, this.#rows, Math.min(this.#bytes, bytesUnbound)];
  }

  take(rows: readonly SqlRow[]): void {
    const { limit, before } = this.#wanted;
    for (const row of rows) {
      for (const one of this.#source.read(row.slice(2))) {
        if (one.seq < this.#from) continue;
        if (one.seq >= before) break;
        this.found.push(one);
        this.#from = one.seq + 1;
        this.#bytes -= this.#source.bytesOf(one);
        if (this.found.length >= limit.items || this.#bytes <= 0) {
          this.isAll = false;
          this.isOpen = false;
          return;
        }
      }
    }
    const [last] = rows.slice(-1);
    this.isOpen = last?.[1] === true;
    // All items of the last row may have left, or be outside of the span.
    if (this.isOpen) this.#from = Math.max(this.#from, this.#source.endOf(last as SqlRow));
    this.#rows = Math.min(limit.items, 4 * this.#rows);
  }
}

/** In the order of the spans. */
export async function pages<T extends PageRow>(
  rowsOf: Database["rows"],
  source: PageSource<T>,
  wanted: readonly Wanted[],
): Promise<Some<T>[]> {
  const readings = wanted.map((one) => new Reading(one, source));
  for (;;) {
    const open = readings.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return readings.map(({ found, isAll }) => ({ found, isAll }));
    const values = open.map((reading) => reading.values());
    const columns = [0, 1, 2, 3, 4].map((column) =>
      int8Array(values.map((of) => of[column] as number)),
    );
    const rows = await rowsOf(source.text, columns);
    const bySpan = Map.groupBy(rows, (row) => row[0] as number);
    for (const [index, reading] of open.entries()) reading.take(bySpan.get(index + 1) ?? []);
  }
}
