// The parts of a turn's statement that insert, schedule, send, move, remove and quarantine items.

import { type Item, type OutboundItem, type ScheduledItem, wakeAt } from "../item.ts";
import { packItemsMax } from "../packs.ts";
import type { Changes, Move, MoveDestination, SlotSeq, SlotSeqs } from "../store.ts";
import { byteaArray } from "./arrays.ts";
import type { SqlValue } from "./connection.ts";
import { textsOf } from "./rows.ts";
import {
  blobs,
  type Column,
  deletion,
  flag,
  flat,
  numbers,
  orNull,
  type Parts,
  placesTable,
  table,
} from "./statement.ts";

type Movable = NonNullable<Move["to"]>["item"];

function placeColumns<T>(of: readonly T[], get: (one: T) => Omit<Movable, "sourceId">): Column[] {
  return [
    numbers(of, "slot", (one) => get(one).slot),
    numbers(of, "seq", (one) => get(one).seq),
    numbers(of, "created_at", (one) => get(one).createdAt),
    numbers(of, "queued_at", (one) => get(one).queuedAt),
    numbers(of, "expire_deadline", (one) => get(one).expireDeadline),
    numbers(of, "early", (one) => flag(get(one).early)),
    numbers(of, "attempts", (one) => get(one).attempts),
  ];
}

function pastColumn<T>(of: readonly T[], get: (one: T) => Pick<Item, "past">): Column {
  return blobs(of, "past", (one) => orNull(get(one).past));
}

/** Passes payloads, texts and histories of all packs as one array each; a pack takes its slice. */
export function addInserts(parts: Parts, packs: readonly Item[][]): void {
  if (packs.length === 0) return;
  const items = packs.flat();
  const texts = items.map(textsOf);
  const pasts = items.map(({ past }) => orNull(past));
  const first = (pack: readonly Item[]): Item => pack[0] as Item;
  let end = 0;
  const spans = packs.map((pack) => {
    const begin = end;
    end += pack.length;
    const isTexted = texts.slice(begin, end).some((text) => text !== null);
    const isPasted = pack.some(({ past }) => past !== "");
    const bytes = pack.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    return { begin: begin + 1, end, isTexted, isPasted, bytes };
  });
  const columns = [
    ...placeColumns(packs, first),
    numbers(packs, "count", (pack) => pack.length),
    blobs(packs, "source_id", (pack) => orNull(first(pack).sourceId)),
    numbers(spans, "bytes", ({ bytes }) => bytes),
  ];
  const places = [
    numbers(spans, "begin", ({ begin }) => begin),
    numbers(spans, "last", ({ end: last }) => last),
    numbers(spans, "texted", ({ isTexted }) => flag(isTexted)),
    numbers(spans, "pasted", ({ isPasted }) => flag(isPasted)),
  ];
  const names = columns.map(({ name }) => name).join(", ");
  const part = "[pack.begin::int:pack.last::int]";
  parts.add("inserted", (value) => {
    const payloads = `(${value(byteaArray(items.map(({ payload }) => payload)))}::bytea[])${part}`;
    const ofPack = (all: (string | null)[], flag: string): string =>
      all.some((one) => one !== null)
        ? `CASE WHEN pack.${flag} = 1 THEN (${value(byteaArray(all))}::bytea[])${part} END`
        : "NULL";
    return `
    INSERT INTO shard.item (${names}, past, texts, payloads)
    SELECT ${names.replace("early", "early = 1")}, ${ofPack(pasts, "pasted")}, ${ofPack(texts, "texted")}, ${payloads}
    FROM fence, ${table("pack", [...columns, ...places], value)}`;
  });
}

const scheduledColumns =
  "slot, seq, created_at, queued_at, expire_deadline, attempts, past, source_id, texts, payload, due_at, retried, wake_at";

export function addSchedules(parts: Parts, schedule: readonly ScheduledItem[]): void {
  if (schedule.length === 0) return;
  const columns = [
    ...placeColumns(schedule, (item) => item),
    pastColumn(schedule, (item) => item),
    blobs(schedule, "source_id", ({ sourceId }) => orNull(sourceId)),
    blobs(schedule, "texts", textsOf),
    blobs(schedule, "payload", ({ payload }) => payload),
    numbers(schedule, "due_at", ({ dueAt }) => dueAt),
    numbers(schedule, "retried", ({ retried }) => flag(retried)),
    numbers(schedule, "wake_at", wakeAt),
  ];
  parts.add(
    "scheduled",
    (value) => `
    INSERT INTO shard.scheduled (${scheduledColumns})
    SELECT ${scheduledColumns.replace("retried", "retried = 1")} FROM fence, ${table("one", columns, value)}`,
  );
}

const outboundColumns =
  "outbound_seq, target_shard, target_owner, slot, seq, created_at, queued_at, expire_deadline, early, attempts, past, source_id, texts, payload";

type Route = Pick<OutboundItem, "outboundSeq" | "targetShard" | "targetOwner">;

function routeColumns<T>(of: readonly T[], get: (one: T) => Route): Column[] {
  return [
    numbers(of, "outbound_seq", (one) => get(one).outboundSeq),
    numbers(of, "target_shard", (one) => get(one).targetShard),
    numbers(of, "target_owner", (one) => get(one).targetOwner),
  ];
}

export function addSends(parts: Parts, send: readonly OutboundItem[]): void {
  if (send.length === 0) return;
  const columns = [
    ...routeColumns(send, (item) => item),
    ...placeColumns(send, (item) => item),
    pastColumn(send, (item) => item),
    blobs(send, "source_id", ({ sourceId }) => orNull(sourceId)),
    blobs(send, "texts", textsOf),
    blobs(send, "payload", ({ payload }) => payload),
  ];
  parts.add(
    "sent",
    (value) => `
    INSERT INTO shard.outbound (${outboundColumns})
    SELECT ${outboundColumns.replace("early", "early = 1")} FROM fence, ${table("one", columns, value)}`,
  );
}

type Moved<Into extends MoveDestination["into"]> = Move & {
  readonly to: Extract<MoveDestination, { readonly into: Into }>;
};

function movesInto<Into extends MoveDestination["into"]>(
  moves: readonly Move[],
  into: Into,
): Moved<Into>[] {
  return moves.filter((move): move is Moved<Into> => move.to?.into === into);
}

/** Joins moves with the producer's fields, which stay in the database. */
function moved<T extends Move>(
  moves: readonly T[],
  more: readonly Column[],
  value: (value: SqlValue) => string,
): string {
  const to = (move: T): Movable => (move.to as NonNullable<Move["to"]>).item;
  const columns = [
    numbers(moves, "from_slot", ({ slot }) => slot),
    numbers(moves, "from_seq", ({ seq }) => seq),
    numbers(moves, "from_scheduled", ({ from }) => flag(from === "scheduled")),
    ...placeColumns(moves, to),
    pastColumn(moves, to),
    blobs(moves, "new_source", (move) => to(move).sourceId),
    ...more,
  ];
  return `
    fence, ${table("one", columns, value)}
    LEFT JOIN LATERAL (
      SELECT item.source_id, item.texts[one.from_seq - item.seq + 1] AS texts, item.payloads[one.from_seq - item.seq + 1] AS payload
      FROM shard.item
      WHERE one.from_scheduled = 0 AND item.slot = one.from_slot AND item.seq > one.from_seq - ${packItemsMax}
        AND item.seq <= one.from_seq AND item.seq + item.count > one.from_seq
        AND NOT EXISTS (SELECT FROM shard.gone WHERE gone.slot = one.from_slot AND gone.seq = one.from_seq)
      UNION ALL
      SELECT source_id, texts, payload FROM shard.scheduled
      WHERE one.from_scheduled = 1 AND scheduled.slot = one.from_slot AND scheduled.seq = one.from_seq
    ) given ON true`;
}

const sourceId = "nullif(coalesce(one.new_source, given.source_id), '')";

/** A missing item has a null payload, which every table refuses. */
export function addMoves(parts: Parts, moves: readonly Move[]): void {
  const items = movesInto(moves, "items");
  if (items.length > 0) {
    parts.add(
      "moved_items",
      (value) => `
    INSERT INTO shard.item (slot, seq, count, created_at, queued_at, expire_deadline, early, attempts, past, source_id, texts, payloads, bytes)
    SELECT one.slot, one.seq, 1, one.created_at, one.queued_at, one.expire_deadline, one.early = 1, one.attempts,
      CASE WHEN one.past IS NOT NULL THEN ARRAY[one.past] END, ${sourceId}, CASE WHEN given.texts IS NOT NULL THEN ARRAY[given.texts] END,
      CASE WHEN given.payload IS NOT NULL THEN ARRAY[given.payload] END, length(given.payload)
    FROM ${moved(items, [], value)}`,
    );
  }
  const scheduled = movesInto(moves, "scheduled");
  if (scheduled.length > 0) {
    const more = [
      numbers(scheduled, "due_at", ({ to }) => to.item.dueAt),
      numbers(scheduled, "retried", ({ to }) => flag(to.item.retried)),
      numbers(scheduled, "wake_at", ({ to }) => wakeAt(to.item)),
    ];
    parts.add(
      "moved_scheduled",
      (value) => `
    INSERT INTO shard.scheduled (${scheduledColumns})
    SELECT one.slot, one.seq, one.created_at, one.queued_at, one.expire_deadline, one.attempts,
      one.past, ${sourceId}, given.texts, given.payload, one.due_at, one.retried = 1, one.wake_at
    FROM ${moved(scheduled, more, value)}`,
    );
  }
  const outbox = movesInto(moves, "outbox");
  if (outbox.length > 0) {
    const more = routeColumns(outbox, ({ to }) => to.item);
    parts.add(
      "moved_outbox",
      (value) => `
    INSERT INTO shard.outbound (${outboundColumns})
    SELECT one.outbound_seq, one.target_shard, one.target_owner, one.slot, one.seq, one.created_at, one.queued_at,
      one.expire_deadline, one.early = 1, one.attempts, one.past, ${sourceId}, given.texts, given.payload
    FROM ${moved(outbox, more, value)}`,
    );
  }
}

/** Checks beyond primary keys: numbers within packs, and that items to be removed exist. */
export function addChecks(parts: Parts, packs: readonly Item[][], move: Changes["move"]): void {
  const taken: SlotSpan[] = [
    ...packs.map(([first, ...others]) => ({
      ...(first as Item),
      count: 1 + others.length,
    })),
    ...movesInto(move, "items").map(({ to }) => ({ ...to.item, count: 1 })),
  ];
  if (taken.length > 0) {
    const columns = [
      numbers(taken, "slot", ({ slot }) => slot),
      numbers(taken, "seq", ({ seq }) => seq),
      numbers(taken, "count", ({ count }) => count),
    ];
    parts.check(
      "free",
      (value) => `
    SELECT NOT EXISTS (
      SELECT FROM shard.item WHERE item.slot = one.slot AND item.seq > one.seq - ${packItemsMax}
        AND item.seq < one.seq + one.count AND item.seq + item.count > one.seq
    ) AS holds FROM ${table("one", columns, value)}`,
    );
  }
  const nowhere = move.filter(({ to }) => to === null);
  if (nowhere.length === 0) return;
  const columns = [
    numbers(nowhere, "slot", ({ slot }) => slot),
    numbers(nowhere, "seq", ({ seq }) => seq),
    numbers(nowhere, "from_scheduled", ({ from }) => flag(from === "scheduled")),
  ];
  parts.check(
    "stored",
    (value) => `
    SELECT CASE WHEN one.from_scheduled = 1
      THEN EXISTS (SELECT FROM shard.scheduled WHERE scheduled.slot = one.slot AND scheduled.seq = one.seq)
      ELSE EXISTS (
        SELECT FROM shard.item WHERE item.slot = one.slot AND item.seq > one.seq - ${packItemsMax}
          AND item.seq <= one.seq AND item.seq + item.count > one.seq
          AND NOT EXISTS (SELECT FROM shard.gone WHERE gone.slot = one.slot AND gone.seq = one.seq)
      )
    END AS holds FROM ${table("one", columns, value)}`,
  );
}

interface SlotSpan extends SlotSeq {
  readonly count: number;
}

interface Run {
  readonly slot: number;
  readonly first: number;
  last: number;
}

/** Groups neighbours; `seqs` are in ascending order. */
function runsOf(removed: readonly SlotSeqs[]): Run[] {
  const runs: Run[] = [];
  for (const { slot, seqs } of removed) {
    let run: Run | null = null;
    for (const seq of seqs) {
      if (run !== null && seq === run.last + 1) {
        run.last = seq;
        continue;
      }
      run = { slot, first: seq, last: seq };
      runs.push(run);
    }
  }
  return runs;
}

export function addRemoves(parts: Parts, removed: readonly SlotSeqs[]): void {
  const runs = runsOf(removed);
  if (runs.length === 0) return;
  const columns = [
    numbers(runs, "slot", ({ slot }) => slot),
    numbers(runs, "first", ({ first }) => first),
    numbers(runs, "last", ({ last }) => last),
  ];
  parts.add(
    "hit",
    (value) => `
    SELECT item.slot, item.seq, item.count, greatest(run.first, item.seq) AS first, least(run.last, item.seq + item.count - 1) AS last
    FROM fence, ${table("run", columns, value)} CROSS JOIN LATERAL (
      SELECT slot, seq, count FROM shard.item WHERE item.slot = run.slot
        AND item.seq > run.first - ${packItemsMax} AND item.seq <= run.last AND item.seq + item.count > run.first
      OFFSET 0
    ) item`,
  );
  parts.add(
    "emptied",
    () => `
    SELECT slot, seq, count FROM hit GROUP BY slot, seq, count
    HAVING sum(last - first + 1) >= count OR count = (
      SELECT count(*) FROM (
        SELECT gone.seq FROM shard.gone WHERE gone.slot = hit.slot AND gone.seq >= hit.seq AND gone.seq < hit.seq + hit.count
        UNION
        SELECT generate_series(other.first, other.last) FROM hit other WHERE other.slot = hit.slot AND other.seq = hit.seq
      ) left_over
    )`,
  );
  parts.add("removed", () =>
    deletion("item", "emptied", "item.slot = emptied.slot AND item.seq = emptied.seq"),
  );
  parts.add("holes_removed", () =>
    deletion(
      "gone",
      "emptied",
      "gone.slot = emptied.slot AND gone.seq >= emptied.seq AND gone.seq < emptied.seq + emptied.count AND emptied.count > 1",
    ),
  );
  parts.add(
    "holes_added",
    () => `
    INSERT INTO shard.gone SELECT hit.slot, generate_series(hit.first, hit.last) FROM hit
    WHERE NOT EXISTS (SELECT FROM emptied WHERE emptied.slot = hit.slot AND emptied.seq = hit.seq)
    ON CONFLICT DO NOTHING`,
  );
}

export function addUnschedules(parts: Parts, unscheduled: readonly SlotSeqs[]): void {
  const places = flat(unscheduled);
  if (places.length === 0) return;
  parts.add("unscheduled", (value) =>
    deletion(
      "scheduled",
      `fence, ${placesTable("one", places, value)}`,
      "scheduled.slot = one.slot AND scheduled.seq = one.seq",
    ),
  );
}

export function addQuarantine(parts: Parts, quarantined: readonly SlotSeqs[]): void {
  const places = flat(quarantined);
  if (places.length === 0) return;
  parts.add(
    "quarantined",
    (value) => `
    INSERT INTO shard.quarantine (slot, seq, source_id, past, texts, payload)
    SELECT one.slot, one.seq, item.source_id, item.past[one.seq - item.seq + 1], item.texts[one.seq - item.seq + 1], item.payloads[one.seq - item.seq + 1]
    FROM fence, ${placesTable("one", places, value)} JOIN shard.item ON item.slot = one.slot
      AND item.seq > one.seq - ${packItemsMax} AND item.seq <= one.seq AND item.seq + item.count > one.seq
      AND NOT EXISTS (SELECT FROM shard.gone WHERE gone.slot = one.slot AND gone.seq = one.seq)
    UNION ALL
    SELECT one.slot, one.seq, scheduled.source_id, scheduled.past, scheduled.texts, scheduled.payload
    FROM fence, ${placesTable("one", places, value)} JOIN shard.scheduled ON scheduled.slot = one.slot AND scheduled.seq = one.seq`,
  );
}
