// The table of scheduled items, one row each.

import type { Database } from "bun:sqlite";
import { type ScheduledItem, wakeAt } from "../item.ts";
import type {
  Read,
  ReadLimit,
  ReadPlan,
  ReadResult,
  ScheduledMark,
  SlotSeqs,
  Some,
  Span,
} from "../store.ts";
import { type Prepared, prepareAll } from "./prepared.ts";
import {
  itemColumns,
  scheduledMarkColumns,
  scheduledMarkOf,
  scheduledOf,
  scheduledValues,
} from "./rows.ts";
import { insertedItem, key, keyOf, limitOf, place, placeAndItem } from "./sql-text.ts";

const range = `key >= ${key} AND key < ${keyOf("?1", "?3")}`;
const mark = `${place}, ${scheduledMarkColumns}`;

const statements = {
  insert: `INSERT INTO scheduled (key, ${itemColumns}, due_at, retried, wake_at) VALUES (${key}, ${insertedItem}, ?16, ?17, ?18)`,
  remove: `DELETE FROM scheduled WHERE key = ${key}`,
  items: `SELECT ${placeAndItem}, due_at, retried FROM scheduled WHERE ${range} ORDER BY key ${limitOf("?4")}`,
  marks: `SELECT ${mark} FROM scheduled WHERE ${range} ORDER BY key ${limitOf("?4")}`,
  waking: `SELECT ${mark} FROM scheduled WHERE wake_at <= ?1 ORDER BY wake_at, key ${limitOf("?2")}`,
  next: `SELECT wake_at FROM scheduled ORDER BY wake_at, key LIMIT 1 OFFSET ?1`,
  quarantine: `INSERT INTO quarantine (key, columns, payload) SELECT key, json_array(created_at, queued_at, expire_deadline, early, attempts, kind, encoding, reference, source_id, headers, past, check_sum, due_at, retried), payload FROM scheduled WHERE key = ${key}`,
} as const;

/** Rows of a read's first query; more follow if the payload bound allows. */
const firstRead = 64;

export class ScheduledTable {
  readonly #statements: Prepared<typeof statements>;

  constructor(database: Database) {
    this.#statements = prepareAll(database, statements);
  }

  insert(item: ScheduledItem): void {
    const { dueAt, retried } = item;
    this.#statements.insert.run(...scheduledValues(item), dueAt, retried ? 1 : 0, wakeAt(item));
  }

  remove({ slot, seqs }: SlotSeqs): void {
    for (const seq of seqs) this.#statements.remove.run(slot, seq);
  }

  /** Moves the row into the `quarantine` table, as far as it can be read. */
  quarantine(slot: number, seq: number): void {
    this.#statements.quarantine.run(slot, seq);
    this.#statements.remove.run(slot, seq);
  }

  /** Reads in pieces of an adapted size, because payloads range from nothing to megabytes. */
  items({ slot, from, before }: Span, limit: ReadLimit): Some<Read<ScheduledItem>> {
    const found: Read<ScheduledItem>[] = [];
    let bytes = 0;
    let ask = Math.min(limit.items, firstRead);
    while (ask > 0) {
      const start = (found.at(-1)?.seq ?? from - 1) + 1;
      const rows = this.#statements.items.values(slot, start, before, ask);
      for (const row of rows) {
        const item = scheduledOf(row);
        found.push(item);
        bytes += item.payload.length;
        if (bytes >= limit.payloadBytes) return { found, isAll: false };
      }
      if (rows.length < ask) return { found, isAll: true };
      const mean = Math.max(1, bytes / found.length);
      const fitting = Math.ceil((limit.payloadBytes - bytes) / mean);
      ask = Math.min(limit.items - found.length, Math.max(1, fitting));
    }
    return { found, isAll: false };
  }

  marks({ slot, from, before }: Span, { items }: ReadLimit): Some<ScheduledMark> {
    const found = this.#statements.marks.values(slot, from, before, items).map(scheduledMarkOf);
    return { found, isAll: found.length < items };
  }

  waking(want: ReadPlan["waking"]): ReadResult["waking"] {
    if (want === null) return { found: [], next: null };
    const rows = this.#statements.waking.values(want.until, want.items);
    const next = this.#statements.next.values(rows.length)[0]?.[0] as number | undefined;
    return { found: rows.map(scheduledMarkOf), next: next ?? null };
  }
}
