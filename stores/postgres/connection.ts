// One connection to PostgreSQL's primary: prepared statements, time limits, proof of replication,
// and errors as `StoreError`.

import { Client, type QueryConfig } from "pg";
import { StoreError } from "../store.ts";
import { readBytea, readByteas, readInt8s } from "./arrays.ts";
import { hostsOf } from "./hosts.ts";
import { refuseWrong, setSession, wrongSettings } from "./settings.ts";

/** The columns of a row: numbers, texts, booleans, bytes, arrays of numbers or of bytes. */
export type SqlRow = readonly unknown[];

export type SqlValue = string | number | Buffer | null;

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t",
  17: readBytea,
  20: Number,
  23: Number,
  25: (text) => text,
  1001: readByteas,
  1016: readInt8s,
};

const types = {
  getTypeParser: (type: number) => {
    const parser = parsers[type];
    if (parser === undefined) throw new Error(`a column of type ${type} is not read here`);
    return parser;
  },
};

/** Internal state of the client library: the prepared statements of a session. */
interface Parsed {
  readonly parsedStatements: Record<string, string>;
}

export interface SessionOptions {
  /** One or several hosts, as in `hostsOf`; the first primary is used. */
  readonly url: string;
  /** `transaction`: the pooler in front of the database may give each statement another session. */
  readonly pooler?: "none" | "transaction";
  /** Refuses a database whose commits wait for no standby. */
  readonly requireReplica?: boolean;
  /** How long a turn's statement may take, in milliseconds; default 10,000. */
  readonly silenceMs?: number;
}

const standbys = "current_setting('synchronous_standby_names')";
const unreplicated = "it is unknown whether a standby has the commit";
/**
 * The log position that includes all earlier commits, and whether as many standbys as a commit
 * waits for have it on disk. The end of PostgreSQL's own wait is not proof, because it also ends
 * when the setting is emptied. The setting may be restored before this session reads it.
 */
const proof = `
  WITH written AS MATERIALIZED (SELECT coalesce($1::pg_lsn, pg_current_wal_flush_lsn()) AS lsn)
  SELECT lsn::text, ${standbys}, (
    SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= lsn
  ) >= coalesce(substring(${standbys} from '(?i)^[[:space:]]*(?:(?:first|any)[[:space:]]+)?([0-9]+)[[:space:]]*[(]')::bigint, 1)
  FROM written`;
const proofPauseMs = 2;
/**
 * Maximum prepared statements. A turn builds its statement from the parts it needs, in thousands of
 * combinations. Each prepared statement takes up to 0.3 MB of its session's memory.
 */
export const preparedMax = 50;
const connectMs = { alone: 10_000, ofSeveral: 3_000 };
const silenceMsDefault = 10_000;
/**
 * A start may wait this many times `silenceMs` for the next bytes, because a statement may sort or
 * count whole tables before its first row. Its total time is not bounded: it depends on the number
 * of rows.
 */
const patience = 6;
/** Serialization failure and deadlock: the statement had no effect. */
const again: ReadonlySet<unknown> = new Set(["40001", "40P01"]);
const againMax = 10;
const diskFull = "53100";
/** Unique violation. In the chain, only another owner can have written the row. */
const taken = "23505";
export const takenOver = "another server has taken over this part of the database";
/** Routine of the notice that a wait for a standby was cut short; its text is localized. */
const replicationWait = "SyncRepWaitForLSN";

export class Connection {
  readonly #client: Client;
  /** Names of prepared statements, by text. */
  readonly #names = new Map<string, string>();
  #prepared = 0;
  readonly #isPooled: boolean;
  readonly #silenceMs: number;
  readonly #requireReplica: boolean;
  #lost: unknown = null;
  /** Commits in the database that its standby may lack. */
  #unreplicatedCount = 0;
  /** Cuts the connection if no bytes arrive; `null`: no statement of a start is running. */
  #cutting: NodeJS.Timeout | null = null;
  #patientCount = 0;

  private constructor(client: Client, { pooler, silenceMs, requireReplica }: SessionOptions) {
    this.#client = client;
    this.#isPooled = pooler === "transaction";
    this.#silenceMs = silenceMs ?? silenceMsDefault;
    this.#requireReplica = requireReplica ?? false;
  }

  /**
   * Throws `StoreError`: `failed` if no host is reachable, `unusable` if none is a primary, or if
   * the primary could lose acknowledged commits.
   */
  static async open(session: SessionOptions): Promise<Connection> {
    const hosts = hostsOf(session.url);
    const timeoutMs = hosts.length === 1 ? connectMs.alone : connectMs.ofSeveral;
    let failed: unknown = null;
    let isStandby = false;
    for (const host of hosts) {
      const connection = await Connection.#to(host, session, timeoutMs).catch((cause: unknown) => {
        failed = cause;
        return null;
      });
      if (connection === null) continue;
      try {
        if (await connection.#isPrimary(session)) return connection;
        isStandby = true;
      } catch (cause) {
        await connection.close();
        throw cause;
      }
      await connection.close();
    }
    const expected = "the database is a standby; expected the primary";
    if (isStandby) throw new StoreError("unusable", expected, failed);
    // Not `unusable`: it may be reachable again at the next attempt.
    throw new StoreError("failed", "the database cannot be reached", failed);
  }

  static async #to(url: string, session: SessionOptions, timeoutMs: number): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      application_name: "holdfast",
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      pipeline: true,
    } as ConstructorParameters<typeof Client>[0]);
    const connection = new Connection(client, session);
    client.on("error", (cause) => {
      connection.#lost = cause;
    });
    client.on("notice", ({ routine }) => {
      if (routine === replicationWait) connection.#unreplicatedCount += 1;
    });
    await client.connect();
    client.connection.stream.on("data", () => connection.#cutting?.refresh());
    if (!connection.#isPooled) await connection.promptRows(setSession);
    return connection;
  }

  /** Throws `StoreError` if the primary could lose acknowledged commits. */
  async #isPrimary({ requireReplica = false }: SessionOptions): Promise<boolean> {
    const [row] = await this.promptRows(
      `SELECT pg_is_in_recovery(), ${standbys}, current_user::text, pg_has_role('pg_read_all_stats', 'USAGE')`,
    );
    const [isStandby, names, role, seesStandbys] = row as [boolean, string, string, boolean];
    if (isStandby) return false;
    refuseWrong((await this.promptRows(wrongSettings))[0]);
    if (requireReplica && names === "") {
      const expected = "expected synchronous_standby_names with a standby, got ''";
      throw new StoreError("unusable", `commits wait for no standby; ${expected}`);
    }
    if (requireReplica && !seesStandbys) {
      const expected = `expected a role with pg_monitor, got '${role}' without it`;
      throw new StoreError("unusable", `what a standby has cannot be seen; ${expected}`);
    }
    return true;
  }

  /**
   * Runs one statement, prepared at its first use. Its total time is not bounded, but the time
   * between bytes is.
   */
  async rows(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#patiently(this.#rows(text, values, {}));
  }

  /** Like `rows`, within `silenceMs`. The statement is never cancelled; the connection is cut. */
  async promptRows(text: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    return this.#rows(text, values, { query_timeout: this.#silenceMs });
  }

  /**
   * Like `promptRows`, for a commit that will be acknowledged. If a replica is required, resolves
   * once the standbys have the commit on disk.
   */
  async committedRows(text: string, values: readonly SqlValue[]): Promise<SqlRow[]> {
    const rows = await this.promptRows(text, values);
    if (this.#requireReplica) await this.#proveReplicated();
    return rows;
  }

  async #proveReplicated(): Promise<void> {
    const until = performance.now() + this.#silenceMs;
    for (let written: string | null = null; ; await Bun.sleep(proofPauseMs)) {
      const [row] = await this.promptRows(proof, [written]);
      const [lsn, names, isReplicated] = row as [string, string, boolean];
      if (names === "") throw new StoreError("failed", "commits wait for no standby any more");
      if (isReplicated) return;
      if (performance.now() > until) throw new StoreError("failed", unreplicated);
      written = lsn;
    }
  }

  async #rows(
    text: string,
    values: readonly SqlValue[],
    timeout: { readonly query_timeout?: number },
  ): Promise<SqlRow[]> {
    for (let count = 1; ; count += 1) {
      const query = { ...this.#named(text), ...timeout, text, values: [...values], types };
      try {
        return await this.#query(query as QueryConfig);
      } catch (cause) {
        if (count === againMax || !again.has(codeOf(cause))) throw storeError(cause);
      }
    }
  }

  /** Behind a pooler each statement may have another session, so none is prepared. */
  #named(text: string): { readonly name?: string } {
    if (this.#isPooled) return {};
    const known = this.#names.get(text);
    if (known === undefined) this.#makeRoom();
    else this.#names.delete(text);
    // Inserted at the end, so the first entry is the least recently used.
    const name = known ?? `s${this.#prepared++}`;
    this.#names.set(text, name);
    return { name };
  }

  /** Evicts a statement, which may still be in flight: the session executes in order. */
  #makeRoom(): void {
    if (this.#names.size < preparedMax) return;
    for (const [text, name] of this.#names) {
      this.#names.delete(text);
      const forget = (): void => {
        delete (this.#client.connection as unknown as Parsed).parsedStatements[name];
      };
      this.#client.query(`DEALLOCATE ${name}`).then(forget, forget);
      return;
    }
  }

  /** Runs several statements, unprepared. */
  async script(text: string): Promise<void> {
    await this.#patiently(this.#query({ text })).catch((cause: unknown) => {
      throw storeError(cause);
    });
  }

  async #patiently<T>(work: Promise<T>): Promise<T> {
    const cut = (): unknown => this.#client.connection.stream.destroy();
    this.#patientCount += 1;
    this.#cutting ??= setTimeout(cut, patience * this.#silenceMs);
    try {
      return await work;
    } finally {
      this.#patientCount -= 1;
      if (this.#patientCount === 0) {
        clearTimeout(this.#cutting);
        this.#cutting = null;
      }
    }
  }

  async #query(query: QueryConfig): Promise<SqlRow[]> {
    if (this.#lost !== null) throw new StoreError("failed", "the database is gone", this.#lost);
    const before = this.#unreplicatedCount;
    const { rows } = await this.#client.query({ ...query, rowMode: "array" });
    if (this.#unreplicatedCount > before) {
      throw new StoreError("failed", unreplicated);
    }
    return rows;
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

/** Any error that may have had an effect is `failed`. */
function storeError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  if (codeOf(cause) === taken && (cause as { readonly table?: unknown }).table === "turn") {
    return new StoreError("failed", takenOver, cause);
  }
  if (codeOf(cause) === diskFull) return new StoreError("full", "the database has no room", cause);
  return new StoreError("failed", "the database failed", cause);
}
