// A turn as one statement: the next row of the chain, and all that it changes beside. Every part
// joins that row, so that of a turn whose shard has another owner by now nothing is written. Parts
// that have nothing to do are left out.

import { type Item, type ScheduledItem, wakeAt } from "../item.ts";
import { packItemsMax, packsOf } from "../packs.ts";
import type { Changes, Destination, Inbound, Move, SlotSeqs } from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { Value } from "./connection.ts";
import { type StoredTally, type StoredTurn, storedTally, textsOf } from "./rows.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** What is written of turns before, so that they can go. */
export interface Folding {
  readonly tallies: readonly StoredTally[];
  readonly inbound: readonly Inbound[];
  /** Rows of the chain before this one go. */
  readonly keptFrom: number;
}

export interface Place {
  readonly position: number;
  readonly owner: Buffer;
}

export function turnOf({ turn, tally, receive }: Changes): StoredTurn {
  return { ...turn, tallies: tally.map(storedTally), inbound: receive };
}

/** Answers with one row, the number of rows that the chain got: 1, or 0 where it has another owner. */
export function commitOf(
  changes: Changes,
  { position, owner }: Place,
  folding: Folding | null,
): Statement {
  const parts = new Parts();
  parts.add(
    "fence",
    (value) => `
    INSERT INTO shard.turn SELECT ${value(position)}::bigint, ${value(owner)}::bytea, ${value(JSON.stringify(turnOf(changes)))}::text
    FROM shard.turn WHERE position = ${value(position)}::bigint - 1 AND owner = ${value(owner)}::bytea
    RETURNING position`,
  );
  addMoves(parts, changes.move);
  addQuarantine(parts, changes.quarantine);
  const aside = [...changes.remove, ...changes.quarantine];
  addRemoves(parts, aside);
  addUnschedules(parts, [...changes.unschedule, ...changes.quarantine]);
  addInserts(parts, changes.insert);
  addSchedules(parts, changes.schedule);
  addLeases(parts, changes);
  addOutbox(parts, changes);
  addReceipts(parts, changes);
  addUniques(parts, changes);
  if (folding !== null) addFolding(parts, folding);
  addChecks(parts, changes);
  return parts.statement();
}

/** Payload bytes of a pack: about as much as a page holds. */
const packBytesMax = 7_900;

type Write = (value: (value: Value) => string) => string;

/** Parts of one statement; each names its values as it needs them. */
class Parts {
  readonly #values: Value[] = [];
  readonly #texts: string[] = [];
  readonly #checks: string[] = [];

  add(name: string, write: Write): void {
    this.#texts.push(`${name} AS (${write((value) => `$${this.#values.push(value)}`)})`);
  }

  /** A part that fails the statement unless each of its rows says so. */
  check(name: string, write: Write): void {
    this.add(name, write);
    this.#checks.push(`(SELECT coalesce(sum(1 / holds::int), 0) FROM ${name}) >= 0`);
  }

  statement(): Statement {
    const checks = this.#checks.map((check) => ` AND ${check}`).join("");
    const text = `WITH ${this.#texts.join(",\n")}\nSELECT count(*) FROM fence WHERE true${checks}`;
    return { text, values: this.#values };
  }
}

const ints = (values: readonly (number | null)[]): Buffer => int8Array(values);
const bytes = (values: readonly (Uint8Array | string | null)[]): Buffer => byteaArray(values);

interface Column {
  readonly name: string;
  readonly type: "bigint" | "bytea";
  readonly value: Buffer;
}

function numbers<T>(of: readonly T[], name: string, get: (one: T) => number | null): Column {
  return { name, type: "bigint", value: ints(of.map(get)) };
}

function blobs<T>(
  of: readonly T[],
  name: string,
  get: (one: T) => Uint8Array | string | null,
): Column {
  return { name, type: "bytea", value: bytes(of.map(get)) };
}

/** Columns as a table `name`. */
function table(name: string, columns: readonly Column[], value: (value: Value) => string): string {
  const arrays = columns.map((column) => `${value(column.value)}::${column.type}[]`);
  return `unnest(${arrays.join(", ")}) AS ${name}(${columns.map((column) => column.name).join(", ")})`;
}

const flag = (is: boolean): number => (is ? 1 : 0);
const orNull = (text: string): string | null => (text === "" ? null : text);

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

const dueOf = ({ dueAt, expireDeadline }: Pick<ScheduledItem, "dueAt" | "expireDeadline">) =>
  wakeAt({ dueAt, expireDeadline });

function addInserts(parts: Parts, insert: readonly Item[]): void {
  if (insert.length === 0) return;
  const packs = packsOf(insert, packBytesMax);
  const items = packs.flatMap((pack, index) => pack.map((item) => ({ item, index: index + 1 })));
  const first = (pack: readonly Item[]): Item => pack[0] as Item;
  const columns = [
    ...placeColumns(packs, first),
    numbers(packs, "count", (pack) => pack.length),
    blobs(packs, "source_id", (pack) => orNull(first(pack).sourceId)),
  ];
  const contents = [
    numbers(items, "pack", ({ index }) => index),
    blobs(items, "texts", ({ item }) => textsOf(item)),
    blobs(items, "payload", ({ item }) => item.payload),
  ];
  const names = columns.map(({ name }) => name).join(", ");
  parts.add("content", (value) => {
    const rows = table("one", contents, value).replace(" AS one(", " WITH ORDINALITY AS one(");
    return `
    SELECT pack, array_agg(payload ORDER BY place) AS payloads, sum(length(payload)) AS bytes,
      CASE WHEN count(texts) > 0 THEN array_agg(texts ORDER BY place) END AS texts
    FROM ${rows.replace(/\)$/, ", place)")} GROUP BY pack`;
  });
  parts.add("inserted", (value) => {
    const rows = table("pack", columns, value).replace(" AS pack(", " WITH ORDINALITY AS pack(");
    return `
    INSERT INTO shard.item (slot, seq, created_at, queued_at, expire_deadline, early, attempts, count, source_id, texts, payloads, bytes)
    SELECT ${names.replace("early", "early = 1")}, content.texts, content.payloads, content.bytes
    FROM fence, ${rows.replace(/\)$/, ", number)")} JOIN content ON content.pack = pack.number`;
  });
}

const scheduledColumns =
  "slot, seq, created_at, queued_at, expire_deadline, attempts, source_id, texts, payload, due_at, retried, wake_at";

function addSchedules(parts: Parts, schedule: readonly ScheduledItem[]): void {
  if (schedule.length === 0) return;
  const columns = [
    ...placeColumns(schedule, (item) => item),
    blobs(schedule, "source_id", ({ sourceId }) => orNull(sourceId)),
    blobs(schedule, "texts", textsOf),
    blobs(schedule, "payload", ({ payload }) => payload),
    numbers(schedule, "due_at", ({ dueAt }) => dueAt),
    numbers(schedule, "retried", ({ retried }) => flag(retried)),
    numbers(schedule, "wake_at", dueOf),
  ];
  parts.add(
    "scheduled",
    (value) => `
    INSERT INTO shard.scheduled (${scheduledColumns})
    SELECT ${scheduledColumns.replace("retried", "retried = 1")} FROM fence, ${table("one", columns, value)}`,
  );
}

type Moved<Into extends Destination["into"]> = Move & {
  readonly to: Extract<Destination, { readonly into: Into }>;
};

function movesInto<Into extends Destination["into"]>(
  moves: readonly Move[],
  into: Into,
): Moved<Into>[] {
  return moves.filter((move): move is Moved<Into> => move.to?.into === into);
}

/** Where items are, and where they go; what their producer gave them stays in the database. */
function moved<T extends Move>(
  moves: readonly T[],
  more: readonly Column[],
  value: (value: Value) => string,
): string {
  const to = (move: T): Movable => (move.to as NonNullable<Move["to"]>).item;
  const columns = [
    numbers(moves, "from_slot", ({ slot }) => slot),
    numbers(moves, "from_seq", ({ seq }) => seq),
    numbers(moves, "from_aside", ({ from }) => flag(from === "scheduled")),
    ...placeColumns(moves, to),
    blobs(moves, "new_source", (move) => to(move).sourceId),
    ...more,
  ];
  return `
    fence, ${table("one", columns, value)}
    LEFT JOIN LATERAL (
      SELECT item.source_id, item.texts[one.from_seq - item.seq + 1] AS texts, item.payloads[one.from_seq - item.seq + 1] AS payload
      FROM shard.item
      WHERE one.from_aside = 0 AND item.slot = one.from_slot AND item.seq > one.from_seq - ${packItemsMax}
        AND item.seq <= one.from_seq AND item.seq + item.count > one.from_seq
        AND NOT EXISTS (SELECT FROM shard.gone WHERE gone.slot = one.from_slot AND gone.seq = one.from_seq)
      UNION ALL
      SELECT source_id, texts, payload FROM shard.scheduled
      WHERE one.from_aside = 1 AND scheduled.slot = one.from_slot AND scheduled.seq = one.from_seq
    ) given ON true`;
}

const sourceId = "nullif(coalesce(one.new_source, given.source_id), '')";

/** Of an item that is not there the payload is null, which no table takes. */
function addMoves(parts: Parts, moves: readonly Move[]): void {
  const items = movesInto(moves, "items");
  if (items.length > 0) {
    parts.add(
      "moved_items",
      (value) => `
    INSERT INTO shard.item (slot, seq, count, created_at, queued_at, expire_deadline, early, attempts, source_id, texts, payloads, bytes)
    SELECT one.slot, one.seq, 1, one.created_at, one.queued_at, one.expire_deadline, one.early = 1, one.attempts,
      ${sourceId}, CASE WHEN given.texts IS NOT NULL THEN ARRAY[given.texts] END,
      CASE WHEN given.payload IS NOT NULL THEN ARRAY[given.payload] END, length(given.payload)
    FROM ${moved(items, [], value)}`,
    );
  }
  const scheduled = movesInto(moves, "scheduled");
  if (scheduled.length > 0) {
    const more = [
      numbers(scheduled, "due_at", ({ to }) => to.item.dueAt),
      numbers(scheduled, "retried", ({ to }) => flag(to.item.retried)),
      numbers(scheduled, "wake_at", ({ to }) => dueOf(to.item)),
    ];
    parts.add(
      "moved_scheduled",
      (value) => `
    INSERT INTO shard.scheduled (${scheduledColumns})
    SELECT one.slot, one.seq, one.created_at, one.queued_at, one.expire_deadline, one.attempts,
      ${sourceId}, given.texts, given.payload, one.due_at, one.retried = 1, one.wake_at
    FROM ${moved(scheduled, more, value)}`,
    );
  }
  const outbox = movesInto(moves, "outbox");
  if (outbox.length > 0) {
    const more = [
      numbers(outbox, "outbound_seq", ({ to }) => to.item.outboundSeq),
      numbers(outbox, "target_shard", ({ to }) => to.item.targetShard),
      numbers(outbox, "target_slot", ({ to }) => to.item.targetSlot),
    ];
    parts.add(
      "moved_outbox",
      (value) => `
    INSERT INTO shard.outbound (outbound_seq, target_shard, target_slot, slot, seq, created_at, queued_at, expire_deadline, early, attempts, source_id, texts, payload)
    SELECT one.outbound_seq, one.target_shard, one.target_slot, one.slot, one.seq, one.created_at, one.queued_at,
      one.expire_deadline, one.early = 1, one.attempts, ${sourceId}, given.texts, given.payload
    FROM ${moved(outbox, more, value)}`,
    );
  }
}

/** What the tables' own keys do not refuse: a number within a pack, and a move of nothing to nowhere. */
function addChecks(parts: Parts, { insert, move }: Changes): void {
  const taken: SlotSpan[] = [
    ...packsOf(insert, packBytesMax).map(([first, ...others]) => ({
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
    numbers(nowhere, "aside", ({ from }) => flag(from === "scheduled")),
  ];
  parts.check(
    "stored",
    (value) => `
    SELECT CASE WHEN one.aside = 1
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

/** Neighbours together; the numbers rise. */
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

function addRemoves(parts: Parts, removed: readonly SlotSeqs[]): void {
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
    FROM fence, ${table("run", columns, value)} JOIN shard.item ON item.slot = run.slot
      AND item.seq > run.first - ${packItemsMax} AND item.seq <= run.last AND item.seq + item.count > run.first`,
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
  parts.add(
    "removed",
    () =>
      "DELETE FROM shard.item USING emptied WHERE item.slot = emptied.slot AND item.seq = emptied.seq",
  );
  parts.add(
    "filled",
    () =>
      "DELETE FROM shard.gone USING emptied WHERE gone.slot = emptied.slot AND gone.seq >= emptied.seq AND gone.seq < emptied.seq + emptied.count AND emptied.count > 1",
  );
  parts.add(
    "dug",
    () => `
    INSERT INTO shard.gone SELECT hit.slot, generate_series(hit.first, hit.last) FROM hit
    WHERE NOT EXISTS (SELECT FROM emptied WHERE emptied.slot = hit.slot AND emptied.seq = hit.seq)
    ON CONFLICT DO NOTHING`,
  );
}

interface SlotSeq {
  readonly slot: number;
  readonly seq: number;
}

function flat(places: readonly SlotSeqs[]): SlotSeq[] {
  return places.flatMap(({ slot, seqs }) => seqs.map((seq) => ({ slot, seq })));
}

function placesTable(
  name: string,
  places: readonly SlotSeq[],
  value: (value: Value) => string,
): string {
  const columns = [
    numbers(places, "slot", ({ slot }) => slot),
    numbers(places, "seq", ({ seq }) => seq),
  ];
  return table(name, columns, value);
}

function addUnschedules(parts: Parts, unscheduled: readonly SlotSeqs[]): void {
  const places = flat(unscheduled);
  if (places.length === 0) return;
  parts.add(
    "unscheduled",
    (value) => `
    DELETE FROM shard.scheduled USING fence, ${placesTable("one", places, value)}
    WHERE scheduled.slot = one.slot AND scheduled.seq = one.seq`,
  );
}

function addQuarantine(parts: Parts, quarantined: readonly SlotSeqs[]): void {
  const places = flat(quarantined);
  if (places.length === 0) return;
  parts.add(
    "quarantined",
    (value) => `
    INSERT INTO shard.quarantine (slot, seq, source_id, texts, payload)
    SELECT one.slot, one.seq, item.source_id, item.texts[one.seq - item.seq + 1], item.payloads[one.seq - item.seq + 1]
    FROM fence, ${placesTable("one", places, value)} JOIN shard.item ON item.slot = one.slot
      AND item.seq > one.seq - ${packItemsMax} AND item.seq <= one.seq AND item.seq + item.count > one.seq
      AND NOT EXISTS (SELECT FROM shard.gone WHERE gone.slot = one.slot AND gone.seq = one.seq)
    UNION ALL
    SELECT one.slot, one.seq, scheduled.source_id, scheduled.texts, scheduled.payload
    FROM fence, ${placesTable("one", places, value)} JOIN shard.scheduled ON scheduled.slot = one.slot AND scheduled.seq = one.seq`,
  );
}

function addLeases(parts: Parts, { lease, unlease }: Changes): void {
  // What is written anew is not removed beside that.
  const kept = new Set(lease.map(({ slot, first }) => `${slot}/${first}`));
  const gone = unlease.filter(({ slot, first }) => !kept.has(`${slot}/${first}`));
  if (gone.length > 0) {
    const places = gone.map(({ slot, first }) => ({ slot, seq: first }));
    parts.add(
      "unleased",
      (value) => `
    DELETE FROM shard.lease USING fence, ${placesTable("one", places, value)} WHERE lease.slot = one.slot AND lease.first = one.seq`,
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
    INSERT INTO shard.quarantine (slot, seq, source_id, texts, payload)
    SELECT outbound.slot, outbound.seq, outbound.source_id, outbound.texts, outbound.payload
    FROM fence, shard.outbound WHERE outbound_seq = ANY (${value(ints(quarantineOutbound))}::bigint[])`,
    );
  }
  const sent = [...unsend, ...quarantineOutbound];
  if (sent.length === 0) return;
  parts.add(
    "unsent",
    (value) =>
      `DELETE FROM shard.outbound USING fence WHERE outbound_seq = ANY (${value(ints(sent))}::bigint[])`,
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
  const digests = bytes(unique.map(({ digest }) => Uint8Array.fromHex(digest)));
  const places = flat(ununique);
  if (places.length > 0) {
    parts.add(
      "ununique",
      (value) => `
    DELETE FROM shard.unique_key USING fence, ${placesTable("one", places, value)}
    WHERE unique_key.slot = one.slot AND unique_key.seq = one.seq AND digest <> ALL (${value(digests)}::bytea[])`,
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

function addFolding(parts: Parts, { tallies, inbound, keptFrom }: Folding): void {
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
      `DELETE FROM shard.turn USING fence WHERE turn.position < ${value(keptFrom)}::bigint`,
  );
}
