// The reads and writes of a shard's schema that only a reshard needs.

import type { Quarantined, Transfer } from "../transfer.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { Database } from "./database.ts";
import { pageOf } from "./grouped.ts";
import { outboundColumns, outboundOf } from "./rows.ts";

const texts = {
  outbound: `
    SELECT ${outboundColumns} FROM (
      SELECT *, sum(length(payload)) OVER (ORDER BY outbound_seq) - length(payload) AS before
      FROM (SELECT * FROM shard.outbound WHERE outbound_seq > $1::bigint ORDER BY outbound_seq LIMIT $2::bigint) AS page
    ) AS i WHERE before < $3::bigint ORDER BY outbound_seq`,
  uniques: `
    SELECT slot, seq, digest, until FROM shard.unique_key WHERE (slot, seq) > ($1::bigint, $2::bigint)
    ORDER BY slot, seq LIMIT $3::bigint`,
  quarantined: `
    SELECT quarantine_id, slot, seq, source_id, past, texts, payload FROM shard.quarantine
    WHERE quarantine_id > $1::bigint ORDER BY quarantine_id LIMIT $2::bigint`,
  quarantine: `
    INSERT INTO shard.quarantine (slot, seq, source_id, past, texts, payload)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[])`,
} as const;

export function transferOf(database: Database): Transfer {
  return {
    outbound: async (after, { items, payloadBytes }) =>
      (
        await database.rows(texts.outbound, [
          ...[after, items],
          Math.min(payloadBytes, Number.MAX_SAFE_INTEGER),
        ])
      ).map(outboundOf),
    uniques: async ({ slot, seq }, limit) => {
      const rows = await database.rows(texts.uniques, [slot, seq, limit]);
      const found = rows.map(([slot, seq, digest, until]) => ({
        ...{ slot: Number(slot), seq: Number(seq), until: Number(until) },
        digest: (digest as Uint8Array).toHex(),
      }));
      return { found, next: rows.length < limit ? null : (found.at(-1) ?? null) };
    },
    grouped: (after, limit) => pageOf((text, values) => database.rows(text, values), after, limit),
    quarantined: async (after, limit) => {
      const rows = await database.rows(texts.quarantined, [after, limit]);
      const found = rows.map(([, slot, seq, ...columns]): Quarantined => {
        const payload = columns.pop() as Uint8Array | null;
        const hex = (columns as (Uint8Array | null)[]).map((column) => column?.toHex() ?? null);
        return { slot: Number(slot), seq: Number(seq), columns: JSON.stringify(hex), payload };
      });
      return { found, next: rows.length < limit ? null : Number(rows.at(-1)?.[0]) };
    },
    quarantine: async (items) => {
      const columns = items.map((item) => columnsOf(item.columns));
      const column = (index: number) => byteaArray(columns.map((one) => one[index] ?? null));
      await database.rows(texts.quarantine, [
        int8Array(items.map(({ slot }) => slot)),
        int8Array(items.map(({ seq }) => seq)),
        ...[column(0), column(1), column(2)],
        byteaArray(items.map(({ payload }) => payload)),
      ]);
    },
  };
}

/** `source_id`, `past` and `texts` of another PostgreSQL store, or an item's columns as JSON. */
function columnsOf(text: string): (Uint8Array | string | null)[] {
  const columns = JSON.parse(text) as unknown;
  if (!Array.isArray(columns)) return [null, null, text];
  return (columns as (string | null)[]).map((hex) => hex && Uint8Array.fromHex(hex));
}
