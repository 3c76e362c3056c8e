// A primary and its standby, with Debian's PostgreSQL, for tests of failover.

import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { asUser, folderOf } from "../../../testing/child-server.ts";
import { run } from "../../../testing/install.ts";
import {
  type PostgresServer,
  postgresProgram,
  postgresPrograms,
  postgresUser,
  runPostgres,
  startPostgres,
} from "../../../testing/postgres-server.ts";

export const isReplicatedThere = existsSync(postgresPrograms);

export class Replicated {
  readonly primary: PostgresServer;
  #standby: PostgresServer;

  private constructor(primary: PostgresServer, standby: PostgresServer) {
    this.primary = primary;
    this.#standby = standby;
  }

  /** Both have their data in the folder. Replication is asynchronous until `waitForStandby`. */
  static async start(folder: string): Promise<Replicated> {
    chmodSync(folder, 0o755);
    const primary = await startPostgres(folder);
    const data = folderOf(postgresUser, join(folder, "standby"));
    const copy = [postgresProgram("pg_basebackup"), "-D", data, "-d", primary.url, "-R"];
    await run(asUser(postgresUser, [...copy, "--checkpoint=fast"]), { cwd: "/" });
    chmodSync(data, 0o700);
    return new Replicated(primary, await runPostgres(data));
  }

  get standby(): PostgresServer {
    return this.#standby;
  }

  /** From now on commits wait for the standby. */
  async waitForStandby(): Promise<void> {
    const sql = new SQL(this.primary.url, { max: 1 });
    await sql`ALTER SYSTEM SET synchronous_standby_names = '*'`;
    await sql`SELECT pg_reload_conf()`;
    for (;;) {
      const [row] =
        await sql`SELECT count(*)::int AS count FROM pg_stat_replication WHERE sync_state = 'sync'`;
      if (row.count === 1) break;
      await Bun.sleep(10);
    }
    await sql.close();
  }

  /** Resolves once the standby has all earlier commits. */
  async caughtUp(): Promise<void> {
    const sql = new SQL(this.primary.url, { max: 1 });
    const [{ until }] = await sql`SELECT pg_current_wal_flush_lsn()::text AS until`;
    for (;;) {
      const [row] =
        await sql`SELECT bool_and(flush_lsn >= ${until}::pg_lsn) AS is FROM pg_stat_replication`;
      if (row.is === true) break;
      await Bun.sleep(10);
    }
    await sql.close();
  }

  /** The standby misses later commits, until it is started again. */
  stopStandby(): Promise<void> {
    return this.#standby.stop();
  }

  /** The standby stays connected, but does not respond until it is resumed. */
  pauseStandby(): void {
    this.#signalStandby("SIGSTOP");
  }

  resumeStandby(): void {
    this.#signalStandby("SIGCONT");
  }

  /** Signals all of its processes, because each of them writes on its own. */
  #signalStandby(signal: "SIGSTOP" | "SIGCONT"): void {
    const { pid } = this.#standby;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    for (const child of [pid, ...children.map(Number)]) process.kill(child, signal);
  }

  async startStandby(): Promise<void> {
    const { data, port } = this.#standby;
    this.#standby = await runPostgres(data, [], port);
  }

  async killPrimary(): Promise<void> {
    process.kill(this.primary.pid, "SIGKILL");
    await this.primary.stop();
  }

  async promote(): Promise<void> {
    const words = [postgresProgram("pg_ctl"), "promote", "-D", this.#standby.data];
    await run(asUser(postgresUser, words), { cwd: "/" });
  }

  async stop(): Promise<void> {
    await Promise.all([this.primary.stop(), this.#standby.stop()]);
  }
}
