// The table of grouped items. A damaged row stops the store: its item would never be leased.

import type { Database } from "bun:sqlite";
import { bytesLeft, GroupCounts, groupPlaces, headsOfGroups, rowsOf } from "../groups.ts";
import type { GroupCount, GroupedItem, GroupHead, ReadPlan, ReadResult } from "../store.ts";
import { beforeGrouped, type GroupedKey, type Page } from "../transfer.ts";
import type { ItemTable } from "./item-table.ts";
import { type Prepared, prepareAll } from "./prepared.ts";
import { groupedOf, groupedValues } from "./rows.ts";
import { keyOf, limitOf, place } from "./sql-text.ts";

const columns = `partition, name, place, rank, ${place}, check_sum`;
const key = keyOf("?5", "?6");

const statements = {
  put: `INSERT OR REPLACE INTO grouped VALUES (?1, ?2, ?3, ?4, ${key}, ?7)`,
  remove: `DELETE FROM grouped WHERE partition = ?1 AND name = ?2 AND place = ?3 AND rank = ?4 AND key = ${key}`,
  heads: `
    SELECT json_group_array(json((
      SELECT json_group_array(json_array(rank, ${place}, check_sum)) FROM (
        SELECT rank, key, check_sum FROM grouped
        WHERE partition = value ->> 0 AND name = value ->> 1 AND place = 0 AND rank >= value ->> 2
        ORDER BY rank ${limitOf("?2")}
      )
    ))) FROM json_each(?1)`,
  page: `SELECT ${columns} FROM grouped WHERE (partition, name, place, rank) > (?1, ?2, ?3, ?4) ORDER BY partition, name, place, rank ${limitOf("?5")}`,
} as const;

/** Rows in memory at once during a start. */
const pageRows = 10_000;

export class GroupedTable {
  readonly #statements: Prepared<typeof statements>;

  constructor(database: Database) {
    this.#statements = prepareAll(database, statements);
  }

  put(grouped: GroupedItem): void {
    this.#statements.put.run(...groupedValues(grouped));
  }

  /** Only if the row is that of this item. */
  remove({ partition, group, place, rank, slot, seq }: GroupedItem): void {
    const number = groupPlaces.indexOf(place);
    this.#statements.remove.run(partition, group, number, rank, slot, seq);
  }

  heads(plan: ReadPlan, heads: ReadResult["heads"], items: ItemTable): ReadResult["groups"] {
    if (plan.groups.length === 0) return [];
    const rows = this.#rows(plan.groups);
    const whole = rows.flatMap((some, index) => some.slice(0, plan.groups[index]?.items));
    const found = items.at(whole);
    const next = () => found.next().value ?? null;
    return headsOfGroups(plan.groups, rows, next, bytesLeft(plan, heads));
  }

  /** By group, read together: a call to SQLite costs as much as several rows. */
  #rows(groups: readonly GroupHead[]): GroupedItem[][] {
    const rows: GroupedItem[][] = groups.map(() => []);
    for (const [count, indexes] of Map.groupBy(groups.keys(), (at) =>
      rowsOf(groups[at] as GroupHead),
    )) {
      const heads = indexes.map((at) => groups[at] as GroupHead);
      const wanted = JSON.stringify(heads.map((one) => [one.partition, one.group, one.from]));
      const [[text] = []] = this.#statements.heads.values(wanted, count);
      for (const [at, found] of (JSON.parse(text as string) as number[][][]).entries()) {
        const { partition, group } = heads[at] as GroupHead;
        const read = found.map((row) => groupedOf([partition, group, 0, ...row]));
        rows[indexes[at] as number] = read;
      }
    }
    return rows;
  }

  counts(): GroupCount[] {
    const counts = new GroupCounts();
    for (let after: GroupedKey | null = beforeGrouped; after !== null; ) {
      const page: Page<GroupedItem, GroupedKey> = this.page(after, pageRows);
      for (const grouped of page.found) counts.add(grouped);
      after = page.next;
    }
    return counts.all;
  }

  page(
    { partition, group, place, rank }: GroupedKey,
    limit: number,
  ): Page<GroupedItem, GroupedKey> {
    const after = [partition, group, groupPlaces.indexOf(place), rank] as const;
    const found = this.#statements.page.values(...after, limit).map(groupedOf);
    return { found, next: found.length < limit ? null : (found.at(-1) ?? null) };
  }
}
