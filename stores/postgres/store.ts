// One shard's store in a schema of a PostgreSQL database. A turn reads once and commits once, each
// in one round trip.

import type { TransferableStore } from "../backend.ts";
import type { Tally } from "../item.ts";
import { noMaintenance } from "../maintenance.ts";
import {
  type Changes,
  type Image,
  type ReadPlan,
  type ReadResult,
  type Store,
  type StoredLease,
  StoreError,
  type Written,
} from "../store.ts";
import type { CommitPlace } from "./acknowledged.ts";
import { commitOf, type Folding, turnOf } from "./commit.ts";
import { type SqlRow, takenOver } from "./connection.ts";
import { Database, type DatabaseOptions, lossOf } from "./database.ts";
import { countsIn } from "./grouped.ts";
import { pages, sources } from "./pages.ts";
import { Reads } from "./reads.ts";
import { parsed, queueOf, type StoredTally, type StoredTurn, tallyOf } from "./rows.ts";
import { transferOf } from "./transfer.ts";

/** Turns to keep: more than can be unanswered at once. */
const turnsKept = 1_024;
/** Turns between two writes of the tallies. */
const foldEvery = 256;

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
    "SELECT target_shard, target_owner, count(*) FROM shard.outbound GROUP BY 1, 2 ORDER BY 1, 2",
  receipts: "SELECT turn, at, entries FROM shard.receipt ORDER BY turn",
  tasks: 'SELECT task_id, text FROM shard.task ORDER BY task_id COLLATE "C"',
  queues: "SELECT entry FROM shard.queue ORDER BY queue_id",
  quarantined: "SELECT count(*) FROM shard.quarantine",
  tags: "SELECT tag FROM shard.identity",
} as const;

export interface PostgresBackend extends TransferableStore {
  /** The last row of the chain, unless the shard has another owner by now. */
  readonly lastTurn: () => CommitPlace;
}

/**
 * Throws `StoreError`, `lost` if the database lacks commits that this process has acknowledged. It
 * throws this once; the next call opens the store.
 */
export async function openPostgresStore(options: DatabaseOptions): Promise<PostgresBackend> {
  const database = await Database.open(options);
  const store = new PostgresStore(database);
  const { lostCount } = database;
  if (lostCount > 0) {
    await store.close();
    database.noteLost();
    throw lossOf(lostCount);
  }
  const lastTurn = (): CommitPlace => ({ position: database.position, owner: database.owner });
  return { store, maintenance: noMaintenance, transfer: transferOf(database), lastTurn };
}

class PostgresStore implements Store {
  readonly #database: Database;
  /** Recorded only in the rows of turns, until they are folded into their tables. */
  #tallies = new Map<number, StoredTally>();
  #inbound = new Map<number, number>();
  #unfolded = 0;
  /** The chain has no row before this position. */
  #prunedTo = 0;
  readonly #reads: Reads;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
    this.#reads = new Reads((text, values) => database.promptRows(text, values));
  }

  async load({ receipts } = { receipts: true }): Promise<Image> {
    this.#refuseClosed();
    const rowsOf = (text: string) => this.#database.rows(text);
    const [turnRows, tallyRows, inboundRows, leases, outbox, receiptRows, tasks, ...others] =
      await Promise.all([
        rowsOf(texts.turns),
        rowsOf(texts.tallies),
        rowsOf(texts.inbound),
        rowsOf(texts.leases),
        rowsOf(texts.outbox),
        receipts ? rowsOf(texts.receipts) : [],
        rowsOf(texts.tasks),
        rowsOf(texts.queues),
        rowsOf(texts.quarantined),
        rowsOf(texts.tags),
        countsIn(rowsOf),
      ]);
    const [queues, quarantined, tags, groups] = others;
    const held = await this.#leases(leases);
    await this.#database.refuseTakenOver();
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
      tags: String(tags[0]?.[0]),
      turns: turns.map(({ turn, at, tag }) => ({ turn, at, tag })),
      tallies: [...tallies.values()],
      groups,
      leases: held,
      outbox: outbox.map((row) => {
        const [targetShard = 0, targetOwner = 0, count = 0] = row as number[];
        return { targetShard, targetOwner, count };
      }),
      inbound: Array.from(inbound, ([sourceShard, outboundSeq]) => ({ sourceShard, outboundSeq })),
      receipts: receiptRows.map((row) => {
        const [turn, at, entries] = row as [number, number, Uint8Array];
        return { turn, at, entries };
      }),
      tasks: tasks.map((row) => ({ taskId: String(row[0]), text: String(row[1]) })),
      queues: queues.map(queueOf),
      quarantinedCount: Number(quarantined[0]?.[0]),
    };
  }

  async #leases(rows: readonly SqlRow[]): Promise<StoredLease[]> {
    const leases = rows.map((row) => {
      const [slot = 0, first = 0, last = 0, leaseDeadline = 0, leasedAt = 0] = row as number[];
      return { slot, first, last, leaseDeadline, leasedAt };
    });
    const spans = leases.map(({ slot, first, last }) => ({
      ...{ slot, from: first, before: last + 1 },
      limit: { items: Number.MAX_SAFE_INTEGER, payloadBytes: Number.POSITIVE_INFINITY },
    }));
    // Not `promptRows`: a start reads all leases, however long that takes.
    const rowsOf: Database["rows"] = (text, values) => this.#database.rows(text, values);
    const held = await pages(rowsOf, sources.marks, spans);
    return leases.map((lease, index) => ({ ...lease, held: held[index]?.found ?? [] }));
  }

  async read(plan: ReadPlan): Promise<ReadResult> {
    this.#refuseClosed();
    return await this.#reads.read(plan);
  }

  async commit(changes: Changes): Promise<Written> {
    this.#refuseClosed();
    const { position, owner } = this.#database;
    const folding = this.#folding(position + 1);
    const turn = turnOf(changes);
    const { text, values } = commitOf(changes, { position: position + 1, owner, turn }, folding);
    const [row] = await this.#database.appendingRows(text, values);
    this.#appended(row);
    if (folding !== null) this.#folded(folding);
    this.#note(turn);
    this.#reads.committed(changes);
    return { synced: null };
  }

  /** `row`: the number of rows appended to the chain. */
  #appended(row: SqlRow | undefined): void {
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

  /** Changes of earlier turns; those of this turn are in its own row. */
  #folding(position: number): Folding | null {
    if (this.#unfolded < foldEvery) return null;
    return {
      tallies: [...this.#tallies.values()],
      inbound: Array.from(this.#inbound, ([sourceShard, outboundSeq]) => ({
        sourceShard,
        outboundSeq,
      })),
      keptFrom: position - turnsKept,
      prunedTo: this.#prunedTo,
    };
  }

  #folded({ keptFrom }: Folding): void {
    this.#prunedTo = keptFrom;
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

function put(tallies: Map<number, Tally>, stored: StoredTally): void {
  tallies.set(stored.slot, tallyOf(stored));
}
