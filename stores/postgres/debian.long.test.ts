// The oldest PostgreSQL that is tested: Debian's.

import { afterAll, beforeAll, describe } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
} from "../../bench/peers/postgres-server.ts";
import { describeStore } from "../conformance/suite.ts";
import { newStore, openNew } from "./testing/opened.ts";

const isThere = existsSync(postgresPrograms);
const folder = mkdtempSync(join(tmpdir(), "holdfast-debian-"));
chmodSync(folder, 0o755);
let server: PostgresServer | null = null;

beforeAll(async () => {
  if (isThere) server = await startPostgres(folder, ["fsync=off"]);
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.if(isThere)("with Debian's PostgreSQL", () => {
  describeStore("postgres of Debian", () => openNew(newStore(server?.url ?? "")));
});
