// Statements of a table by name, prepared together.

import type { Database, Statement } from "bun:sqlite";

export type Prepared<Texts> = { readonly [name in keyof Texts]: Statement };

export function prepareAll<Texts extends Readonly<Record<string, string>>>(
  database: Database,
  texts: Texts,
): Prepared<Texts> {
  const prepared = Object.entries(texts).map(([name, text]) => [name, database.prepare(text)]);
  return Object.fromEntries(prepared) as Prepared<Texts>;
}

export function finalizeAll(statements: Readonly<Record<string, Statement>>): void {
  for (const statement of Object.values(statements)) statement.finalize();
}
