// A turn as one statement: the next row of the chain, and all changes. Every part joins that row,
// so nothing is written if the shard has another owner by now. Parts without changes are omitted.

import { packsOf } from "../packs.ts";
import type { Changes, Inbound } from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import { addGroups } from "./grouped.ts";
import {
  addChecks,
  addInserts,
  addMoves,
  addQuarantine,
  addRemoves,
  addSchedules,
  addSends,
  addUnschedules,
} from "./item-changes.ts";
import { type StoredTally, type StoredTurn, storedTally } from "./rows.ts";
import {
  blobs,
  type Column,
  deletion,
  flat,
  numbers,
  Parts,
  placesTable,
  type Statement,
  table,
} from "./statement.ts";

/** Changes of earlier turns that are written to their tables, so that the turns can be deleted. */
export interface Folding {
  readonly tallies: readonly StoredTally[];
  readonly inbound: readonly Inbound[];
  /** Deletes the rows of the chain from `prunedTo` up to, but not including, `keptFrom`. */
  readonly keptFrom: number;
  readonly prunedTo: number;
}

/** The next row of the chain. */
export interface Link {
  readonly position: number;
  readonly owner: Buffer;
  readonly turn: StoredTurn;
}

/** Payload bytes of a pack: what fits on a page with the row and 4 to 7 bytes per payload. */
const packBytesMax = 7_300;

export function turnOf({ turn, tally, receive }: Changes): StoredTurn {
  return { ...turn, tallies: tally.map(storedTally), inbound: receive };
}

/** Returns one row: the number of rows appended to the chain, 1, or 0 if it has another owner. */
export function commitOf(
  changes: Changes,
  { position, owner, turn }: Link,
  folding: Folding | null,
): Statement {
  const parts = new Parts();
  const packs = packsOf(changes.insert, packBytesMax);
  parts.add(
    "fence",
    (value) => `
    INSERT INTO shard.turn SELECT ${value(position)}::bigint, ${value(owner)}::bytea, ${value(JSON.stringify(turn))}::text
    FROM shard.turn WHERE position = ${value(position)}::bigint - 1 AND owner = ${value(owner)}::bytea
    RETURNING position`,
  );
  addMoves(parts, changes.move);
  addQuarantine(parts, changes.quarantine);
  const aside = [...changes.remove, ...changes.quarantine];
  addRemoves(parts, aside);
  addUnschedules(parts, [...changes.unschedule, ...changes.quarantine]);
  addInserts(parts, packs);
  addSchedules(parts, changes.schedule);
  addLeases(parts, changes);
  addSends(parts, changes.send);
  addOutbox(parts, changes);
  addReceipts(parts, changes);
  addUniques(parts, changes);
  addGroups(parts, changes);
  addTasks(parts, changes);
  addQueues(parts, changes);
  addTags(parts, changes);
  if (folding !== null) addFolding(parts, folding);
  addChecks(parts, packs, changes.move);
  return parts.statement();
}

function addLeases(parts: Parts, { lease, unlease }: Changes): void {
  // One statement cannot both delete and rewrite a row.
  const kept = new Set(lease.map(({ slot, first }) => `${slot}/${first}`));
  const gone = unlease.filter(({ slot, first }) => !kept.has(`${slot}/${first}`));
  if (gone.length > 0) {
    const places = gone.map(({ slot, first }) => ({ slot, seq: first }));
    parts.add("unleased", (value) =>
      deletion(
        "lease",
        `fence, ${placesTable("one", places, value)}`,
        "lease.slot = one.slot AND lease.first = one.seq",
      ),
    );
  }
  if (lease.length === 0) return;
  const columns = [
    numbers(lease, "slot", ({ slot }) => slot),
    numbers(lease, "first", ({ first }) => first),
    numbers(lease, "last", ({ last }) => last),
    numbers(lease, "lease_deadline", ({ leaseDeadline }) => leaseDeadline),
    numbers(lease, "leased_at", ({ leasedAt }) => leasedAt),
  ];
  parts.add(
    "leased",
    (value) => `
    INSERT INTO shard.lease SELECT one.* FROM fence, ${table("one", columns, value)}
    ON CONFLICT (slot, first) DO UPDATE SET last = excluded.last, lease_deadline = excluded.lease_deadline, leased_at = excluded.leased_at`,
  );
}

function addOutbox(parts: Parts, { unsend, quarantineOutbound }: Changes): void {
  if (quarantineOutbound.length > 0) {
    parts.add(
      "quarantined_outbound",
      (value) => `
    INSERT INTO shard.quarantine (slot, seq, source_id, past, texts, payload)
    SELECT outbound.slot, outbound.seq, outbound.source_id, outbound.past, outbound.texts, outbound.payload
    FROM fence, shard.outbound WHERE outbound_seq = ANY (${value(int8Array(quarantineOutbound))}::bigint[])`,
    );
  }
  const sent = [...unsend, ...quarantineOutbound];
  if (sent.length === 0) return;
  parts.add(
    "unsent",
    (value) =>
      `DELETE FROM shard.outbound USING fence WHERE outbound_seq = ANY (${value(int8Array(sent))}::bigint[])`,
  );
}

function addReceipts(parts: Parts, { turn, receipts, forgetTurn }: Changes): void {
  if (forgetTurn > 0) {
    parts.add(
      "forgotten",
      (value) => `DELETE FROM shard.receipt USING fence WHERE turn <= ${value(forgetTurn)}::bigint`,
    );
  }
  if (receipts === null) return;
  parts.add(
    "receipts",
    (value) =>
      `INSERT INTO shard.receipt SELECT ${value(turn.turn)}::bigint, ${value(turn.at)}::bigint, ${value(Buffer.from(receipts))}::bytea FROM fence`,
  );
}

function addUniques(parts: Parts, { unique, ununique }: Changes): void {
  const digests = byteaArray(unique.map(({ digest }) => Uint8Array.fromHex(digest)));
  const places = flat(ununique);
  if (places.length > 0) {
    parts.add("ununique", (value) =>
      deletion(
        "unique_key",
        `fence, ${placesTable("one", places, value)}`,
        `unique_key.slot = one.slot AND unique_key.seq = one.seq AND digest <> ALL (${value(digests)}::bytea[])`,
      ),
    );
  }
  if (unique.length === 0) return;
  const columns: Column[] = [
    { name: "digest", type: "bytea", value: digests },
    numbers(unique, "slot", ({ slot }) => slot),
    numbers(unique, "seq", ({ seq }) => seq),
    numbers(unique, "until", ({ until }) => until),
  ];
  parts.add(
    "uniques",
    (value) => `
    INSERT INTO shard.unique_key SELECT one.* FROM fence, ${table("one", columns, value)}
    ON CONFLICT (digest) DO UPDATE SET slot = excluded.slot, seq = excluded.seq, until = excluded.until`,
  );
}

function addTasks(parts: Parts, { tasks }: Changes): void {
  const ended = tasks.filter(({ text }) => text === "");
  if (ended.length > 0) {
    const ids = byteaArray(ended.map(({ taskId }) => taskId));
    parts.add(
      "untasked",
      (value) =>
        `DELETE FROM shard.task USING fence WHERE convert_to(task_id, 'UTF8') = ANY (${value(ids)}::bytea[])`,
    );
  }
  const kept = tasks.filter(({ text }) => text !== "");
  if (kept.length === 0) return;
  const columns = [
    blobs(kept, "task_id", ({ taskId }) => taskId),
    blobs(kept, "text", ({ text }) => text),
  ];
  parts.add(
    "tasks",
    (value) => `
    INSERT INTO shard.task SELECT convert_from(one.task_id, 'UTF8'), convert_from(one.text, 'UTF8') FROM fence, ${table("one", columns, value)}
    ON CONFLICT (task_id) DO UPDATE SET text = excluded.text`,
  );
}

function addQueues(parts: Parts, { queue, unqueue }: Changes): void {
  if (unqueue.length > 0) {
    parts.add(
      "unqueued",
      (value) =>
        `DELETE FROM shard.queue USING fence WHERE queue_id = ANY (${value(int8Array(unqueue))}::bigint[])`,
    );
  }
  if (queue.length === 0) return;
  const columns = [
    numbers(queue, "queue_id", ({ queueId }) => queueId),
    blobs(queue, "entry", (entry) => JSON.stringify(entry)),
  ];
  parts.add(
    "queues",
    (value) => `
    INSERT INTO shard.queue SELECT one.queue_id, convert_from(one.entry, 'UTF8') FROM fence, ${table("one", columns, value)}
    ON CONFLICT (queue_id) DO UPDATE SET entry = excluded.entry`,
  );
}

function addTags(parts: Parts, { tags }: Changes): void {
  if (tags === null) return;
  parts.add("tagged", (value) => `UPDATE shard.identity SET tag = ${value(tags)}::text FROM fence`);
}

function addFolding(parts: Parts, { tallies, inbound, keptFrom, prunedTo }: Folding): void {
  const columns = [
    numbers(tallies, "slot", ({ slot }) => slot),
    blobs(tallies, "tally", (tally) => JSON.stringify(tally)),
  ];
  parts.add(
    "tallies",
    (value) => `
    INSERT INTO shard.tally SELECT one.slot, convert_from(one.tally, 'UTF8') FROM fence, ${table("one", columns, value)}
    ON CONFLICT (slot) DO UPDATE SET tally = excluded.tally`,
  );
  const sources = [
    numbers(inbound, "source_shard", ({ sourceShard }) => sourceShard),
    numbers(inbound, "outbound_seq", ({ outboundSeq }) => outboundSeq),
  ];
  parts.add(
    "inbound",
    (value) => `
    INSERT INTO shard.inbound SELECT one.* FROM fence, ${table("one", sources, value)}
    ON CONFLICT (source_shard) DO UPDATE SET outbound_seq = excluded.outbound_seq`,
  );
  parts.add(
    "pruned",
    (value) =>
      `DELETE FROM shard.turn USING fence WHERE turn.position >= ${value(prunedTo)}::bigint AND turn.position < ${value(keptFrom)}::bigint`,
  );
}
