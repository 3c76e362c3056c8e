// The catalog, in the schema of a shard and with commits of its own.

import type { CatalogChange, CatalogImage, CatalogStore } from "../catalog.ts";
import { type CatalogEntry, isCatalogEntry } from "../queue.ts";
import { StoreError } from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import { takenOver } from "./connection.ts";
import type { Database } from "./database.ts";

/** A row of the chain too: whoever has lost the shard changes no queue any more, however late. */
const write = `
  WITH stored AS (
    SELECT coalesce((SELECT version FROM shard.catalog), 0) AS version
  ), fence AS (
    INSERT INTO shard.turn SELECT $5::bigint, $6::bytea, NULL FROM shard.turn, stored
    WHERE position = $5::bigint - 1 AND owner = $6::bytea AND stored.version = $1::bigint - 1
    RETURNING position
  ), changed AS (
    INSERT INTO shard.catalog SELECT 1, $1::bigint FROM fence
    ON CONFLICT (one) DO UPDATE SET version = excluded.version
    RETURNING version
  ), put AS (
    INSERT INTO shard.queue SELECT one.queue_id, convert_from(one.entry, 'UTF8')
    FROM changed, unnest($2::bigint[], $3::bytea[]) AS one(queue_id, entry)
    ON CONFLICT (queue_id) DO UPDATE SET entry = excluded.entry
  ), removed AS (
    DELETE FROM shard.queue USING changed WHERE queue_id = ANY ($4::bigint[])
  )
  SELECT (SELECT count(*) FROM fence), version FROM stored`;

export class PostgresCatalog implements CatalogStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async load(): Promise<CatalogImage> {
    const [versions, entries] = await Promise.all([
      this.#database.rows("SELECT version FROM shard.catalog"),
      this.#database.rows("SELECT entry FROM shard.queue ORDER BY queue_id"),
    ]);
    await this.#database.refuseTakenOver();
    return {
      version: (versions[0]?.[0] as number | undefined) ?? 0,
      entries: entries.map(([entry]) => entryOf(entry as string)),
    };
  }

  async write({ version, put, remove }: CatalogChange): Promise<boolean> {
    const put_ = put.filter(({ queueId }) => !remove.includes(queueId));
    const { position, owner } = this.#database;
    const [row] = await this.#database.appendingRows(write, [
      version,
      int8Array(put_.map(({ queueId }) => queueId)),
      byteaArray(put_.map((entry) => JSON.stringify(entry))),
      int8Array(remove),
      position + 1,
      owner,
    ]);
    const [count, stored] = row as [number, number];
    if (count === 0 && stored === version - 1) throw new StoreError("failed", takenOver);
    if (count === 1) this.#database.appended();
    return count === 1;
  }
}

function entryOf(text: string): CatalogEntry {
  const entry: unknown = JSON.parse(text);
  if (isCatalogEntry(entry)) return entry;
  throw new StoreError("damaged", "a stored queue has another form than this version writes");
}
