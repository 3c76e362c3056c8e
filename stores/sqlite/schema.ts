// Brings a file to the present schema, one step per version, each with its new
// version number in one transaction.

import type { Database } from "bun:sqlite";
import { StoreError } from "../store.ts";
import schema from "./schema.sql" with { type: "text" };

/** Marks the file as ours: "HOLD" in ASCII. */
const applicationId = 0x484f_4c44;

type Migration = (database: Database, newTag: () => string) => void;

/** The migration at index n leads from version n to n + 1. */
const migrations: readonly Migration[] = [
  (database, newTag) => {
    database.run(schema);
    database.run("INSERT INTO identity VALUES (1, ?)", [newTag()]);
  },
];

/** Throws `unusable` for a file of another program, or of a later version. */
export function migrate(database: Database, newTag: () => string): void {
  const pragma = (name: string): number =>
    Number(database.query(`PRAGMA ${name}`).values()[0]?.[0]);
  const tables = Number(database.query("SELECT count(*) FROM sqlite_schema").values()[0]?.[0]);
  if (tables > 0 && pragma("application_id") !== applicationId) {
    throw new StoreError("unusable", "the file is not a store of this program");
  }
  const version = pragma("user_version");
  if (version > migrations.length) {
    throw new StoreError(
      "unusable",
      `the store was written by a later version; expected format ${migrations.length} or less, got ${version}`,
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    database
      .transaction(() => {
        migration(database, newTag);
        database.run(`PRAGMA application_id = ${applicationId}`);
        database.run(`PRAGMA user_version = ${index + 1}`);
      })
      .immediate();
  }
}
