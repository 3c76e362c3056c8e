// A PostgreSQL for the tests of one file: starts before the first test, and is removed with its
// data after the last.

import { afterAll, beforeAll } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Postgres, startPostgres } from "../../../scripts/postgres.ts";

export interface TestServer {
  readonly url: string;
  /** Contains the database's data; tests may add files. */
  readonly folder: string;
}

export function testServer(): TestServer {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  chmodSync(folder, 0o755);
  let server: Postgres | null = null;
  beforeAll(async () => {
    // The data need not survive a crash.
    server = await startPostgres({ data: join(folder, "data"), settings: ["fsync=off"] });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    get url() {
      if (server === null) throw new Error("the database starts before the first test");
      return server.url;
    },
  };
}
