// The table of grouped items: its part of a turn's statement, and its reads.

import { bytesLeft, groupPlaces, headsOfGroups } from "../groups.ts";
import type { Item } from "../item.ts";
import { packItemsMax } from "../packs.ts";
import {
  type Changes,
  type GroupCount,
  type GroupedItem,
  type GroupPlace,
  type Read,
  type ReadPlan,
  type ReadResult,
  StoreError,
} from "../store.ts";
import type { GroupedKey, Page } from "../transfer.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { SqlRow } from "./connection.ts";
import type { Database } from "./database.ts";
import { itemsOf, textOf } from "./rows.ts";
import { blobs, type Column, deletion, numbers, type Parts, table } from "./statement.ts";

function keyColumns(grouped: readonly GroupedItem[]): Column[] {
  return [
    numbers(grouped, "partition", ({ partition }) => partition),
    blobs(grouped, "name", ({ group }) => group),
    numbers(grouped, "place", ({ place }) => groupPlaces.indexOf(place)),
    numbers(grouped, "rank", ({ rank }) => rank),
    numbers(grouped, "slot", ({ slot }) => slot),
    numbers(grouped, "seq", ({ seq }) => seq),
  ];
}

export function addGroups(parts: Parts, { group, ungroup }: Changes): void {
  // One statement cannot both delete and rewrite a row.
  const keyOf = (one: GroupedKey): string =>
    `${one.partition} ${one.place} ${one.rank} ${one.group}`;
  const kept = new Set(ungroup.length === 0 ? [] : group.map(keyOf));
  const gone = ungroup.filter((one) => !kept.has(keyOf(one)));
  if (gone.length > 0) {
    const all = ["partition", "name", "place", "rank", "slot", "seq"];
    parts.add("ungrouped", (value) =>
      deletion(
        "grouped",
        `fence, ${table("one", keyColumns(gone), value)}`,
        all.map((column) => `grouped.${column} = one.${column}`).join(" AND "),
      ),
    );
  }
  if (group.length === 0) return;
  parts.add(
    "grouped",
    (value) => `
    INSERT INTO shard.grouped SELECT one.* FROM fence, ${table("one", keyColumns(group), value)}
    ON CONFLICT (partition, name, place, rank) DO UPDATE SET slot = excluded.slot, seq = excluded.seq`,
  );
}

const texts = {
  counts: `
    SELECT partition, name, place, count(*), min(ARRAY[rank, slot, seq]), max(rank) FROM shard.grouped
    GROUP BY partition, name, place ORDER BY partition, name, place`,
  page: `
    SELECT partition, name, place, rank, slot, seq FROM shard.grouped
    WHERE (partition, name, place, rank) > ($1::bigint, $2::bytea, $3::bigint, $4::bigint)
    ORDER BY partition, name, place, rank LIMIT $5::bigint`,
  // A single payload may be large, so it is read only if it is returned.
  heads: `
    SELECT number, rank, slot, seq, one, NULL::bigint[], created_at, queued_at, expire_deadline, early, attempts, source_id,
      ARRAY[past], ARRAY[texts], ARRAY[CASE WHEN ahead < $5::bigint THEN coalesce(packed, single[1]) END]
    FROM (
      SELECT head.number, row.rank, row.slot, row.seq, item.*,
        coalesce(sum(item.bytes) OVER (ORDER BY head.number, row.rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ahead
      FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS head(partition, name, first, items, number)
      CROSS JOIN LATERAL (
        SELECT *, row_number() OVER (ORDER BY rank) AS nth FROM (
          SELECT rank, slot, seq FROM shard.grouped
          WHERE partition = head.partition AND name = head.name AND place = 0 AND rank >= head.first
          ORDER BY rank LIMIT head.items + 2
        ) near
      ) row
      LEFT JOIN LATERAL (
        SELECT 1::bigint AS one, created_at, queued_at, expire_deadline, early, attempts, source_id,
          past[row.seq - seq + 1] AS past, texts[row.seq - seq + 1] AS texts,
          CASE WHEN count > 1 THEN payloads[row.seq - seq + 1] END AS packed,
          CASE WHEN count = 1 THEN payloads END AS single,
          CASE WHEN count > 1 THEN length(payloads[row.seq - seq + 1]) ELSE bytes END AS bytes
        FROM (
          SELECT * FROM shard.item WHERE slot = CASE WHEN row.nth <= head.items THEN row.slot END
            AND seq > row.seq - ${packItemsMax} AND seq <= row.seq ORDER BY seq DESC LIMIT 1
        ) pack
        WHERE seq + count > row.seq AND (count = 1 OR NOT EXISTS (
          SELECT FROM shard.gone WHERE gone.slot = row.slot AND gone.seq = row.seq OFFSET 0
        ))
      ) item ON true
    ) i ORDER BY number, rank`,
} as const;

type RowsOf = Database["rows"];

export async function headsIn(
  rowsOf: RowsOf,
  plan: ReadPlan,
  heads: ReadResult["heads"],
): Promise<ReadResult["groups"]> {
  const { groups } = plan;
  const left = bytesLeft(plan, heads);
  if (groups.length === 0 || left <= 0) return [];
  const found = await rowsOf(texts.heads, [
    int8Array(groups.map(({ partition }) => partition)),
    byteaArray(groups.map(({ group }) => group)),
    int8Array(groups.map(({ from }) => from)),
    int8Array(groups.map(({ items }) => items)),
    Math.min(left, Number.MAX_SAFE_INTEGER),
  ]);
  const rows: GroupedRow[][] = groups.map(() => []);
  for (const row of found) {
    const [number = 0, rank = 0, slot = 0, seq = 0] = row as number[];
    rows[number - 1]?.push({ rank, slot, seq, row });
  }
  return headsOfGroups(groups, rows, itemIn, left);
}

interface GroupedRow extends Pick<GroupedItem, "rank" | "slot" | "seq"> {
  readonly row: SqlRow;
}

function itemIn({ row }: GroupedRow): Read<Item> | null {
  const [, , , , isThere] = row;
  return isThere === null ? null : (itemsOf(row.slice(2))[0] ?? null);
}

export async function countsIn(rowsOf: RowsOf): Promise<GroupCount[]> {
  return (await rowsOf(texts.counts)).map((row): GroupCount => {
    const [partition, name, place, count, first, rankLast] = row as [
      number,
      Uint8Array,
      number,
      number,
      number[],
      number,
    ];
    const [rank = 0, slot = 0, seq = 0] = first;
    const key = { partition, group: textOf(name), place: placeOf(place) };
    return { ...key, count, first: { rank, slot, seq }, rankLast };
  });
}

export async function pageOf(
  rowsOf: RowsOf,
  { partition, group, place, rank }: GroupedKey,
  limit: number,
): Promise<Page<GroupedItem, GroupedKey>> {
  const name = Buffer.from(group);
  const after = [partition, name, groupPlaces.indexOf(place), rank];
  const found = (await rowsOf(texts.page, [...after, limit])).map((row): GroupedItem => {
    const [partition = 0, , place = 0, rank = 0, slot = 0, seq = 0] = row as number[];
    return { partition, group: textOf(row[1]), place: placeOf(place), rank, slot, seq };
  });
  return { found, next: found.length < limit ? null : (found.at(-1) ?? null) };
}

function placeOf(number: number): GroupPlace {
  const place = groupPlaces[number];
  if (place !== undefined) return place;
  throw new StoreError("damaged", "a stored row does not have the format of this version");
}
