// The catalog, in the schema of a shard and with commits of its own.

import type { CatalogChange, CatalogImage, CatalogStore } from "../catalog.ts";
import { type CatalogEntry, isCatalogEntry } from "../queue.ts";
import { StoreError } from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { Database } from "./database.ts";

const write = `
  WITH changed AS (
    INSERT INTO shard.catalog SELECT 1, $1::bigint
    WHERE $1::bigint = 1 + coalesce((SELECT version FROM shard.catalog), 0)
    ON CONFLICT (one) DO UPDATE SET version = excluded.version WHERE catalog.version = excluded.version - 1
    RETURNING version
  ), put AS (
    INSERT INTO shard.queue SELECT one.queue_id, convert_from(one.entry, 'UTF8')
    FROM changed, unnest($2::bigint[], $3::bytea[]) AS one(queue_id, entry)
    ON CONFLICT (queue_id) DO UPDATE SET entry = excluded.entry
  ), removed AS (
    DELETE FROM shard.queue USING changed WHERE queue_id = ANY ($4::bigint[])
  )
  SELECT count(*) FROM changed`;

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
    return {
      version: (versions[0]?.[0] as number | undefined) ?? 0,
      entries: entries.map(([entry]) => entryOf(entry as string)),
    };
  }

  async write({ version, put, remove }: CatalogChange): Promise<boolean> {
    const put_ = put.filter(({ queueId }) => !remove.includes(queueId));
    const rows = await this.#database.rows(write, [
      version,
      int8Array(put_.map(({ queueId }) => queueId)),
      byteaArray(put_.map((entry) => JSON.stringify(entry))),
      int8Array(remove),
    ]);
    return rows[0]?.[0] === 1;
  }
}

function entryOf(text: string): CatalogEntry {
  const entry: unknown = JSON.parse(text);
  if (isCatalogEntry(entry)) return entry;
  throw new StoreError("damaged", "a stored queue has another form than this version writes");
}
