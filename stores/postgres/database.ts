// Opens the schema of one shard, creates it if it is missing, and takes ownership of it.

import type { Ownership } from "../nodes.ts";
import { StoreError } from "../store.ts";
import {
  type Acknowledged,
  acknowledge,
  addLost,
  ask,
  type CommitPlace,
  forget,
  lastAcknowledged,
  refuse,
  settle,
  unsettled,
} from "./acknowledged.ts";
import {
  Connection,
  type SessionOptions,
  type SqlRow,
  type SqlValue,
  takenOver,
} from "./connection.ts";
import { takeLock } from "./lock.ts";
import { nodesName } from "./nodes.ts";
import { migrate, named, nodesSchema, shardSchema } from "./schema.ts";

export interface DatabaseOptions extends SessionOptions {
  /** Prefix of the schema's name. */
  readonly schema: string;
  readonly shard: number;
  /** Returns the tag of a new store: 12 characters `0-9A-Za-z`. */
  readonly newTag: () => string;
  /** Whether the store's instants come from a test clock; `null` accepts both. */
  readonly testClock: boolean | null;
  /** Commits acknowledged by any store of this process; absent = unknown. */
  readonly acknowledged?: Acknowledged;
  /** The node that owns the shard; absent = the database has one server. */
  readonly ownership?: Ownership;
}

const ownerBytes = 16;

/** Appends an owner's first row to the chain. */
const takeOver = `
  INSERT INTO shard.turn SELECT coalesce(max(position), 0) + 1, $1::bytea, NULL FROM shard.turn
  ON CONFLICT DO NOTHING RETURNING position`;
/** `takeOver` for a node, unless another node owns the shard by now. */
const takeOverAsNode = `
  INSERT INTO shard.turn SELECT coalesce((SELECT max(position) FROM shard.turn), 0) + 1, $1::bytea, NULL
  FROM (SELECT FROM nodes.shard WHERE shard = $2::bigint AND url = $3::text AND epoch = $4::bigint FOR SHARE) AS mine
  ON CONFLICT DO NOTHING RETURNING position`;
const isOwner =
  "SELECT count(*) FROM nodes.shard WHERE shard = $1::bigint AND url = $2::text AND epoch = $3::bigint";
const behind = "SELECT count(*) FROM shard.turn WHERE position > $1::bigint";

const findRows = `
  SELECT coalesce(bool_or(position = $1::bigint AND owner = $2::bytea), false),
    coalesce(bool_or(position = $3::bigint AND owner = $4::bytea), false), min(position), max(position) FROM shard.turn`;

/** Whether the chain has the acknowledged row and the requested one, and its first and last row. */
interface FoundSchema {
  readonly isThere: boolean;
  readonly isHeld: boolean;
  readonly first: number;
  readonly last: number;
}

const noPlace: CommitPlace = { position: 0, owner: new Uint8Array() };

export class Database {
  readonly #connection: Connection;
  readonly #shard: string;
  readonly #acknowledged: Acknowledged | null;
  readonly #number: number;
  /** Random identity of this owner, written into each of its rows in the chain. */
  readonly owner = Buffer.from(crypto.getRandomValues(new Uint8Array(ownerBytes)));
  /** Position of the chain's last row. */
  position = 0;
  /** Lower bound of this process's acknowledged commits that the database has lost. */
  lostCount = 0;

  private constructor(connection: Connection, name: string, options: DatabaseOptions) {
    const { acknowledged = null, shard } = options;
    this.#connection = connection;
    this.#shard = name;
    this.#number = shard;
    this.#acknowledged = acknowledged;
  }

  /** Throws `StoreError`, `failed` if the database is unreachable. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const { schema: name, shard } = options;
    const connection = await Connection.open(options);
    const database = new Database(connection, `"${name}_${shard}"`, options);
    try {
      // A pooler may give each statement another session, so only the chain identifies the owner.
      if (options.pooler !== "transaction") await database.#lock(options);
      await database.#make(options);
      await database.#refuseOtherClock(options);
      await database.#takeOver(options);
      await database.#countLost(options);
      return database;
    } catch (cause) {
      await database.close();
      throw cause;
    }
  }

  /** For the statements of a start. `shard` in the text stands for the schema. */
  rows(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#connection.rows(this.#named(text), values);
  }

  /**
   * Like `promptRows`, for a statement that appends the next row of the chain. Its first column is
   * the number of rows appended: 1, or 0 if nothing was written.
   */
  async appendingRows(text: string, values: readonly SqlValue[]): Promise<SqlRow[]> {
    const all = this.#acknowledged;
    const refused = (): void => {
      if (all !== null) refuse(all, this.#number);
    };
    if (all !== null) ask(all, this.#number, { position: this.position + 1, owner: this.owner });
    try {
      const rows = await this.#connection.committedRows(this.#named(text), values);
      if (rows[0]?.[0] !== 1) refused();
      return rows;
    } catch (cause) {
      if (isWithoutEffect(cause)) refused();
      throw cause;
    }
  }

  /** Call it once the next row of the chain is committed. */
  appended(): void {
    this.position += 1;
    const { owner, position } = this;
    if (this.#acknowledged !== null) {
      acknowledge(this.#acknowledged, this.#number, { position, owner });
    }
  }

  /** Counts the loss once: from now on this owner's row is the last acknowledged one. */
  noteLost(): void {
    if (this.#acknowledged === null) return;
    const { owner, position } = this;
    addLost(this.#acknowledged, this.#number, this.lostCount);
    acknowledge(this.#acknowledged, this.#number, { position, owner });
  }

  /** Like `rows`, for short statements that a turn or an opening waits for. */
  promptRows(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#connection.promptRows(this.#named(text), values);
  }

  /**
   * Throws `failed` if the shard has another owner by now. Otherwise all earlier reads are of this
   * owner's state. Without this check, turns of another owner could decide the outcome of this
   * one's requests.
   */
  async refuseTakenOver(): Promise<void> {
    const [row] = await this.rows(behind, [this.position]);
    if (row?.[0] !== 0) throw new StoreError("failed", takenOver);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #named(text: string): string {
    return named(text, shardSchema, this.#shard);
  }

  #make({ newTag, testClock }: DatabaseOptions): Promise<void> {
    const identity = (): string =>
      `INSERT INTO shard.identity VALUES (1, '${newTag()}', ${testClock === true})`;
    return migrate(this.#connection, this.#shard, shardSchema, identity);
  }

  /** Keeps other servers from opening the shard while the session lives, unless both are nodes. */
  #lock({ ownership }: DatabaseOptions): Promise<void> {
    const refusal = "the database is in use by another server";
    return takeLock(this.#connection, this.#shard, { isShared: ownership !== undefined, refusal });
  }

  async #refuseOtherClock({ testClock }: DatabaseOptions): Promise<void> {
    const [row] = await this.promptRows("SELECT test_clock FROM shard.identity");
    if (testClock === null || row?.[0] === testClock) return;
    const [expected, got] = testClock ? ["with", "without"] : ["without", "with"];
    const text = `expected a store used ${expected} a test clock, got one used ${got}`;
    throw new StoreError("unusable", text);
  }

  /** A commit of the last owner that is still running precedes this row, or fails. */
  async #takeOver({ schema, shard, ownership }: DatabaseOptions): Promise<void> {
    const node = ownership === undefined ? null : [shard, ownership.url, ownership.epoch];
    const ofNodes = (text: string): string => named(text, nodesSchema, nodesName(schema));
    // Reads after it determine the outcomes that callers receive, so it has to be replicated too.
    const append = (text: string, values: readonly SqlValue[]): Promise<SqlRow[]> =>
      this.#connection.committedRows(this.#named(text), values);
    for (;;) {
      const [row] =
        node === null
          ? await append(takeOver, [this.owner])
          : await append(ofNodes(takeOverAsNode), [this.owner, ...node]);
      if (row !== undefined) {
        [this.position] = row as [number];
        return;
      }
      if (node !== null && (await this.promptRows(ofNodes(isOwner), node))[0]?.[0] === 0) {
        await this.#refuseLost(shard);
        throw new StoreError("locked", "the shard belongs to another node");
      }
    }
  }

  /**
   * Throws `lost`, once, if acknowledged commits of this process are missing. A promoted standby
   * may also lack this node's takeover. The shard then belongs to another node, which cannot know
   * of the loss.
   */
  async #refuseLost(shard: number): Promise<void> {
    const all = this.#acknowledged;
    const known = all && lastAcknowledged(all, shard);
    if (known === null) return;
    const row = await this.#lookFor(known, noPlace);
    const count = lostAfter(known, row);
    if (count === 0) return;
    addLost(all as Acknowledged, shard, count);
    forget(all as Acknowledged, shard);
    throw lossOf(count);
  }

  async #lookFor(known: CommitPlace, requested: CommitPlace): Promise<FoundSchema> {
    const places = [known, requested];
    const values = places.flatMap(({ position, owner }) => [position, Buffer.from(owner)]);
    const [row] = await this.promptRows(findRows, values);
    const [isThere, isHeld, first, last] = row as [boolean, boolean, number, number];
    return { isThere, isHeld, first, last };
  }

  async #countLost({ acknowledged, shard }: DatabaseOptions): Promise<void> {
    if (acknowledged === undefined) return;
    const known = lastAcknowledged(acknowledged, shard);
    const requested = unsettled(acknowledged, shard);
    if (known === null && requested === null) return;
    const found = await this.#lookFor(known ?? noPlace, requested ?? noPlace);
    if (requested !== null) {
      // The outcome is final: after this owner's row, the requested row can no longer be written.
      const fate = found.isHeld ? "held" : "notHeld";
      settle(acknowledged, shard, found.first <= requested.position ? fate : null);
    }
    if (known !== null) this.lostCount = lostAfter(known, { ...found, last: this.position - 1 });
  }
}

/**
 * Lower bound of the missing commits up to this row. If all rows before it are missing too, a later
 * owner has pruned it.
 */
function lostAfter(known: CommitPlace, { isThere, first, last }: FoundSchema): number {
  if (isThere || first > known.position) return 0;
  return Math.max(1, known.position - last);
}

export function lossOf(count: number): StoreError {
  const commits = count === 1 ? "a commit" : `${count} commits`;
  const why = "as a standby that was behind does when it takes over";
  return new StoreError(
    "lost",
    `the database has lost ${commits} that had been acknowledged, ${why}`,
  );
}

function isWithoutEffect(cause: unknown): boolean {
  return cause instanceof StoreError && (cause.fault === "full" || cause.message === takenOver);
}
