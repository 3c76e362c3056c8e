// One shard's store in one SQLite file. The file belongs to one connection, whose exclusive lock
// also keeps out a second server.

import type { Database } from "bun:sqlite";
import { dirname } from "node:path";
import type { TransferableStore } from "../backend.ts";
import type { Item, OutboundItem, ScheduledItem } from "../item.ts";
import {
  type Changes,
  DamagedItems,
  type Image,
  type Move,
  type OutboxPage,
  type Picked,
  type Read,
  type ReadLimit,
  type ReadPlan,
  type ReadResult,
  type SlotSeqs,
  type Store,
  StoreError,
  type Written,
} from "../store.ts";
import {
  type ConnectOptions,
  connect,
  guard,
  letSync,
  namingNoRoom,
  storeError,
} from "./connect.ts";
import { lostTurns, refuseDamagedLog } from "./damaged-log.ts";
import { GroupedTable } from "./grouped-table.ts";
import { ItemTable } from "./item-table.ts";
import { SqliteMaintenance } from "./maintenance.ts";
import { closeDatabase, type Prepared, prepareAll } from "./prepared.ts";
import { Room } from "./room.ts";
import {
  identityOf,
  identityValues,
  inboundOf,
  inboundValues,
  itemColumns,
  keyedTurnValues,
  leaseOf,
  leaseValues,
  outboundOf,
  outboundValues,
  queueOf,
  queueValues,
  receiptsOf,
  tallyOf,
  tallyValues,
  taskOf,
  taskValues,
  textIn,
  turnOf,
  turnValues,
} from "./rows.ts";
import { ScheduledTable } from "./scheduled-table.ts";
import { migrate, schema } from "./schema.ts";
import { insertedItem, key, keyOf, limitOf, place, placeAndItem } from "./sql-text.ts";
import { LogFile, type Syncer, systemSyncer, threadPoolSyncer } from "./sync.ts";
import { transferOf } from "./transfer.ts";
import { UniqueTable } from "./unique-table.ts";
import { type LogState, WalWatermark } from "./wal-watermark.ts";

export interface SqliteOptions extends ConnectOptions {
  /** Default the system's. `null`: SQLite does the syncs. */
  readonly syncer?: Syncer | null;
  /** Returns the tag of a new store: 12 characters `0-9A-Za-z`. */
  readonly newTag: () => string;
  /** Open even if committed turns are missing from a damaged log. */
  readonly acceptLogLoss: boolean;
  /**
   * Whether the store's instants come from a test clock; a file accepts only one kind. Default
   * false, `null` accepts both.
   */
  readonly testClock?: boolean | null;
  /** Bytes reserved so that leases and completes continue when the disk is full; 0 = none. */
  readonly ballastBytes: number;
}

/** Rows of the `turn` ring: more than the turns that can be unanswered at once. */
const turnRing = 64;
/** Payload bytes of moved items in memory at once; the last item may exceed it. */
const movedBytes = 1024 * 1024;

const turnColumns = "turn, at, tag, check_sum";

const statements = {
  lease: `INSERT OR REPLACE INTO lease (key, last_seq, lease_deadline, leased_at, check_sum) VALUES (${key}, ?3, ?4, ?5, ?6)`,
  unlease: `DELETE FROM lease WHERE key = ${key}`,
  tally: "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  send: `INSERT INTO outbound (key, ${itemColumns}, outbound_seq, target_shard, target_owner) VALUES (${key}, ${insertedItem}, ?16, ?17, ?18)`,
  unsend: "DELETE FROM outbound WHERE outbound_seq = ?1",
  quarantineSent:
    "INSERT INTO quarantine (key, columns, payload) SELECT key, json_array(created_at, queued_at, expire_deadline, early, attempts, kind, encoding, reference, source_id, headers, past, check_sum, outbound_seq, target_shard, target_owner), payload FROM outbound WHERE outbound_seq = ?1",
  receive: "INSERT OR REPLACE INTO inbound VALUES (?1, ?2, ?3)",
  keyedTurn: "INSERT INTO keyed_turn VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
  task: "INSERT OR REPLACE INTO task VALUES (?1, ?2, ?3)",
  untask: "DELETE FROM task WHERE task_id = ?1",
  queue: "INSERT OR REPLACE INTO queue VALUES (?1, ?2, ?3)",
  unqueue: "DELETE FROM queue WHERE queue_id = ?1",
  tags: "UPDATE identity SET tag = ?1, check_sum = ?2",
  // The ring keeps the latest turns even after their receipts are forgotten.
  unkey: `INSERT OR REPLACE INTO turn SELECT turn % ${turnRing}, ${turnColumns} FROM keyed_turn WHERE turn <= ?1 AND turn > ?2 - ${turnRing}`,
  forget: "DELETE FROM keyed_turn WHERE turn <= ?1",
  turn: `INSERT OR REPLACE INTO turn VALUES (?1 % ${turnRing}, ?1, ?2, ?3, ?4)`,

  source: `SELECT 1 FROM item WHERE source_id = ?2 AND key >> 45 = ?1 UNION ALL SELECT 1 FROM scheduled WHERE source_id = ?2 AND key >> 45 = ?1`,
  early: `SELECT expire_deadline, ${place}, created_at, attempts, length(payload), past FROM item WHERE early = 1 AND (expire_deadline, key) > (?1, ${keyOf("?2", "?3")}) ORDER BY expire_deadline, key ${limitOf("?4")}`,
  arrived:
    "SELECT outbound_seq, target_owner FROM outbound WHERE target_shard = ?1 AND outbound_seq <= ?2",
  outbound: `SELECT ${placeAndItem}, outbound_seq, target_shard, target_owner FROM outbound WHERE target_shard = ?1 AND outbound_seq > ?2 ORDER BY outbound_seq ${limitOf("?3")}`,
} as const;

/**
 * Opens the file, or creates it. Throws `StoreError`: `locked` if another process has it open,
 * `damaged` if its log has lost committed turns.
 */
export async function openSqliteStore(options: SqliteOptions): Promise<TransferableStore> {
  const paths = { log: `${options.path}-wal`, mark: `${options.path}-mark` };
  const mark = new WalWatermark(paths.mark, paths.log);
  // Without a sync per commit, a power cut alone may leave such a log; `normal` accepts that.
  const isStrict = options.durability === "full";
  const found: LogState = isStrict ? refuseDamagedLog({ ...options, ...paths }) : { is: "whole" };
  if (found.is === "cut") await mark.clear();
  const database = connect(options);
  let room: Room | null = null;
  let log: LogFile | null = null;
  try {
    migrate(database, schema, options);
    // From now on a power cut may lose commits that the mark claims as synced.
    if (!isStrict) mark.remove();
    const commits = commitsOf(database);
    if (found.is === "missing" && commits < found.commits) {
      // Without a log, the file must have every commit.
      if (!options.acceptLogLoss) throw lostTurns();
      await mark.clear();
    }
    const items = new ItemTable(database);
    const grouped = new GroupedTable(database);
    const { syncer = systemSyncer } = options;
    log = new LogFile(paths.log, syncer ?? threadPoolSyncer);
    await log.syncAnew();
    if (syncer !== null) await syncer.syncFolder(dirname(options.path));
    room = new Room(database, options);
    await room.look();
    const maintenance = new SqliteMaintenance(
      { database, items, mark, room, log, commits },
      { path: options.path, syncsCommits: isStrict, syncer },
    );
    const store = new SqliteStore({ database, items, grouped, maintenance, mark, room });
    const transfer = transferOf(database, grouped);
    const lost = found.is === "whole" ? 0 : found.commits - commits;
    // Last, so that SQLite itself syncs a new file, and the checkpoint if an error closes the file.
    if (syncer !== null) letSync(database, false);
    return { store, maintenance, transfer, ...(lost > 0 && { lostCommits: lost }) };
  } catch (cause) {
    closeDatabase(database);
    room?.closed();
    log?.close();
    mark.close();
    throw storeError(namingNoRoom(cause, options.path));
  }
}

/** The number of the last turn: each turn is one commit. */
function commitsOf(database: Database): number {
  const last = (table: string): string => `(SELECT ifnull(max(turn), 0) FROM ${table})`;
  const text = `SELECT max(${last("turn")}, ${last("keyed_turn")})`;
  return Number(database.query(text).values()[0]?.[0]);
}

interface OpenedFile {
  readonly database: Database;
  readonly items: ItemTable;
  readonly grouped: GroupedTable;
  readonly maintenance: SqliteMaintenance;
  readonly mark: WalWatermark;
  readonly room: Room;
}

class SqliteStore implements Store {
  readonly #database: Database;
  readonly #statements: Prepared<typeof statements>;
  readonly #items: ItemTable;
  readonly #scheduled: ScheduledTable;
  readonly #uniques: UniqueTable;
  readonly #grouped: GroupedTable;
  readonly #maintenance: SqliteMaintenance;
  readonly #mark: WalWatermark;
  readonly #room: Room;
  #closed = false;

  constructor({ database, items, grouped, maintenance, mark, room }: OpenedFile) {
    this.#database = database;
    this.#items = items;
    this.#scheduled = new ScheduledTable(database);
    this.#uniques = new UniqueTable(database);
    this.#grouped = grouped;
    this.#maintenance = maintenance;
    this.#mark = mark;
    this.#room = room;
    this.#statements = prepareAll(database, statements);
  }

  async load({ receipts } = { receipts: true }): Promise<Image> {
    return guard(() => {
      const rows = (text: string): unknown[][] => this.#database.query(text).values();
      const leases = rows(
        `SELECT ${place}, last_seq, lease_deadline, leased_at, check_sum FROM lease ORDER BY key`,
      ).map(leaseOf);
      return {
        tags: identityOf(rows("SELECT tag, check_sum FROM identity")[0]),
        turns: rows(
          `SELECT ${turnColumns} FROM turn UNION ALL SELECT ${turnColumns} FROM keyed_turn ORDER BY turn DESC LIMIT ${turnRing}`,
        )
          .map(turnOf)
          .reverse(),
        tallies: rows("SELECT * FROM tally").map(tallyOf),
        groups: this.#grouped.counts(),
        leases: leases.map((lease) => {
          const { slot, first, last } = lease;
          const span = { slot, from: first, before: last + 1 };
          return { ...lease, held: this.#items.marks(span, everything).found };
        }),
        outbox: rows(
          "SELECT target_shard, target_owner, count(*) FROM outbound GROUP BY 1, 2 ORDER BY 1, 2",
        ).map((row) => {
          const [targetShard, targetOwner, count] = row as [number, number, number];
          return { targetShard, targetOwner, count };
        }),
        inbound: rows("SELECT source_shard, outbound_seq, check_sum FROM inbound").map(inboundOf),
        receipts: receipts
          ? rows("SELECT turn, at, receipts, receipts_sum FROM keyed_turn ORDER BY turn").map(
              receiptsOf,
            )
          : [],
        tasks: rows("SELECT * FROM task ORDER BY task_id").map(taskOf),
        queues: rows("SELECT * FROM queue ORDER BY queue_id").map(queueOf),
        quarantinedCount: Number(rows("SELECT count(*) FROM quarantine")[0]?.[0]),
      };
    });
  }

  async read(plan: ReadPlan): Promise<ReadResult> {
    const byName = <F>(
      pages: ReadPlan["items"],
      read: (page: ReadPlan["items"][number]) => F,
    ): Map<string, F> => new Map(pages.map((page) => [page.name, read(page)]));
    return guard(() => {
      const heads = this.#items.heads(plan);
      return {
        heads,
        groups: this.#grouped.heads(plan, heads, this.#items),
        items: byName(plan.items, (page) => this.#items.items(page, page.limit)),
        scheduled: byName(plan.scheduled, (page) => this.#scheduled.items(page, page.limit)),
        marks: byName(plan.marks, (page) => this.#items.marks(page, page.limit)),
        scheduledMarks: byName(plan.scheduledMarks, (page) =>
          this.#scheduled.marks(page, page.limit),
        ),
        picks: new Map(plan.picks.map((one) => [one.slot, this.#pick(one)])),
        sources: new Map(
          plan.sources.map(({ slot, sourceIds }) => [
            slot,
            new Set(sourceIds.filter((id) => this.#statements.source.values(slot, id).length > 0)),
          ]),
        ),
        uniques: this.#uniques.taken(plan.uniques),
        ended: this.#uniques.ended(plan.ended),
        waking: this.#scheduled.waking(plan.waking),
        early: this.#early(plan.early),
        outbound: new Map(plan.outbound.map((want) => [want.targetShard, this.#outbox(want)])),
      };
    });
  }

  #pick({ slot, seqs }: SlotSeqs): Picked {
    const spans = seqs.map((seq) => ({ slot, from: seq, before: seq + 1 }));
    const ready = spans.flatMap((span) => this.#items.marks(span, one).found);
    const scheduled = spans.flatMap((span) => this.#scheduled.marks(span, one).found);
    return {
      ready: new Map(ready.map((mark) => [mark.seq, mark])),
      scheduled: new Map(scheduled.map((mark) => [mark.seq, mark])),
    };
  }

  #early(want: ReadPlan["early"]): ReadResult["early"] {
    if (want === null) return { found: [], next: null };
    const { after, until, items } = want;
    const refs = this.#statements.early
      .values(after.expireDeadline, after.slot, after.seq, items + 1)
      .map((row) => {
        const [expireDeadline = 0, slot = 0, seq = 0, createdAt = 0, attempts = 0, bytes = 0] =
          row as number[];
        const past = textIn(row, 6);
        return { slot, seq, createdAt, expireDeadline, attempts, past, payloadBytes: bytes };
      });
    const found = refs.slice(0, items).filter(({ expireDeadline }) => expireDeadline <= until);
    return { found, next: refs[found.length]?.expireDeadline ?? null };
  }

  #outbox({ targetShard, arrived, limit }: ReadPlan["outbound"][number]): OutboxPage {
    const there = this.#statements.arrived.values(targetShard, arrived).map((row) => {
      const [outboundSeq, targetOwner] = row as [number, number];
      return { outboundSeq, targetOwner };
    });
    return { arrived: there, found: this.#outbound(targetShard, arrived, limit) };
  }

  #outbound(targetShard: number, after: number, limit: ReadLimit): Read<OutboundItem>[] {
    const found: Read<OutboundItem>[] = [];
    let bytes = 0;
    while (found.length < limit.items) {
      const from = found.at(-1)?.outboundSeq ?? after;
      const mean = Math.max(1, bytes / Math.max(1, found.length));
      const fitting = Math.ceil((limit.payloadBytes - bytes) / mean);
      const ask = found.length === 0 ? 1 : Math.min(limit.items - found.length, fitting);
      const rows = this.#statements.outbound.values(targetShard, from, ask);
      for (const row of rows) {
        const item = outboundOf(row);
        found.push(item);
        bytes += item.payload.length;
        if (bytes >= limit.payloadBytes) return found;
      }
      if (rows.length < ask) break;
    }
    return found;
  }

  commit(changes: Changes): Promise<Written> {
    return this.#maintenance.commit(() => this.#write(changes));
  }

  #write(changes: Changes): void {
    const run = this.#statements;
    for (const { slot, seqs } of changes.quarantine) {
      for (const seq of seqs) {
        this.#items.quarantine(slot, seq);
        this.#scheduled.quarantine(slot, seq);
      }
    }
    this.#move(changes.move);
    for (const removed of changes.remove) this.#items.remove(removed);
    for (const removed of changes.unschedule) this.#scheduled.remove(removed);
    this.#items.insert(changes.insert);
    for (const item of changes.schedule) this.#scheduled.insert(item);
    for (const lease of changes.unlease) run.unlease.run(lease.slot, lease.first);
    for (const lease of changes.lease) run.lease.run(...leaseValues(lease));
    for (const tally of changes.tally) run.tally.run(...tallyValues(tally));
    for (const item of changes.send) this.#send(item);
    for (const outboundSeq of changes.quarantineOutbound) run.quarantineSent.run(outboundSeq);
    for (const outboundSeq of changes.quarantineOutbound) run.unsend.run(outboundSeq);
    for (const outboundSeq of changes.unsend) run.unsend.run(outboundSeq);
    if (changes.tags !== null) run.tags.run(...identityValues(changes.tags));
    for (const inbound of changes.receive) run.receive.run(...inboundValues(inbound));
    if (changes.forgetTurn > 0) {
      run.unkey.run(changes.forgetTurn, changes.turn.turn);
      run.forget.run(changes.forgetTurn);
    }
    for (const removed of changes.ununique) this.#uniques.remove(removed);
    for (const unique of changes.unique) this.#uniques.put(unique);
    for (const grouped of changes.ungroup) this.#grouped.remove(grouped);
    for (const grouped of changes.group) this.#grouped.put(grouped);
    for (const task of changes.tasks) {
      if (task.text === "") run.untask.run(task.taskId);
      else run.task.run(...taskValues(task));
    }
    for (const queueId of changes.unqueue) run.unqueue.run(queueId);
    for (const entry of changes.queue) run.queue.run(...queueValues(entry));
    const { receipts: entries, turn } = changes;
    if (entries === null) run.turn.run(...turnValues(turn));
    else run.keyedTurn.run(...keyedTurnValues(turn, entries));
  }

  /** Moves in pieces, so that not all payloads are in memory together. */
  #move(moves: readonly Move[]): void {
    const damaged: { slot: number; seq: number }[] = [];
    for (const run of neighbours(moves)) {
      for (let at = 0; at < run.length; ) {
        const piece = this.#moving(run, at);
        const sound = piece.filter(({ item }) => !item.damaged);
        damaged.push(...piece.flatMap(({ item }) => (item.damaged ? item : [])));
        this.#settle(sound);
        at += piece.length;
      }
    }
    if (damaged.length > 0) throw new DamagedItems(damaged.map(({ slot, seq }) => ({ slot, seq })));
  }

  /** Reads the next items of a run of moves; at least one. */
  #moving(run: readonly Move[], at: number): { move: Move; item: Read<Item> }[] {
    const rest = run.slice(at);
    const { slot, seq, from } = rest[0] as Move;
    const span = { slot, from: seq, before: seq + rest.length };
    const limit: ReadLimit = { items: rest.length, payloadBytes: movedBytes };
    const table = from === "items" ? this.#items : this.#scheduled;
    const items: readonly Read<Item>[] = table.items(span, limit).found;
    const moving = items.map((item, index) => ({ move: rest[index] as Move, item }));
    if (moving.length > 0 && moving.every(({ move, item }) => move.seq === item.seq)) return moving;
    throw new StoreError("failed", "an item that is to move is not stored");
  }

  /** Writes items to their destinations. */
  #settle(moving: readonly { readonly move: Move; readonly item: Item }[]): void {
    const insert: Item[] = [];
    for (const { move, item } of moving) {
      if (move.to === null) continue;
      const { kind, encoding, reference, headers, payload } = item;
      const sourceId = move.to.item.sourceId ?? item.sourceId;
      const texts = { kind, encoding, reference, headers, sourceId, payload };
      if (move.to.into === "items") insert.push({ ...move.to.item, ...texts });
      else if (move.to.into === "scheduled") {
        const scheduled: ScheduledItem = { ...move.to.item, ...texts };
        this.#scheduled.insert(scheduled);
      } else this.#send({ ...move.to.item, ...texts });
    }
    this.#items.insert(insert);
  }

  #send(item: OutboundItem): void {
    const { outboundSeq, targetShard, targetOwner } = item;
    const route = [outboundSeq, targetShard, targetOwner] as const;
    this.#statements.send.run(...outboundValues(item), ...route);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    let isLogEmpty = false;
    try {
      isLogEmpty = await this.#maintenance.close();
    } finally {
      closeDatabase(this.#database);
      this.#room.closed();
      if (isLogEmpty) this.#mark.remove();
      else this.#mark.close();
    }
  }
}

const one: ReadLimit = { items: 1, payloadBytes: 1 };
const everything: ReadLimit = {
  items: Number.MAX_SAFE_INTEGER,
  payloadBytes: Number.POSITIVE_INFINITY,
};

/** Groups consecutive moves whose items are neighbours. */
function neighbours(moves: readonly Move[]): Move[][] {
  const runs: Move[][] = [];
  let last: Move | null = null;
  for (const move of moves) {
    const isNext =
      last !== null &&
      move.from === last.from &&
      move.slot === last.slot &&
      move.seq === last.seq + 1;
    if (isNext) runs.at(-1)?.push(move);
    else runs.push([move]);
    last = move;
  }
  return runs;
}
