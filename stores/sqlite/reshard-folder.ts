// Replaces the stores of a data folder with those of another number of shards. The new stores are
// written in a subfolder, and renaming it is the commit point. Before it the old stores are
// complete; after it the next start or reshard puts the new stores in place.

import { Database } from "bun:sqlite";
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import type { Replacement, TransferableStore } from "../backend.ts";
import { StoreError } from "../store.ts";
import { bytesOf, namingNoRoom, noRoom, storeError } from "./connect.ts";
import { openSqliteStore, type SqliteOptions } from "./store.ts";
import type { Syncer } from "./sync.ts";

/** Folder of the new stores before the commit point. */
const growing = "resharding";
/** Its name after the commit point, with the number of stores. */
const grown = /^resharded-(\d+)$/;
const lockName = "reshard.lock";
const storeName = /^shard-(\d+)\.db$/;
/** Files beside a store, except copies of damaged logs, which are left to the operator. */
const besideStore = /^shard-\d+\.db-(wal|shm|mark|ballast|probe)$/;

/** The new stores are synced together at the end. */
const noSyncer: Syncer = { syncData: async () => undefined, syncFolder: async () => undefined };

export function storesIn(directory: string): number {
  return readdirSync(directory).filter((name) => storeName.test(name)).length;
}

/** The stores' paths, by shard. Throws `StoreError`, `unusable` if there is a gap. */
function pathsIn(directory: string): string[] {
  return Array.from({ length: storesIn(directory) }, (_, shard) => {
    const path = join(directory, `shard-${shard}.db`);
    if (existsSync(path)) return path;
    throw new StoreError("unusable", `a store is missing; expected shard-${shard}.db`);
  });
}

/**
 * Throws `StoreError`: `locked` if a server or another reshard uses the folder, `full` for lack of
 * free room. It needs as many bytes as the stores have, and `ballastBytes` per new shard.
 */
export async function openReshardFolder(
  directory: string,
  shards: number,
  options: Pick<SqliteOptions, "newTag" | "ballastBytes">,
): Promise<Replacement> {
  finishReshard(directory);
  refuseOtherUser(directory);
  const lock = lockOf(directory);
  const opened: TransferableStore[] = [];
  const close = async (): Promise<void> => {
    for (const { store } of opened.splice(0)) await store.close().catch(() => undefined);
    rmSync(join(directory, growing), { recursive: true, force: true });
    lock.release();
  };
  try {
    const folder = join(directory, growing);
    rmSync(folder, { recursive: true, force: true });
    const paths = pathsIn(directory);
    const bytes = bytesNeeded(paths) + shards * options.ballastBytes;
    const requireMore = (moreBytes: number) => requireRoom(directory, bytes + moreBytes);
    // Before anything is written.
    requireMore(0);
    const strict = {
      ...options,
      ballastBytes: 0,
      acceptLogLoss: false,
      durability: "full",
    } as const;
    const old = { ...strict, create: false } as const;
    const testClock = await isOfTestClock({ ...old, path: paths[0] ?? "" });
    for (const path of paths) opened.push(await openSqliteStore({ ...old, path, testClock }));
    const from = [...opened];
    for (const name of readdirSync(directory)) {
      if (besideStore.test(name)) giveToOwner(directory, join(directory, name));
    }
    mkdirSync(folder, { mode: 0o700 });
    giveToOwner(directory, folder);
    const fresh = { ...strict, durability: "normal", testClock } as const;
    for (let shard = 0; shard < shards; shard += 1) {
      const path = join(folder, `shard-${shard}.db`);
      opened.push(await openSqliteStore({ ...fresh, path, syncer: noSyncer }));
    }
    const to = opened.slice(from.length);
    const replace = async (): Promise<void> => {
      for (const { store } of to) await store.close();
      for (const name of readdirSync(folder)) giveToOwner(directory, join(folder, name));
      syncStores(folder);
      renameSync(folder, join(directory, `resharded-${shards}`));
      sync(directory);
      // Until here their locks have kept servers out.
      await Promise.all(from.map(({ store }) => store.close().catch(() => undefined)));
      opened.length = 0;
      putInPlace(directory);
      lock.release();
    };
    return { from, to, testClock, requireRoom: requireMore, replace, close };
  } catch (cause) {
    await close();
    throw storeError(cause, "unusable");
  }
}

/**
 * Finishes a killed reshard: puts the new stores in place if it was past the commit point, and
 * removes them otherwise. Throws `StoreError`, `locked` while a reshard runs.
 */
export function finishReshard(directory: string): void {
  const isLeft = existsSync(join(directory, growing)) || lockFiles(directory).length > 0;
  if (!isLeft && grownIn(directory) === undefined) return;
  const lock = lockOf(directory);
  try {
    putInPlace(directory);
    rmSync(join(directory, growing), { recursive: true, force: true });
  } finally {
    lock.release();
  }
}

function grownIn(directory: string): string | undefined {
  return existsSync(directory)
    ? readdirSync(directory).find((name) => grown.test(name))
    : undefined;
}

/** Idempotent, because the process may be killed after any step. */
function putInPlace(directory: string): void {
  const name = grownIn(directory);
  if (name === undefined) return;
  const shards = Number(grown.exec(name)?.[1]);
  const folder = join(directory, name);
  const old = readdirSync(directory);
  // These belong to the old stores.
  for (const file of old) if (besideStore.test(file)) rmSync(join(directory, file));
  for (const file of readdirSync(folder)) renameSync(join(folder, file), join(directory, file));
  for (const file of old) {
    const shard = Number(storeName.exec(file)?.[1] ?? -1);
    if (shard >= shards) rmSync(join(directory, file));
  }
  sync(directory);
  rmdirSync(folder);
  sync(directory);
}

/** Once closed, a store is its file alone. */
function syncStores(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (storeName.test(name)) sync(path);
    else if (name.endsWith("-wal") && bytesOf(path) > 0) {
      throw new StoreError("failed", "a new store could not be written as a whole");
    } else rmSync(path);
  }
  sync(folder);
}

/** Syncs a file, or the names in a folder. */
function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** The stores' owner; `null`: the system has no owners, or there is no store yet. */
function ownerOf(directory: string): FileOwner | null {
  if (process.geteuid === undefined) return null;
  return statSync(join(directory, "shard-0.db"), { throwIfNoEntry: false }) ?? null;
}

/** The owner's server could not open stores of another user, and only root can change the owner. */
function refuseOtherUser(directory: string): void {
  const owner = ownerOf(directory);
  const user = process.geteuid?.();
  if (owner === null || user === 0 || user === owner.uid) return;
  const got = `expected user ${owner.uid} or root, got user ${user}`;
  throw new StoreError("unusable", `the stores belong to another user; ${got}`);
}

/** Files created by root must belong to the owner of the stores. */
function giveToOwner(directory: string, path: string): void {
  const owner = ownerOf(directory);
  if (owner !== null && process.geteuid?.() === 0) chownSync(path, owner.uid, owner.gid);
}

/** A store refuses the other kind of clock, so a failed open shows which one it needs. */
async function isOfTestClock(options: SqliteOptions): Promise<boolean> {
  try {
    const { store } = await openSqliteStore({ ...options, testClock: false });
    await store.close();
    return false;
  } catch (cause) {
    if (storeError(cause).fault === "unusable") return true;
    throw cause;
  }
}

/** The new stores need about as many bytes as the old ones. */
function bytesNeeded(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + bytesOf(path) + bytesOf(`${path}-wal`), 0);
}

function requireRoom(directory: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(directory);
  const free = bavail * bsize;
  if (free >= bytes) return;
  const got = `expected ${bytes} bytes for them and their ballast, got ${free}`;
  throw new StoreError("full", `there is not enough space left for new stores; ${got}`, noRoom());
}

interface Lock {
  release(): void;
}

/** The system releases the lock when the process ends, even if it is killed. */
function lockOf(directory: string): Lock {
  const path = join(directory, lockName);
  const database = lockedDatabase(path);
  for (const file of lockFiles(directory)) giveToOwner(directory, file);
  let isHeld = true;
  return {
    release: () => {
      if (!isHeld) return;
      isHeld = false;
      // Before closing: a process that opens the path now creates another file, and has nothing to
      // do.
      rmSync(path, { force: true });
      database.close();
    },
  };
}

/** The lock and its journal, if they exist. */
function lockFiles(directory: string): string[] {
  const path = join(directory, lockName);
  return [path, `${path}-journal`].filter((file) => existsSync(file));
}

function lockedDatabase(path: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(path, { create: true, readwrite: true });
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database?.close();
    const { fault } = storeError(namingNoRoom(cause, path));
    if (fault === "locked") throw new StoreError("locked", "the data folder is being resharded");
    if (fault === "full") throw noRoom(cause);
    throw new StoreError("unusable", "the data folder is read-only for this user", cause);
  }
}
