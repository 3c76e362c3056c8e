// The reads and writes of a shard's file that only a reshard needs.

import type { Database } from "bun:sqlite";
import type { OutboundItem } from "../item.ts";
import type { Read } from "../store.ts";
import type { Quarantined, Transfer } from "../transfer.ts";
import { guard, transaction } from "./connect.ts";
import type { GroupedTable } from "./grouped-table.ts";
import { prepareAll } from "./prepared.ts";
import { outboundOf, uniqueOf } from "./rows.ts";
import { key, keyOf, limitOf, place, placeAndItem } from "./sql-text.ts";

const statements = {
  outbound: `SELECT ${placeAndItem}, outbound_seq, target_shard, target_owner FROM outbound WHERE outbound_seq > ?1 ORDER BY outbound_seq ${limitOf("?2")}`,
  uniques: `SELECT ${place}, digest, until, check_sum FROM unique_key WHERE key > ${keyOf("?1", "?2")} ORDER BY key ${limitOf("?3")}`,
  quarantined: `SELECT quarantine_id, ${place}, columns, payload FROM quarantine WHERE quarantine_id > ?1 ORDER BY quarantine_id ${limitOf("?2")}`,
  quarantine: `INSERT INTO quarantine (key, columns, payload) VALUES (${key}, ?3, ?4)`,
} as const;

export function transferOf(database: Database, grouped: GroupedTable): Transfer {
  const run = prepareAll(database, statements);
  return {
    outbound: async (after, limit) =>
      guard(() => {
        const found: Read<OutboundItem>[] = [];
        let bytes = 0;
        for (const row of run.outbound.values(after, limit.items)) {
          const item = outboundOf(row);
          found.push(item);
          bytes += item.payload.length;
          if (bytes >= limit.payloadBytes) break;
        }
        return found;
      }),
    uniques: async ({ slot, seq }, limit) =>
      guard(() => {
        const rows = run.uniques.values(slot, seq, limit);
        const found = rows.flatMap((row) => uniqueOf(row) ?? []);
        const last = rows.at(-1);
        if (last === undefined || rows.length < limit) return { found, next: null };
        return { found, next: { slot: Number(last[0]), seq: Number(last[1]) } };
      }),
    grouped: async (after, limit) => guard(() => grouped.page(after, limit)),
    quarantined: async (after, limit) =>
      guard(() => {
        const rows = run.quarantined.values(after, limit);
        const found = rows.map(([, slot, seq, columns, payload]): Quarantined => {
          const [text, bytes] = [String(columns), payload as Uint8Array | null];
          return { slot: Number(slot), seq: Number(seq), columns: text, payload: bytes };
        });
        return { found, next: rows.length < limit ? null : Number(rows.at(-1)?.[0]) };
      }),
    quarantine: async (items) => {
      transaction(database, () => {
        for (const { slot, seq, columns, payload } of items) {
          run.quarantine.run(slot, seq, columns, payload);
        }
      });
    },
  };
}
