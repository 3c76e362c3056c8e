// Replaces the schemas of all shards with those of another number of shards. The new ones are
// written beside the old under other names, and one transaction puts them in place.

import type { Replacement } from "../backend.ts";
import { StoreError } from "../store.ts";
import type { CommitPlace } from "./acknowledged.ts";
import { Connection, type SessionOptions } from "./connection.ts";
import { takeLock } from "./lock.ts";
import { nodesName, recordedCluster, reshardCluster } from "./nodes.ts";
import { openPostgresStore, type PostgresBackend } from "./store.ts";

interface SchemasOptions extends SessionOptions {
  /** Prefix of the schemas' names. */
  readonly schema: string;
}

const growing = "resharding";

/** Schemas of other roles, and those with a table of another role. */
const otherOwners = `
  SELECT DISTINCT nspname::text, pg_get_userbyid(owner)::text, current_user::text FROM (
    SELECT nspname, nspowner AS owner FROM pg_catalog.pg_namespace
    UNION ALL SELECT nspname, relowner FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
  ) AS owned WHERE pg_get_userbyid(owner) <> current_user ORDER BY 1, 2`;

/** Whether a row is the last of a chain. */
const isLast = `
  SELECT coalesce(bool_and(position = $1::bigint AND owner = $2::bytea), false)
  FROM shard.turn WHERE position >= $1::bigint`;

/** The number of shards in a database, or in all databases of its cluster. Throws `StoreError`. */
export async function schemasIn(options: SchemasOptions): Promise<number> {
  const connection = await Connection.open(options);
  try {
    const cluster = await recordedCluster(connection, options.schema);
    return cluster?.shards ?? (await numbered(connection, options.schema)).length;
  } finally {
    await connection.close();
  }
}

/** Quoted names by shard number, up to the first gap. */
async function numbered(connection: Connection, prefix: string): Promise<string[]> {
  const names = new Set(await namesIn(connection));
  const found: string[] = [];
  while (names.has(`${prefix}_${found.length}`)) found.push(`"${prefix}_${found.length}"`);
  return found;
}

interface OldSchemas {
  /** Quoted names, by shard number. */
  readonly names: readonly string[];
  readonly isCluster: boolean;
}

/** Throws `unusable` if the shards are in several databases. */
async function oldSchemas(connection: Connection, schema: string): Promise<OldSchemas> {
  const cluster = await recordedCluster(connection, schema);
  if (cluster === null) return { names: await numbered(connection, schema), isCluster: false };
  if (cluster.databases > 1) {
    const got = `got ${cluster.databases}`;
    throw new StoreError("unusable", `only a cluster with 1 database can be resharded; ${got}`);
  }
  // A shard's schema is created when a node first opens it, so some may be missing.
  const names = Array.from({ length: cluster.shards }, (_, shard) => `"${schema}_${shard}"`);
  return { names, isCluster: true };
}

/** Whether the stores use a test clock: in one database either all do, or none. */
async function isForTestClock(connection: Connection, names: readonly string[]): Promise<boolean> {
  const present = new Set(await namesIn(connection));
  const name = names.find((quoted) => present.has(quoted.slice(1, -1)));
  if (name === undefined) return false;
  const [row] = await connection.promptRows(`SELECT test_clock FROM ${name}.identity`);
  return row?.[0] === true;
}

/** Drops all schemas with the prefix and a number, even after a gap. */
async function dropNumbered(connection: Connection, prefix: string): Promise<void> {
  for (const name of await namesIn(connection)) {
    if (!(name.startsWith(`${prefix}_`) && /^\d+$/.test(name.slice(prefix.length + 1)))) continue;
    await connection.script(`DROP SCHEMA "${name}" CASCADE`);
  }
}

async function namesIn(connection: Connection): Promise<string[]> {
  const rows = await connection.promptRows("SELECT nspname::text FROM pg_catalog.pg_namespace");
  return rows.map(([name]) => String(name));
}

/**
 * Waits for running commits in the schemas, and blocks later ones until the transaction ends.
 * Throws `locked` if a schema has a commit after its row in `lasts`. An advisory lock does not keep
 * out servers that connect through a pooler.
 */
async function lockChains(
  connection: Connection,
  schemas: readonly string[],
  lasts: readonly CommitPlace[],
): Promise<void> {
  const chains = schemas.map((name) => `${name}.turn`);
  await connection.script(`LOCK TABLE ${chains.join(", ")} IN ACCESS EXCLUSIVE MODE`);
  for (const [shard, { position, owner }] of lasts.entries()) {
    const text = isLast.replace("shard.turn", String(chains[shard]));
    const [row] = await connection.promptRows(text, [position, Buffer.from(owner)]);
    if (row?.[0] === true) continue;
    const expected = "stop all servers on the database, then reshard it again";
    throw new StoreError("locked", `a server took ownership of the shards meanwhile; ${expected}`);
  }
}

/** New schemas belong to the role that creates them, and the server's role might have no access. */
async function refuseOtherOwner(connection: Connection, schemas: readonly string[]): Promise<void> {
  const rows = await connection.promptRows(otherOwners);
  for (const [name, owner, role] of rows) {
    if (!schemas.includes(`"${name}"`)) continue;
    const expected = `expected to connect as '${owner}', got '${role}'`;
    throw new StoreError("unusable", `schema "${name}" belongs to another role; ${expected}`);
  }
}

/**
 * Throws `StoreError`: `locked` if a server or another reshard uses the shards, `unusable` if they
 * belong to another database role.
 */
export async function openReshardSchemas(
  options: SchemasOptions,
  shards: number,
  newTag: () => string,
): Promise<Replacement> {
  const { schema } = options;
  const fresh = `${schema}_${growing}`;
  const connection = await Connection.open(options);
  const opened: PostgresBackend[] = [];
  const closeAll = async (): Promise<void> => {
    for (const { store } of opened.splice(0)) await store.close().catch(() => undefined);
  };
  const dropFresh = (): Promise<void> => dropNumbered(connection, fresh);
  const open = async (store: { schema: string; shard: number; testClock: boolean | null }) => {
    opened.push(await openPostgresStore({ ...options, ...store, newTag }));
  };
  let hasFresh = false;
  const close = async (): Promise<void> => {
    await closeAll();
    if (hasFresh) await dropFresh().catch(() => undefined);
    await connection.close();
  };
  try {
    // The session that drops new schemas holds this lock, so it never drops those of another
    // reshard.
    await takeLock(connection, fresh, { refusal: "the database is being resharded" });
    const { names: old, isCluster } = await oldSchemas(connection, schema);
    await refuseOtherOwner(connection, isCluster ? [...old, nodesName(schema)] : old);
    const testClock = await isForTestClock(connection, old);
    for (const shard of old.keys()) await open({ schema, shard, testClock });
    const from = [...opened];
    hasFresh = true;
    await dropFresh();
    for (let shard = 0; shard < shards; shard += 1) await open({ schema: fresh, shard, testClock });
    const to = opened.slice(from.length);
    const replace = async (): Promise<void> => {
      for (const { store } of to) await store.close();
      const steps = [
        ...old.map((name) => `DROP SCHEMA ${name} CASCADE`),
        ...to.map((_, shard) => `ALTER SCHEMA "${fresh}_${shard}" RENAME TO "${schema}_${shard}"`),
        ...(isCluster ? [reshardCluster(schema, shards)] : []),
      ];
      try {
        await connection.script("BEGIN");
        await lockChains(
          connection,
          old,
          from.map(({ lastTurn }) => lastTurn()),
        );
        await connection.script(`${steps.join("; ")}; COMMIT`);
      } catch (cause) {
        await connection.script("ROLLBACK").catch(() => undefined);
        throw cause;
      }
      hasFresh = false;
    };
    // The free disk space of the database is unknown here.
    const requireRoom = (): void => undefined;
    return { from, to, testClock, requireRoom, replace, close };
  } catch (cause) {
    await close();
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("failed", "the database could not be resharded", cause);
  }
}
