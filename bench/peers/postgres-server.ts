// Debian's PostgreSQL with its stock settings, for the peers that keep items in it.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { asUser, type ChildServer, folderOf, freePort, startChild } from "./child-server.ts";
import { debianPackage, run } from "./install.ts";

export const postgresSettings =
  "stock settings (fsync on, synchronous_commit on, full_page_writes on), autovacuum_naptime 1s";

/** Fewer than for the others: more sessions only contend for the rows at the head. */
export function postgresConnections(itemsPerCall: number): number {
  return itemsPerCall === 1 ? 16 : 8;
}

const user = "postgres";
const programs = "/usr/lib/postgresql";

export interface PostgresServer extends ChildServer {
  readonly port: number;
  readonly url: string;
  readonly version: string;
}

export function installPostgres(): Promise<void> {
  return debianPackage("postgresql");
}

const startTimeoutMs = 60_000;
const pollMs = 20;

/** It accepts connections before it serves them. */
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

export async function startPostgres(scratch: string): Promise<PostgresServer> {
  const newest = readdirSync(programs)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new Error(`no PostgreSQL in ${programs}`);
  const bin = join(programs, newest, "bin");
  const data = folderOf(user, join(scratch, "postgres"));
  const init = [join(bin, "initdb"), "-D", data, "-U", user, "-A", "trust", "-E", "UTF8"];
  await run(asUser(user, [...init, "--no-instructions"]), { cwd: "/" });
  const port = freePort();
  const flags = ["-p", String(port), "-h", "127.0.0.1", "-k", data];
  // A run is shorter than the minute after which tables are usually looked at; without their
  // statistics the plans are bad.
  const tuning = ["-c", "max_connections=200", "-c", "autovacuum_naptime=1s"];
  const child = await startChild({
    command: [join(bin, "postgres"), "-D", data, ...flags, ...tuning],
    port,
    user,
    // Fast shutdown: open connections are cut.
    stopSignal: "SIGINT",
  });
  const url = `postgres://${user}@127.0.0.1:${port}/postgres`;
  await answering(url);
  const version = /\d+(\.\d+)?/.exec(await run([join(bin, "postgres"), "--version"]))?.[0];
  return {
    ...child,
    port,
    url,
    version: version ?? "unknown",
  };
}
