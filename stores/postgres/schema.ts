// Creates a schema if it is missing, and upgrades an older one to the current format, one
// transaction per version.

import { laterFormat, StoreError } from "../store.ts";
import type { Connection } from "./connection.ts";
import nodesText from "./nodes.sql" with { type: "text" };
import shardText from "./schema.sql" with { type: "text" };

export interface Schema {
  /** Stands for the schema's name in the texts. */
  readonly placeholder: string;
  /** The SQL of a new schema. */
  readonly text: string;
  /** The step at index n upgrades format n + 1 to n + 2. */
  readonly upgrades: readonly string[];
}

export const shardSchema: Schema = { placeholder: "shard", text: shardText, upgrades: [] };
export const nodesSchema: Schema = { placeholder: "nodes", text: nodesText, upgrades: [] };

const find = `
  SELECT to_regclass(quote_ident(nspname) || '.format') IS NOT NULL
  FROM pg_catalog.pg_namespace WHERE nspname = convert_from($1::bytea, 'UTF8')`;

/** Replaces the placeholder with `name`, which is quoted. */
export function named(text: string, { placeholder }: Schema, name: string): string {
  return text.replaceAll(`${placeholder}.`, `${name}.`);
}

/**
 * Safe if several processes migrate at the same time. `name` is quoted; `content` returns
 * additional SQL for a new schema. Throws `StoreError`, `unusable` if the schema has a later format
 * or none.
 */
export async function migrate(
  connection: Connection,
  name: string,
  schema: Schema,
  content: () => string = () => "",
): Promise<void> {
  const format = schema.upgrades.length + 1;
  for (;;) {
    const found = await formatOf(connection, name);
    if (found === format) return;
    if (found !== null && found > format) throw laterFormat({ expected: format, got: found });
    const step =
      found === null
        ? `CREATE SCHEMA ${name};
          CREATE TABLE ${name}.format (one bigint PRIMARY KEY CHECK (one = 1), number bigint NOT NULL);
          INSERT INTO ${name}.format VALUES (1, ${format}); ${schema.text}; ${content()}`
        : // Waits for another process that runs this step, and fails once it has committed.
          `UPDATE ${name}.format SET number = CASE number WHEN ${found} THEN ${found + 1} END;
          ${schema.upgrades[found - 1]}`;
    try {
      await connection.script(`BEGIN; ${named(step, schema, name)}; COMMIT`);
    } catch (cause) {
      await connection.script("ROLLBACK");
      if ((await formatOf(connection, name)) === found) throw cause;
    }
  }
}

/**
 * The format of a schema, without creating it; `null` if there is none. Throws `unusable` for a
 * later format.
 */
export async function presentFormat(
  connection: Connection,
  name: string,
  { upgrades }: Schema,
): Promise<number | null> {
  const expected = upgrades.length + 1;
  const got = await formatOf(connection, name);
  if (got !== null && got > expected) throw laterFormat({ expected, got });
  return got;
}

/** `null`: the schema does not exist. */
async function formatOf(connection: Connection, name: string): Promise<number | null> {
  const [schema] = await connection.promptRows(find, [Buffer.from(name.slice(1, -1))]);
  if (schema === undefined) return null;
  const [hasFormat] = schema;
  const [row] = hasFormat
    ? await connection.promptRows(`SELECT number FROM ${name}.format`)
    : [undefined];
  if (row !== undefined) return row[0] as number;
  throw new StoreError(
    "unusable",
    `schema ${name} has no format: another program made it, or a version before the first release; name another one with --database-schema, and bring items over by that version's export`,
  );
}
