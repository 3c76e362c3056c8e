// Upgrades a file to the current format, one transaction per version. A new file gets the current
// schema at once.

import type { Database } from "bun:sqlite";
import { laterFormat, StoreError } from "../store.ts";
import { identityValues } from "./rows.ts";
import text from "./schema.sql" with { type: "text" };

/** Identify the file: "HOLD" in ASCII, or "HOLT" if its instants come from a test clock. */
const applicationIds = { machine: 0x484f_4c44, test: 0x484f_4c54 };

export interface Schema {
  /** The schema of a new file. */
  readonly text: string;
  /** The step at index n upgrades format n + 1 to n + 2. */
  readonly upgrades: readonly string[];
}

export const schema: Schema = { text, upgrades: [] };

export interface FileIdentity {
  readonly newTag: () => string;
  readonly testClock?: boolean | null;
}

/** Throws `unusable` for a file of another program, a later version or the other kind of clock. */
export function migrate(
  database: Database,
  { text, upgrades }: Schema,
  { newTag, testClock = false }: FileIdentity,
): void {
  const pragma = (name: string): number =>
    Number(database.query(`PRAGMA ${name}`).values()[0]?.[0]);
  const tables = Number(database.query("SELECT count(*) FROM sqlite_schema").values()[0]?.[0]);
  const found = pragma("application_id");
  const isEither = testClock === null && Object.values(applicationIds).includes(found);
  const applicationId = isEither ? found : applicationIds[testClock ? "test" : "machine"];
  if (tables > 0 && found !== applicationId) {
    throw new StoreError("unusable", strangeFile(found));
  }
  const format = upgrades.length + 1;
  const version = pragma("user_version");
  if (version > format) throw laterFormat({ expected: format, got: version });
  const steps: [text: string, format: number][] =
    version === 0
      ? [[text, format]]
      : upgrades.slice(version - 1).map((step, index) => [step, version + index + 1]);
  for (const [step, reached] of steps) {
    database
      .transaction(() => {
        database.run(step);
        if (version === 0) {
          database.run("INSERT INTO identity VALUES (1, ?, ?)", identityValues(newTag()));
        }
        database.run(`PRAGMA application_id = ${applicationId}`);
        database.run(`PRAGMA user_version = ${reached}`);
      })
      .immediate();
  }
}

function strangeFile(applicationId: number): string {
  switch (applicationId) {
    case applicationIds.test:
      return "the store was used with a test clock, so its instants may be ahead; start with --test-clock or testClock, or take another folder";
    case applicationIds.machine:
      return "the store was used without a test clock; start without --test-clock or testClock, or take another folder";
    default:
      return "the file is not a store of this program";
  }
}
