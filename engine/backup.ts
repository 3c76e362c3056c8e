// The format of a backup, and its check: opens every file as a start would, and compares the
// checksum of every item.

import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../stores/backend.ts";
import type { Item } from "../stores/item.ts";
import { readItems, readScheduled } from "../stores/single-reads.ts";
import { type Read, type ReadLimit, type Some, StoreError } from "../stores/store.ts";

export const manifestName = "backup.json";

export interface BackupManifest {
  readonly format: 1;
  readonly made_at: string;
  readonly version: string;
  readonly shards: readonly { readonly file: string; readonly bytes: number }[];
}

export interface BackupContents {
  readonly manifest: BackupManifest;
  readonly queues: number;
  readonly items: number;
}

const page: ReadLimit = { items: 1_000, payloadBytes: 8 * 1024 * 1024 };

/** Opens the store of one shard in a folder; calls `newTag` if there is no store. */
export type OpenShard = (folder: string, shard: number, newTag: () => string) => Promise<Backend>;

/** Throws `StoreError` `damaged` or `unusable`, with the cause, unless the backup is complete. */
export async function checkBackup(folder: string, open: OpenShard): Promise<BackupContents> {
  const manifest = readManifest(folder);
  let items = 0;
  let queues = 0;
  for (const { file, bytes } of manifest.shards) {
    const path = join(folder, file);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size !== bytes) {
      const got = size === undefined ? "no file" : `${size} bytes`;
      throw damaged(`${file} is not what was written; expected ${bytes} bytes, got ${got}`);
    }
    const shard = Number(/\d+/.exec(file)?.[0]);
    const backend = await open(folder, shard, () => {
      throw damaged(`${file} is empty; expected a store`);
    });
    try {
      const found = await countItems(backend, file);
      items += found.items;
      queues += found.queues;
    } finally {
      await backend.store.close();
    }
  }
  return { manifest, queues, items };
}

function readManifest(folder: string): BackupManifest {
  const path = join(folder, manifestName);
  if (!existsSync(path)) {
    throw new StoreError("unusable", `the folder is no backup; expected ${manifestName} in it`);
  }
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as BackupManifest;
    const isKnown = manifest.format === 1 && Array.isArray(manifest.shards);
    const names = manifest.shards.map(({ file }) => file);
    if (isKnown && names.every((name) => /^shard-\d+\.db$/.test(name))) return manifest;
  } catch {
    // Reported below.
  }
  throw damaged(`${manifestName} cannot be read; expected that of a backup`);
}

function damaged(message: string): StoreError {
  return new StoreError("damaged", message);
}

async function countItems(
  { store }: Backend,
  file: string,
): Promise<{ items: number; queues: number }> {
  const { tallies, queues } = await store.load();
  let items = 0;
  for (const { slot, nextSeq, itemCount, scheduledCount, retriedCount } of tallies) {
    const from = (seq: number) => ({ slot, from: seq, before: nextSeq });
    const waiting = await count((seq) => readItems(store, from(seq), page), file);
    const aside = await count((seq) => readScheduled(store, from(seq), page), file);
    if (waiting !== itemCount || aside !== scheduledCount + retriedCount) {
      const [expected, got] = [itemCount + scheduledCount + retriedCount, waiting + aside];
      throw damaged(`${file} has lost items; expected ${expected}, got ${got}`);
    }
    items += waiting + aside;
  }
  return { items, queues: queues.length };
}

async function count(
  read: (from: number) => Promise<Some<Read<Item>>>,
  file: string,
): Promise<number> {
  let items = 0;
  for (let from = 0; ; ) {
    const { found } = await read(from);
    const last = found.at(-1);
    if (last === undefined) return items;
    if (found.some((item) => item.damaged)) {
      throw damaged(`${file} has a damaged item; restore another backup`);
    }
    items += found.length;
    from = last.seq + 1;
  }
}
