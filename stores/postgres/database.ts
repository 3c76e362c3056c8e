// The schema of one shard in a database: made when it is missing, and belonging to one owner.

import type { Ownership } from "../nodes.ts";
import { StoreError } from "../store.ts";
import {
  type Acknowledged,
  acknowledge,
  addLost,
  ask,
  forget,
  lastAcknowledged,
  type Place,
  refuse,
  settle,
  unsettled,
} from "./acknowledged.ts";
import { Connection, type Row, type SessionOptions, takenOver, type Value } from "./connection.ts";
import { takeLock } from "./lock.ts";
import { nodesName } from "./nodes.ts";
import { migrate, named, nodesSchema, shardSchema } from "./schema.ts";

export interface DatabaseOptions extends SessionOptions {
  /** Its schema begins with this name. */
  readonly schema: string;
  readonly shard: number;
  /** Makes the store's tag when it is new: 12 characters `0-9A-Za-z`. */
  readonly newTag: () => string;
  /** Whether its instants are those of a test clock; `null`: whichever it is. */
  readonly testClock: boolean | null;
  /** What this process has acknowledged, whichever store of it did so; absent = nothing is known. */
  readonly acknowledged?: Acknowledged;
  /** Which node the shard belongs to, if several share the database; absent: it has one server. */
  readonly ownership?: Ownership;
}

const ownerBytes = 16;

/** The beginning of an owner, behind whatever there is. */
const takeOver = `
  INSERT INTO shard.turn SELECT coalesce(max(position), 0) + 1, $1::bytea, NULL FROM shard.turn
  ON CONFLICT DO NOTHING RETURNING position`;
/** The same for a node, unless the shard is another's by now. */
const takeOverAsNode = `
  INSERT INTO shard.turn SELECT coalesce((SELECT max(position) FROM shard.turn), 0) + 1, $1::bytea, NULL
  FROM (SELECT FROM nodes.shard WHERE shard = $2::bigint AND url = $3::text AND epoch = $4::bigint FOR SHARE) AS mine
  ON CONFLICT DO NOTHING RETURNING position`;
const isOwner =
  "SELECT count(*) FROM nodes.shard WHERE shard = $1::bigint AND url = $2::text AND epoch = $3::bigint";
const behind = "SELECT count(*) FROM shard.turn WHERE position > $1::bigint";

const stillThere = `
  SELECT coalesce(bool_or(position = $1::bigint AND owner = $2::bytea), false),
    coalesce(bool_or(position = $3::bigint AND owner = $4::bytea), false), min(position), max(position) FROM shard.turn`;

/** What the chain has of a row that was acknowledged, and of one that was asked for. */
interface Found {
  readonly isThere: boolean;
  readonly isHeld: boolean;
  readonly first: number;
  readonly last: number;
}

const nowhere: Place = { position: 0, owner: new Uint8Array() };

export class Database {
  readonly #connection: Connection;
  readonly #shard: string;
  readonly #acknowledged: Acknowledged | null;
  readonly #number: number;
  /** What is written into each row of the chain: nobody else has it. */
  readonly owner = Buffer.from(crypto.getRandomValues(new Uint8Array(ownerBytes)));
  /** The last row of the chain. */
  position = 0;
  /** Commits that this process has acknowledged and the database has lost since, at least. */
  lostCount = 0;

  private constructor(connection: Connection, name: string, options: DatabaseOptions) {
    const { acknowledged = null, shard } = options;
    this.#connection = connection;
    this.#shard = name;
    this.#number = shard;
    this.#acknowledged = acknowledged;
  }

  /** Throws `StoreError`: `failed` where the database cannot be reached. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const { schema: name, shard } = options;
    const connection = await Connection.open(options);
    const database = new Database(connection, `"${name}_${shard}"`, options);
    try {
      // A pooler may give each statement another session; then the chain alone tells the owner.
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

  /** `shard` in the text stands for the schema; for what a start waits for. */
  rows(text: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#connection.rows(this.#named(text), values);
  }

  /**
   * As `promptRows`, of a statement that appends the next row of the chain, and says first how many
   * it got: 1, or 0 where nothing was written.
   */
  async appendingRows(text: string, values: readonly Value[]): Promise<Row[]> {
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

  /** The next row of the chain is there. */
  appended(): void {
    this.position += 1;
    const { owner, position } = this;
    if (this.#acknowledged !== null) {
      acknowledge(this.#acknowledged, this.#number, { position, owner });
    }
  }

  /** What is gone is counted once: the row of this owner is the last that is known from now on. */
  noteLost(): void {
    if (this.#acknowledged === null) return;
    const { owner, position } = this;
    addLost(this.#acknowledged, this.#number, this.lostCount);
    acknowledge(this.#acknowledged, this.#number, { position, owner });
  }

  /** As `rows`, for what a turn waits for, or an opening, and takes no time by itself. */
  promptRows(text: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#connection.promptRows(this.#named(text), values);
  }

  /**
   * Throws `failed` where the shard has another owner by now. What was read before it is this owner's:
   * else turns of the other would tell what became of calls to this one.
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

  /** As long as the session lives, no other server opens the shard, unless both are nodes. */
  #lock({ ownership }: DatabaseOptions): Promise<void> {
    const refusal = "the database is in use by another server";
    return takeLock(this.#connection, this.#shard, { isShared: ownership !== undefined, refusal });
  }

  async #refuseOtherClock({ testClock }: DatabaseOptions): Promise<void> {
    const [row] = await this.promptRows("SELECT test_clock FROM shard.identity");
    if (testClock === null || row?.[0] === testClock) return;
    const [made, opened] = testClock ? ["", " a test clock"] : [" a test clock", ""];
    const text = `the store was made for${made || " use"}; expected one for${opened || " use"}`;
    throw new StoreError("unusable", text);
  }

  /** A commit of the last owner that is still under way either comes before this, or never. */
  async #takeOver({ schema, shard, ownership }: DatabaseOptions): Promise<void> {
    const node = ownership === undefined ? null : [shard, ownership.url, ownership.epoch];
    const ofNodes = (text: string): string => named(text, nodesSchema, nodesName(schema));
    // What is read behind it tells callers what became of their commits.
    const append = (text: string, values: readonly Value[]): Promise<Row[]> =>
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
   * Throws `lost` once if commits of this process are gone. The standby that took over may lack the
   * takeover by this node too: then the shard belongs to another node, which knows nothing of them.
   */
  async #refuseLost(shard: number): Promise<void> {
    const all = this.#acknowledged;
    const known = all && lastAcknowledged(all, shard);
    if (known === null) return;
    const row = await this.#lookFor(known, nowhere);
    const count = lostAfter(known, row);
    if (count === 0) return;
    addLost(all as Acknowledged, shard, count);
    forget(all as Acknowledged, shard);
    throw lossOf(count);
  }

  async #lookFor(known: Place, asked: Place): Promise<Found> {
    const places = [known, asked];
    const values = places.flatMap(({ position, owner }) => [position, Buffer.from(owner)]);
    const [row] = await this.promptRows(stillThere, values);
    const [isThere, isHeld, first, last] = row as [boolean, boolean, number, number];
    return { isThere, isHeld, first, last };
  }

  async #countLost({ acknowledged, shard }: DatabaseOptions): Promise<void> {
    if (acknowledged === undefined) return;
    const known = lastAcknowledged(acknowledged, shard);
    const asked = unsettled(acknowledged, shard);
    if (known === null && asked === null) return;
    const found = await this.#lookFor(known ?? nowhere, asked ?? nowhere);
    if (asked !== null) {
      // Behind the row of this owner it can never come any more.
      const fate = found.isHeld ? "held" : "notHeld";
      settle(acknowledged, shard, found.first <= asked.position ? fate : null);
    }
    if (known !== null) this.lostCount = lostAfter(known, { ...found, last: this.position - 1 });
  }
}

/**
 * Commits up to this row that are gone, at least. A row that went with those before it was pruned by a
 * later owner, not lost.
 */
function lostAfter(known: Place, { isThere, first, last }: Found): number {
  if (isThere || first > known.position) return 0;
  return Math.max(1, known.position - last);
}

/** The failure of a store whose database lacks so many commits that were acknowledged. */
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
