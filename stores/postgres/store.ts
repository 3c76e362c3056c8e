// One shard's items in a schema of a PostgreSQL database: one read and one commit a turn, each one
// way there and back.

import type { Backend } from "../backend.ts";
import type { Item, OutboundItem, Tally } from "../item.ts";
import {
  type Changes,
  type Facts,
  type Image,
  type Mark,
  type OutboxPage,
  type Picked,
  type Read,
  type ScheduledMark,
  type Some,
  type Store,
  type StoredLease,
  StoreError,
  type Wants,
  type Written,
} from "../store.ts";
import { noUpkeep } from "../upkeep.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import { PostgresCatalog } from "./catalog.ts";
import { commitOf, type Folding, turnOf } from "./commit.ts";
import { type Row, takenOver } from "./connection.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { Heads } from "./heads.ts";
import { pages, sources, type Wanted } from "./pages.ts";
import {
  outboundColumns,
  outboundOf,
  parsed,
  type StoredTally,
  type StoredTurn,
  scheduledMarkColumns,
  scheduledMarkOf,
  storedTally,
  tallyOf,
} from "./rows.ts";

/** Turns that are kept: more than can be unanswered. */
const turnsKept = 1_024;
/** Partitions whose heads are in memory together, before they are cut. */
const headsMax = 32;
/** What is read of a head at least where it has to be read at all. */
const aheadItems = 4_096;
const aheadBytes = 512 * 1024;
/** Memory for items that are known without reading them. */
const knownBytesMax = 64 * 1024 * 1024;
/** Turns from one writing of the tallies to the next. */
const foldEvery = 256;

/** More than a partition can have issued since a standby was last in step. */
const numbersSkipped = 2 ** 24;

const texts = {
  append: `
    WITH appended AS (
      INSERT INTO shard.turn SELECT $1::bigint, $2::bytea, $3::text
      FROM shard.turn WHERE position = $1::bigint - 1 AND owner = $2::bytea RETURNING position
    ) SELECT count(*) FROM appended`,
  turns: "SELECT record FROM shard.turn WHERE record IS NOT NULL ORDER BY position",
  tallies: "SELECT tally FROM shard.tally",
  inbound: "SELECT source_shard, outbound_seq FROM shard.inbound",
  leases:
    "SELECT slot, first, last, lease_deadline, leased_at FROM shard.lease ORDER BY slot, first",
  outbox:
    "SELECT target_shard, target_slot, count(*) FROM shard.outbound GROUP BY 1, 2 ORDER BY 1, 2",
  receipts: "SELECT turn, at, entries FROM shard.receipt ORDER BY turn",
  quarantined: "SELECT count(*) FROM shard.quarantine",
  tag: "SELECT tag FROM shard.identity",
  sources: `
    SELECT one.slot, one.id FROM unnest($1::bigint[], $2::bytea[]) AS one(slot, id)
    WHERE EXISTS (SELECT FROM shard.item WHERE item.source_id = one.id AND item.slot = one.slot)
      OR EXISTS (SELECT FROM shard.scheduled WHERE scheduled.source_id = one.id AND scheduled.slot = one.slot)`,
  uniques: "SELECT digest, until FROM shard.unique_key WHERE digest = ANY ($1::bytea[])",
  ended: "SELECT slot, seq, until FROM shard.unique_key ORDER BY until, slot, seq LIMIT $1::bigint",
  waking: `SELECT ${scheduledMarkColumns}, i.wake_at FROM shard.scheduled i ORDER BY i.wake_at, i.slot, i.seq LIMIT $1::bigint`,
  early: `
    SELECT slot, seq, created_at, expire_deadline, attempts, bytes FROM shard.item
    WHERE early AND (expire_deadline, slot, seq) > ($1::bigint, $2::bigint, $3::bigint)
    ORDER BY expire_deadline, slot, seq LIMIT $4::bigint`,
  arrived:
    "SELECT outbound_seq, target_slot FROM shard.outbound WHERE target_shard = $1::bigint AND outbound_seq <= $2::bigint ORDER BY outbound_seq",
  outbound: `
    SELECT ${outboundColumns} FROM (
      SELECT near.*, coalesce(sum(length(payload)) OVER (ORDER BY outbound_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS ahead
      FROM (SELECT * FROM shard.outbound WHERE target_shard = $1::bigint AND outbound_seq > $2::bigint ORDER BY outbound_seq LIMIT $3::bigint) near
    ) i WHERE i.ahead < $4::bigint ORDER BY i.outbound_seq`,
} as const;

/**
 * Throws `StoreError`: `failed` also where the database has lost what this process had acknowledged;
 * it says so once, and can be opened then.
 */
export async function openPostgresStore(options: DatabaseOptions): Promise<Backend> {
  const database = await Database.open(options);
  const store = new PostgresStore(database);
  const { lostCount } = database;
  if (lostCount > 0) {
    await store.skipLostNumbers().finally(() => store.close());
    const count = lostCount === 1 ? "a commit" : `${lostCount} commits`;
    const why = "as a standby that was behind does when it takes over";
    throw new StoreError(
      "failed",
      `the database has lost ${count} that had been acknowledged, ${why}`,
    );
  }
  return {
    store,
    catalog: new PostgresCatalog(database),
    upkeep: noUpkeep,
  };
}

class PostgresStore implements Store {
  readonly #database: Database;
  /** Said by turns alone, until they are folded. */
  #tallies = new Map<number, StoredTally>();
  #inbound = new Map<number, number>();
  #unfolded = 0;
  readonly #known = new Heads(knownBytesMax);
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  async load({ receipts } = { receipts: true }): Promise<Image> {
    this.#refuseClosed();
    const one = (text: string) => this.#database.rows(text);
    const [turnRows, tallyRows, inboundRows, leases, outbox, receiptRows, quarantined, tags] =
      await Promise.all([
        one(texts.turns),
        one(texts.tallies),
        one(texts.inbound),
        one(texts.leases),
        one(texts.outbox),
        receipts ? one(texts.receipts) : [],
        one(texts.quarantined),
        one(texts.tag),
      ]);
    const turns = turnRows.map(([record]) => parsed<StoredTurn>(record));
    const tallies = new Map<number, Tally>();
    const inbound = new Map(inboundRows as unknown as [number, number][]);
    for (const [tally] of tallyRows) put(tallies, parsed<StoredTally>(tally));
    for (const turn of turns) {
      for (const tally of turn.tallies) put(tallies, tally);
      for (const { sourceShard, outboundSeq } of turn.inbound)
        inbound.set(sourceShard, outboundSeq);
      this.#note(turn);
    }
    return {
      tag: String(tags[0]?.[0]),
      turns: turns.map(({ turn, at, opLast, refused }) => ({ turn, at, opLast, refused })),
      tallies: [...tallies.values()],
      leases: await this.#leases(leases),
      outbox: outbox.map((row) => {
        const [targetShard = 0, targetSlot = 0, count = 0] = row as number[];
        return { targetShard, targetSlot, count };
      }),
      inbound: Array.from(inbound, ([sourceShard, outboundSeq]) => ({ sourceShard, outboundSeq })),
      receipts: receiptRows.map((row) => {
        const [turn, at, entries] = row as [number, number, Uint8Array];
        return { turn, at, entries };
      }),
      quarantinedCount: Number(quarantined[0]?.[0]),
    };
  }

  /**
   * Raises the next number of every partition, so that no id that was lost is issued again. One of
   * which the database knows nothing begins anew.
   */
  async skipLostNumbers(): Promise<void> {
    const { turns, tallies } = await this.load({ receipts: false });
    const last = turns.at(-1);
    if (last === undefined) return;
    const raised = tallies.map((tally) => ({ ...tally, nextSeq: tally.nextSeq + numbersSkipped }));
    const turn = { ...last, turn: last.turn + 1, refused: [] };
    const record: StoredTurn = { ...turn, tallies: raised.map(storedTally), inbound: [] };
    const { position, owner } = this.#database;
    const values = [position + 1, owner, JSON.stringify(record)];
    const [row] = await this.#database.rows(texts.append, values);
    this.#appended(row);
  }

  async #leases(rows: readonly Row[]): Promise<StoredLease[]> {
    const leases = rows.map((row) => {
      const [slot = 0, first = 0, last = 0, leaseDeadline = 0, leasedAt = 0] = row as number[];
      return { slot, first, last, leaseDeadline, leasedAt };
    });
    const spans = leases.map(({ slot, first, last }) => ({
      ...{ slot, from: first, before: last + 1 },
      limit: { items: Number.MAX_SAFE_INTEGER, payloadBytes: Number.POSITIVE_INFINITY },
    }));
    const held = await pages(this.#database, sources.marks, spans);
    return leases.map((lease, index) => ({ ...lease, held: held[index]?.found ?? [] }));
  }

  async read(wants: Wants): Promise<Facts> {
    this.#refuseClosed();
    const database = this.#database;
    const [heads, items, scheduled, marks, scheduledMarks, picks, ...others] = await Promise.all([
      this.#heads(wants),
      pages(database, sources.items, wants.items),
      pages(database, sources.scheduled, wants.scheduled),
      pages(database, sources.marks, wants.marks.map(ofAnyBytes)),
      pages(database, sources.scheduledMarks, wants.scheduledMarks.map(ofAnyBytes)),
      this.#picks(wants.picks),
      this.#sources(wants.sources),
      this.#uniques(wants.uniques),
      this.#ended(wants.ended),
      this.#waking(wants.waking),
      this.#early(wants.early),
      Promise.all(wants.outbound.map((want) => this.#outbox(want))),
    ]);
    const [found, uniques, ended, waking, early, outbound] = others;
    return {
      heads,
      items: byName(wants.items, items),
      scheduled: byName(wants.scheduled, scheduled),
      marks: byName(wants.marks, marks),
      scheduledMarks: byName(wants.scheduledMarks, scheduledMarks),
      picks,
      sources: found,
      uniques,
      ended,
      waking,
      early,
      outbound: new Map(
        wants.outbound.map(({ targetShard }, index) => [
          targetShard,
          outbound[index] as OutboxPage,
        ]),
      ),
    };
  }

  /** In their order, as far as the bytes go. */
  async #heads({ heads, headBytes }: Wants): Promise<Map<number, Some<Read<Item>>>> {
    const found = new Map<number, Some<Read<Item>>>();
    let left = headBytes;
    for (let start = 0; start < heads.length && left > 0; start += headsMax) {
      const some = heads.slice(start, start + headsMax);
      await this.#readAhead(some, left);
      for (const head of some) {
        if (left <= 0) break;
        const first = this.#known.first(head, { items: head.items, payloadBytes: left });
        if (first === null) throw new StoreError("failed", "the head of a partition is missing");
        for (const { payload } of first.found) left -= payload.length;
        found.set(head.slot, first);
      }
      this.#known.trim();
    }
    return found;
  }

  /** Makes their heads known, each as far as it would go alone: a little first, which is enough for most. */
  async #readAhead(heads: Wants["heads"], bytesMax: number): Promise<void> {
    for (const payloadBytes of [Math.min(aheadBytes, bytesMax), bytesMax]) {
      const short = heads.filter(
        (head) => this.#known.first(head, { items: head.items, payloadBytes: bytesMax }) === null,
      );
      const spans = short.map((head) => ({
        slot: head.slot,
        from: this.#known.endOf(head),
        before: head.before,
        limit: { items: Math.max(head.items, aheadItems), payloadBytes },
      }));
      const read = await pages(this.#database, sources.items, spans);
      for (const [index, span] of spans.entries()) {
        const { found, isAll } = read[index] ?? { found: [], isAll: true };
        const before = isAll ? span.before : 1 + (found.at(-1)?.seq ?? span.from - 1);
        this.#known.add({ ...span, before }, found);
      }
    }
  }

  async #picks(picks: Wants["picks"]): Promise<Map<number, Picked>> {
    const spans = picks.flatMap(({ slot, seqs }) =>
      seqs.map((seq) => ({ slot, from: seq, before: seq + 1, limit: one })),
    );
    const [ready, scheduled] = await Promise.all([
      pages(this.#database, sources.marks, spans),
      pages(this.#database, sources.scheduledMarks, spans),
    ]);
    const picked = new Map(
      picks.map(({ slot }) => [
        slot,
        { ready: new Map<number, Mark>(), scheduled: new Map<number, ScheduledMark>() },
      ]),
    );
    for (const { found } of ready)
      for (const mark of found) picked.get(mark.slot)?.ready.set(mark.seq, mark);
    for (const { found } of scheduled)
      for (const mark of found) picked.get(mark.slot)?.scheduled.set(mark.seq, mark);
    return picked;
  }

  async #sources(wanted: Wants["sources"]): Promise<Map<number, Set<string>>> {
    const found = new Map(wanted.map(({ slot }) => [slot, new Set<string>()]));
    const all = wanted.flatMap(({ slot, sourceIds }) => sourceIds.map((id) => ({ slot, id })));
    if (all.length === 0) return found;
    const values = [int8Array(all.map(({ slot }) => slot)), byteaArray(all.map(({ id }) => id))];
    for (const [slot, id] of await this.#database.promptRows(texts.sources, values)) {
      found.get(slot as number)?.add(new TextDecoder().decode(id as Uint8Array));
    }
    return found;
  }

  async #uniques(digests: Wants["uniques"]): Promise<Map<string, number>> {
    if (digests.length === 0) return new Map();
    const values = [byteaArray(digests.map((digest) => Uint8Array.fromHex(digest)))];
    const rows = await this.#database.promptRows(texts.uniques, values);
    return new Map(
      rows.map(([digest, until]) => [(digest as Uint8Array).toHex(), until as number]),
    );
  }

  async #ended(want: Wants["ended"]): Promise<Facts["ended"]> {
    if (want === null) return { found: [], next: null };
    const rows = (await this.#database.promptRows(texts.ended, [want.keys + 1])) as number[][];
    const ended = rows.filter(([, , until = 0]) => until <= want.until).slice(0, want.keys);
    const found = ended.map(([slot = 0, seq = 0]) => ({ slot, seq }));
    return { found, next: rows[found.length]?.[2] ?? null };
  }

  async #waking(want: Wants["waking"]): Promise<Facts["waking"]> {
    if (want === null) return { found: [], next: null };
    const rows = await this.#database.promptRows(texts.waking, [want.items + 1]);
    const wakeAt = (row: Row | undefined) => (row?.at(-1) as number | undefined) ?? null;
    const awake = rows.filter((row) => Number(wakeAt(row)) <= want.until).slice(0, want.items);
    return { found: awake.map(scheduledMarkOf), next: wakeAt(rows[awake.length]) };
  }

  async #early(want: Wants["early"]): Promise<Facts["early"]> {
    if (want === null) return { found: [], next: null };
    const { after, until, items } = want;
    const values = [after.expireDeadline, after.slot, after.seq, items + 1];
    const marks = (await this.#database.promptRows(texts.early, values)).map((row): Mark => {
      const [slot = 0, seq = 0, createdAt = 0, expireDeadline = 0, attempts = 0, payloadBytes = 0] =
        row as number[];
      return { slot, seq, createdAt, expireDeadline, attempts, payloadBytes };
    });
    const found = marks.slice(0, items).filter(({ expireDeadline }) => expireDeadline <= until);
    return { found, next: marks[found.length]?.expireDeadline ?? null };
  }

  async #outbox({ targetShard, arrived, limit }: Wants["outbound"][number]): Promise<OutboxPage> {
    const [there, found] = await Promise.all([
      this.#database.promptRows(texts.arrived, [targetShard, arrived]),
      this.#database.promptRows(texts.outbound, [
        ...[targetShard, arrived, limit.items],
        Math.min(limit.payloadBytes, Number.MAX_SAFE_INTEGER),
      ]),
    ]);
    return {
      arrived: there.map((row) => {
        const [outboundSeq = 0, targetSlot = 0] = row as number[];
        return { outboundSeq, targetSlot };
      }),
      found: found.map((row): Read<OutboundItem> => outboundOf(row)),
    };
  }

  async commit(changes: Changes): Promise<Written> {
    this.#refuseClosed();
    const { position, owner } = this.#database;
    const folding = this.#folding(position + 1);
    const turn = turnOf(changes);
    const { text, values } = commitOf(changes, { position: position + 1, owner, turn }, folding);
    const [row] = await this.#database.promptRows(text, values);
    this.#appended(row);
    if (folding !== null) this.#forgetFolded();
    this.#note(turn);
    this.#known.committed(changes);
    return { synced: null };
  }

  /** `row`: how many the chain got. */
  #appended(row: Row | undefined): void {
    if (row?.[0] !== 1) {
      throw new StoreError("failed", takenOver);
    }
    this.#database.appended();
  }

  #note({ tallies, inbound }: StoredTurn): void {
    for (const tally of tallies) this.#tallies.set(tally.slot, tally);
    for (const { sourceShard, outboundSeq } of inbound) this.#inbound.set(sourceShard, outboundSeq);
    this.#unfolded += 1;
  }

  /** What turns have said so far; those of this turn are told by its own row. */
  #folding(position: number): Folding | null {
    if (this.#unfolded < foldEvery) return null;
    return {
      tallies: [...this.#tallies.values()],
      inbound: Array.from(this.#inbound, ([sourceShard, outboundSeq]) => ({
        sourceShard,
        outboundSeq,
      })),
      keptFrom: position - turnsKept,
    };
  }

  #forgetFolded(): void {
    this.#tallies = new Map();
    this.#inbound = new Map();
    this.#unfolded = 0;
  }

  #refuseClosed(): void {
    if (this.#closed) throw new StoreError("unusable", "store is closed");
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#database.close();
  }
}

const one = { items: 1, payloadBytes: 1 };

function ofAnyBytes(page: Wants["marks"][number]): Wanted {
  return { ...page, limit: { ...page.limit, payloadBytes: Number.POSITIVE_INFINITY } };
}

function byName<T>(
  wanted: readonly { readonly name: string }[],
  found: readonly T[],
): Map<string, T> {
  return new Map(wanted.map(({ name }, index) => [name, found[index] as T]));
}

function put(tallies: Map<number, Tally>, stored: StoredTally): void {
  tallies.set(stored.slot, tallyOf(stored));
}
