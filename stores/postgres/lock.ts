// Advisory locks, which keep two processes from using the same schemas. A lock ends with its
// session.

import { StoreError } from "../store.ts";
import type { Connection } from "./connection.ts";

/** How long the session of a killed process may take to end. */
const patienceMs = 3_000;
const pauseMs = 50;

interface LockOptions {
  /** Sessions that all request a shared lock may hold it together; default false. */
  readonly isShared?: boolean;
  /** The error's text. */
  readonly refusal: string;
}

/** Throws `StoreError`, `locked` if another session has the lock. */
export async function takeLock(
  connection: Connection,
  name: string,
  { isShared = false, refusal }: LockOptions,
): Promise<void> {
  const take = `pg_try_advisory_lock${isShared ? "_shared" : ""}`;
  for (const until = Date.now() + patienceMs; ; await Bun.sleep(pauseMs)) {
    const [locked] = await connection.promptRows(
      `SELECT ${take}(hashtextextended(convert_from($1::bytea, 'UTF8'), 0))`,
      [Buffer.from(name)],
    );
    if (locked?.[0] === true) return;
    if (Date.now() > until) throw new StoreError("locked", refusal);
  }
}
