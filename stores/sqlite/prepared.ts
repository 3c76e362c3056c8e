// Statements that stay prepared for as long as their database is open.

import type { Database, Statement } from "bun:sqlite";

export type Prepared<Texts> = { readonly [name in keyof Texts]: Statement };

const statementsOf = new WeakMap<Database, Statement[]>();

export function prepare(database: Database, text: string): Statement {
  const statement = database.prepare(text);
  statementsOf.getOrInsertComputed(database, () => []).push(statement);
  return statement;
}

export function prepareAll<Texts extends Readonly<Record<string, string>>>(
  database: Database,
  texts: Texts,
): Prepared<Texts> {
  const prepared = Object.entries(texts).map(([name, text]) => [name, prepare(database, text)]);
  return Object.fromEntries(prepared) as Prepared<Texts>;
}

/** Finalizes all statements first: with one left, SQLite keeps the file open and locked. */
export function closeDatabase(database: Database): void {
  for (const statement of statementsOf.get(database) ?? []) statement.finalize();
  database.close();
}
