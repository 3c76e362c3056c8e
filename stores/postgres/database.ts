// The schema of one shard in a database: made when it is missing, and belonging to one owner.

import { StoreError } from "../store.ts";
import { Connection, type Row, type Value } from "./connection.ts";
import schema from "./schema.sql" with { type: "text" };

export interface DatabaseOptions {
  readonly url: string;
  /** Its schema begins with this name. */
  readonly schema: string;
  readonly shard: number;
  /** Makes the store's tag when it is new: 12 characters `0-9A-Za-z`. */
  readonly newTag: () => string;
}

const ownerBytes = 16;

/** The beginning of an owner, behind whatever there is. */
const takeOver = `
  INSERT INTO shard.turn SELECT coalesce(max(position), 0) + 1, $1::bytea, NULL FROM shard.turn
  ON CONFLICT DO NOTHING RETURNING position`;

export class Database {
  readonly #connection: Connection;
  readonly #shard: string;
  readonly #texts = new Map<string, string>();
  /** What is written into each row of the chain: nobody else has it. */
  readonly owner = Buffer.from(crypto.getRandomValues(new Uint8Array(ownerBytes)));
  /** The last row of the chain. */
  position = 0;

  private constructor(connection: Connection, shard: string) {
    this.#connection = connection;
    this.#shard = shard;
  }

  /** Throws `StoreError`: `unusable` where the database cannot be reached. */
  static async open({ url, schema: name, shard, newTag }: DatabaseOptions): Promise<Database> {
    const database = new Database(await Connection.open(url), `"${name}_${shard}"`);
    try {
      await database.#make(newTag);
      await database.#lock();
      await database.#takeOver();
      return database;
    } catch (cause) {
      await database.close();
      throw cause;
    }
  }

  /** `shard` in the text stands for the schema. */
  rows(text: string, values: readonly Value[] = []): Promise<Row[]> {
    return this.#connection.rows(this.#named(text), values);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #named(text: string): string {
    let named = this.#texts.get(text);
    if (named === undefined) {
      named = text.replaceAll("shard.", `${this.#shard}.`);
      this.#texts.set(text, named);
    }
    return named;
  }

  /** All of it or nothing, whoever else does it at the same time. */
  async #make(newTag: () => string): Promise<void> {
    const name = this.#shard.slice(1, -1);
    const [found] = await this.#connection.rows(
      "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = convert_from($1::bytea, 'UTF8')",
      [Buffer.from(name)],
    );
    if (found?.[0] !== 0) return;
    const tag = newTag();
    await this.#connection.script(
      this.#named(`BEGIN;
        SELECT pg_advisory_xact_lock(hashtext('holdfast'));
        CREATE SCHEMA ${this.#shard};
        ${schema}
        INSERT INTO shard.identity VALUES (1, '${tag}');
        COMMIT`),
    );
  }

  /** As long as the session lives, no other server opens the shard. */
  async #lock(): Promise<void> {
    const [locked] = await this.#connection.rows(
      "SELECT pg_try_advisory_lock(hashtextextended(convert_from($1::bytea, 'UTF8'), 0))",
      [Buffer.from(this.#shard)],
    );
    if (locked?.[0] !== true) {
      throw new StoreError("locked", "the database is in use by another server");
    }
  }

  /** A commit of the last owner that is still under way either comes before this, or never. */
  async #takeOver(): Promise<void> {
    for (;;) {
      const [row] = await this.rows(takeOver, [this.owner]);
      if (row === undefined) continue;
      this.position = row[0] as number;
      return;
    }
  }
}
