// Opens stores in a database for tests, each with its own schema.

import type { OpenedStore } from "../../conformance/bench.ts";
import { nothing } from "../../conformance/values.ts";
import { type Changes, type Store, StoreError } from "../../store.ts";
import type { DatabaseOptions } from "../database.ts";
import { openPostgresStore } from "../store.ts";

export const tag = "0123456789Ab";

let count = 0;

export function newStore(url: string): DatabaseOptions {
  count += 1;
  return { url, schema: `rule${count}`, shard: 0, newTag: () => tag, testClock: false };
}

/** For the conformance suite. */
export async function openNew(options: DatabaseOptions): Promise<OpenedStore> {
  let backend = await openPostgresStore(options);
  return {
    backend,
    reopen: async () => {
      await backend.store.close();
      backend = await openPostgresStore(options);
      return backend;
    },
    dispose: () => backend.store.close(),
  };
}

export async function commit(
  store: Store,
  turn: number,
  changes: Partial<Changes> = {},
): Promise<void> {
  await store.commit({
    ...nothing,
    ...changes,
    turn: { turn, at: turn, tag: "" },
  });
}

/** The `StoreError` of work that must fail. */
export async function failureOf(
  work: Promise<unknown>,
): Promise<Pick<StoreError, "fault" | "message">> {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof StoreError))
    throw new Error("expected a failure of the store", { cause: error });
  return { fault: error.fault, message: error.message };
}
