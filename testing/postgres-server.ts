// Debian's PostgreSQL with its default settings, for the peers that store items in it.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { asUser, type ChildServer, folderOf, freePort, startChild } from "./child-server.ts";
import { debianPackage, run } from "./install.ts";

export const postgresSettings =
  "stock settings (fsync on, synchronous_commit on, full_page_writes on), autovacuum_naptime 1s";

/** Fewer than for other peers: more sessions only contend for the rows at the head. */
export function postgresConnections(itemsPerCall: number): number {
  return itemsPerCall === 1 ? 16 : 8;
}

/** The user that runs it, also its superuser. */
export const postgresUser = "postgres";
export interface PostgresServer extends ChildServer {
  readonly port: number;
  readonly data: string;
  readonly url: string;
  readonly version: string;
}

export function installPostgres(): Promise<void> {
  return debianPackage("postgresql");
}

const startTimeoutMs = 60_000;
const pollMs = 20;

/** Waits until it serves: it accepts connections earlier. */
export async function answering(url: string): Promise<void> {
  for (const until = performance.now() + startTimeoutMs; ; await Bun.sleep(pollMs)) {
    const sql = new SQL(url, { max: 1 });
    try {
      await sql`SELECT 1`;
      return;
    } catch (cause) {
      if (performance.now() > until) throw cause;
    } finally {
      await sql.close();
    }
  }
}

export const postgresPrograms = "/usr/lib/postgresql";

/** The path of one of its programs, of the newest version installed. */
export function postgresProgram(name: string): string {
  const newest = readdirSync(postgresPrograms)
    .filter((version) => /^\d+$/.test(version))
    .sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`no PostgreSQL in ${postgresPrograms}`);
  return join(postgresPrograms, newest, "bin", name);
}

/** Starts it on a new folder in the given one. `settings`: such as `fsync=off`. */
export async function startPostgres(
  scratch: string,
  settings: readonly string[] = [],
): Promise<PostgresServer> {
  const data = folderOf(postgresUser, join(scratch, "postgres"));
  const words = ["-D", data, "-U", postgresUser, "-A", "trust", "-E", "UTF8", "--no-instructions"];
  await run(asUser(postgresUser, [postgresProgram("initdb"), ...words]), { cwd: "/" });
  return await runPostgres(data, settings);
}

/** Starts it on a folder made by `initdb` or `pg_basebackup`. */
export async function runPostgres(
  data: string,
  settings: readonly string[] = [],
  port = freePort(),
): Promise<PostgresServer> {
  const flags = ["-p", String(port), "-h", "127.0.0.1", "-k", data];
  // By default, autovacuum visits tables once a minute, longer than a run. Without its statistics
  // the plans are bad.
  const tuning = ["max_connections=200", "autovacuum_naptime=1s", ...settings];
  const program = postgresProgram("postgres");
  const child = await startChild({
    command: [program, "-D", data, ...flags, ...tuning.flatMap((one) => ["-c", one])],
    port,
    user: postgresUser,
    // Fast shutdown, which closes open connections.
    stopSignal: "SIGINT",
  });
  const url = `postgres://${postgresUser}@127.0.0.1:${port}/postgres`;
  await answering(url);
  const version = /\d+(\.\d+)?/.exec(await run([program, "--version"]))?.[0];
  return { ...child, port, url, data, version: version ?? "unknown" };
}
