// The table of unique keys. A damaged row counts as absent: a duplicate item is better than an item
// wrongly refused as a duplicate.

import type { Database } from "bun:sqlite";
import type { ReadPlan, ReadResult, SlotSeq, SlotSeqs, UniqueKey } from "../store.ts";
import { type Prepared, prepareAll } from "./prepared.ts";
import { uniqueOf, uniqueValues } from "./rows.ts";
import { key, keyOf, limitOf, place } from "./sql-text.ts";

const statements = {
  put: `INSERT OR REPLACE INTO unique_key VALUES (${key}, ?3, ?4, ?5)`,
  find: `SELECT ${place}, digest, until, check_sum FROM unique_key WHERE digest = ?1`,
  ended: `SELECT ${place} FROM unique_key WHERE until <= ?1 ORDER BY until ${limitOf("?2")}`,
  next: "SELECT until FROM unique_key ORDER BY until LIMIT 1 OFFSET ?1",
  remove: `DELETE FROM unique_key WHERE key >= ${key} AND key <= ${keyOf("?1", "?3")}`,
} as const;

export class UniqueTable {
  readonly #statements: Prepared<typeof statements>;

  constructor(database: Database) {
    this.#statements = prepareAll(database, statements);
  }

  put(unique: UniqueKey): void {
    this.#statements.put.run(...uniqueValues(unique));
  }

  /** Removes neighbours in one statement, as a clear removes many. */
  remove({ slot, seqs }: SlotSeqs): void {
    for (let index = 0; index < seqs.length; ) {
      const first = seqs[index] as number;
      let last = first;
      for (index += 1; seqs[index] === last + 1; index += 1) last += 1;
      this.#statements.remove.run(slot, first, last);
    }
  }

  taken(digests: ReadPlan["uniques"]): ReadResult["uniques"] {
    const taken = new Map<string, UniqueKey>();
    for (const digest of digests) {
      const [row] = this.#statements.find.values(Uint8Array.fromHex(digest));
      const unique = row === undefined ? null : uniqueOf(row);
      if (unique !== null) taken.set(digest, unique);
    }
    return taken;
  }

  ended(want: ReadPlan["ended"]): ReadResult["ended"] {
    if (want === null) return { found: [], next: null };
    const found = this.#statements.ended.values(want.until, want.keys).map((row): SlotSeq => {
      const [slot = 0, seq = 0] = row as number[];
      return { slot, seq };
    });
    const next = this.#statements.next.values(found.length)[0]?.[0] as number | undefined;
    return { found, next: next ?? null };
  }
}
