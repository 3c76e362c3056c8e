// The schemas of some shards, which are replaced by those of another number of shards. The new ones grow
// beside the old ones under other names, and one transaction puts them in their place.

import type { Replacement, TransferableStore } from "../backend.ts";
import { StoreError } from "../store.ts";
import { Connection, type SessionOptions } from "./connection.ts";
import { openPostgresStore } from "./store.ts";

interface SchemasOptions extends SessionOptions {
  /** Begins the names of the schemas. */
  readonly schema: string;
}

const growing = "resharding";

/** How many shards the database has. Throws `StoreError`. */
export async function schemasIn(options: SchemasOptions): Promise<number> {
  const connection = await Connection.open(options);
  try {
    return (await numbered(connection, options.schema)).length;
  } finally {
    await connection.close();
  }
}

/** Names that end with the number of a shard, quoted, without gaps. */
async function numbered(connection: Connection, prefix: string): Promise<string[]> {
  const rows = await connection.promptRows("SELECT nspname::text FROM pg_catalog.pg_namespace");
  const names = new Set(rows.map(([name]) => String(name)));
  const found: string[] = [];
  while (names.has(`${prefix}_${found.length}`)) found.push(`"${prefix}_${found.length}"`);
  return found;
}

/** Throws `StoreError`: `locked` if a server or another reshard has the shards. */
export async function openReshardSchemas(
  options: SchemasOptions,
  shards: number,
  newTag: () => string,
): Promise<Replacement> {
  const { schema } = options;
  const fresh = `${schema}_${growing}`;
  const connection = await Connection.open(options);
  const opened: TransferableStore[] = [];
  const closeAll = async (): Promise<void> => {
    for (const { store } of opened.splice(0)) await store.close().catch(() => undefined);
  };
  const dropFresh = async (): Promise<void> => {
    for (const name of await numbered(connection, fresh)) {
      await connection.script(`DROP SCHEMA ${name} CASCADE`);
    }
  };
  const open = async (store: { schema: string; shard: number; testClock: boolean | null }) => {
    opened.push(await openPostgresStore({ ...options, ...store, newTag }));
  };
  let isReplaced = false;
  const close = async (): Promise<void> => {
    await closeAll();
    if (!isReplaced) await dropFresh().catch(() => undefined);
    await connection.close();
  };
  try {
    const old = await numbered(connection, schema);
    for (const shard of old.keys()) await open({ schema, shard, testClock: null });
    const from = [...opened];
    await dropFresh();
    const [clock] = await connection.promptRows(`SELECT test_clock FROM ${old[0]}.identity`);
    const testClock = clock?.[0] === true;
    for (let shard = 0; shard < shards; shard += 1) await open({ schema: fresh, shard, testClock });
    const to = opened.slice(from.length);
    const replace = async (): Promise<void> => {
      for (const { store } of to) await store.close();
      const steps = [
        ...old.map((name) => `DROP SCHEMA ${name} CASCADE`),
        ...to.map((_, shard) => `ALTER SCHEMA "${fresh}_${shard}" RENAME TO "${schema}_${shard}"`),
      ];
      try {
        await connection.script(`BEGIN; ${steps.join("; ")}; COMMIT`);
      } catch (cause) {
        await connection.script("ROLLBACK");
        throw cause;
      }
      isReplaced = true;
    };
    return { from, to, testClock, replace, close };
  } catch (cause) {
    await close();
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("failed", "the database could not be resharded", cause);
  }
}
